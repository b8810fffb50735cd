//! How events and processes look.

pub(crate) mod process;
mod transcript;

pub(crate) use transcript::{Detail, Only, transcript};
