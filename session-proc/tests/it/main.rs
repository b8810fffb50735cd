//! The crate against real processes and real files.

mod golden;
mod identity;
mod live;
mod start;
mod stop;
mod support;
mod turn;
