//! The crate against real processes and real files.

mod events;
mod golden;
mod heavy;
mod identity;
mod live;
mod log;
mod lost;
mod portable;
mod recall;
mod reference;
mod start;
mod stop;
mod stop_strangers;
mod support;
mod taken;
mod turn;
mod watch;
