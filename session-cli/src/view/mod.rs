//! How events, hits and processes look.

pub(crate) mod hit;
pub(crate) mod process;
pub(crate) mod secret;
mod transcript;

pub(crate) use transcript::{Detail, Only, transcript};
