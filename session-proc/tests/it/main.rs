//! The crate against real processes and real files.

mod identity;
mod live;
mod support;
mod turn;
