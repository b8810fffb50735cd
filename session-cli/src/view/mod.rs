//! How events, hits and processes look.

pub(crate) mod hit;
pub(crate) mod process;
mod transcript;

pub(crate) use transcript::{Detail, Only, transcript};
