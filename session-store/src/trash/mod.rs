//! Deleting sessions: into the store's trash, or for good.
//!
//! What is deleted is one directory directly under the store, told by its inode and held by its lock, and the flat file
//! of its name. It leaves its name in one step, so nobody ever lists or opens a half of it. A link is removed itself;
//! what it points to is never touched.

mod empty;
mod entries;
mod files;
mod forms;
mod record;
mod remove;
mod restore;
mod verbs;

pub use empty::EmptiedTrash;
pub use entries::{TrashEntry, UnreadableTrash};
pub use remove::Deletion;

pub(crate) use empty::remove_tree;
pub(crate) use entries::{RECORD, broken, entries, is_record, trash_dir};
pub(crate) use files::begin_files;
pub(crate) use verbs::trash_seen;
