//! How events look to a person.

mod transcript;

pub(crate) use transcript::{Detail, Only, transcript};
