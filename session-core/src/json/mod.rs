//! JSON as the history needs it: one tolerant reader and one exact writer.
//!
//! The reader (`Cursor`) is driven by what it should find instead of building a tree, so that a value nobody
//! asked for costs a scan and no allocation, nesting costs no stack, and a string that is not quite text (a lone
//! surrogate, a byte that is no UTF-8) still gives a value and a note. The writer produces the bytes that the
//! reference's JSON engine produces.

#[cfg(test)]
mod agreement;
mod block;
mod cursor;
mod escape;
mod invalid;
mod nested;
mod number;
mod plain;
mod skip;
mod string;
mod strings;
mod write;

pub(crate) use block::{LEN as BLOCK, equal_to, pairs};
pub(crate) use cursor::{Cursor, Lossy, Malformed, Shape};
pub use escape::escape;
pub(crate) use plain::{block_at, plain_string, plain_string_end};
pub(crate) use string::without_lone_surrogates;
pub use strings::{StringSpan, strings};
pub use write::push_string;
pub(crate) use write::{compact, push_integer, push_list};
