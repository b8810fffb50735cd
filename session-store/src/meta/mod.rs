//! The metadata of a session: `meta.json`, which the reference reads and writes too, and `.meta.json`, our full copy.
//!
//! The reference reads the file once, keeps it in memory, and from then on writes it from there: it truncates the file in
//! place and drops what it does not know. So `meta.json` can be empty for a moment, can bring back a value that we
//! replaced long ago, and can lose a field that we added. What holds against this:
//!
//! - Reading ([`read`]) waits a moment for a file that is not whole, merges it with our copy, and falls back to the copy
//!   and the history. It writes nothing.
//! - Merging ([`merge`]) is three-way: the copy remembers every value that was replaced, so a known value that comes
//!   back is stale, and an unknown one is news.
//! - Updating ([`update`]) is a read, a change and an atomic replacement of both files, under a lock of its own on
//!   `.meta.lock`, so that two of our processes changing two fields both win.
//! - Rebuilding ([`rebuild`]) takes what the history says.

mod aside;
mod damage;
mod merge;
mod read;
mod rebuild;
mod rules;
mod update;

pub(crate) use aside::ASIDE;
pub use damage::MetaDamage;
pub(crate) use merge::file_of;
pub(crate) use read::{MAX_BYTES, read};
pub use read::{MetaReading, MetaSource};
pub(crate) use rebuild::{Facts, of_history};
pub(crate) use rules::{
    count_cost, fill_title, is_pinned, is_rebuilt, keep_users_title, mark_header, set_pinned, title_source,
};
pub(crate) use update::{Update, hold, update};
