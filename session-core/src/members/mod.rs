//! Reading the members of an object of which any may be missing, twice there, or of the wrong type.

mod keys;
mod notes;
mod parts;

pub(crate) use keys::find;
pub(crate) use notes::{Member, Notes, Weight, record};
pub(crate) use parts::{each_text_of_parts, text_of_parts};
