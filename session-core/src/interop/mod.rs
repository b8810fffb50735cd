//! Other agents' formats, and ours outwards: pure functions from bytes to messages and from messages to text.
//!
//! Nothing here touches a file. Whoever reads the bytes of an import, or writes those of an export, is the caller.

pub mod export;
pub mod import;
