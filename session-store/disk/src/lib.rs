//! The file operations under a session store.
//!
//! What the crates above put on a disk goes through the functions of this crate, and so does what they read under a name
//! that anybody may have put there. That gives five rules one home each:
//!
//! - **Private modes.** Directories are created 0700 and files 0600, whatever the umask is.
//! - **Replacement.** A file is replaced by a temporary file beside it, a sync, a rename and a sync of the
//!   directory ([`replace`]); a reader sees the old bytes or the new ones and never a part of either.
//! - **Durability.** The caller says whether its bytes are to survive a power cut; if so they are synced
//!   ([`Durability`]).
//! - **One seam.** Each operation passes one gate. With the feature `faults` a test can make the n-th
//!   operation of a thread fail, write short, or stop everything from there on, as a death of the process would.
//! - **Guarded reads.** What is read is a regular file and no more of it than the caller bargained for: never what a link
//!   leads to, never a FIFO that blocks ([`open_regular`], [`read_regular`]). Reading passes no gate: it cannot lose data.
//!
//! Some bytes do not pass here, because somebody else's code writes them or because nobody keeps them. No test can make
//! these writes fail:
//!
//! - where there is no supervisor, what a background process writes to its log, and the exit status that the shell around
//!   it writes (`session-proc`, `spawn.rs`);
//! - the index that the git library makes of a pack that has none, in a directory of its own, before it gets its name
//!   (`session-checkpoint`, `init.rs`);
//! - the objects of a copy in a directory of this machine, which the library for object stores writes
//!   (`session-store`, `remote/place.rs`);
//! - files without a name, which are gone with their descriptor: a history that is masked for a copy (`session-store`,
//!   `remote/redacted.rs`), and standard input that is imported (`session-cli`);
//! - the line that the tour of `session-cli` tears in its own scratch directory.
//!
//! The crate does not know what a session is, and never follows a policy.
//!
//! ```
//! # fn main() -> Result<(), session_disk::DiskError> {
//! # let dir = tempfile::tempdir().expect("a scratch directory");
//! let path = dir.path().join("meta.json");
//! session_disk::replace(&path, b"{}\n", session_disk::Durability::Data)?;
//! assert_eq!(std::fs::read(&path).expect("it was just written"), b"{}\n");
//! # Ok(())
//! # }
//! ```

pub mod at;
mod durability;
mod error;
mod gate;
mod guarded;
mod ops;
mod pass;
mod replace;

#[cfg(feature = "faults")]
pub mod faults;

pub use durability::Durability;
pub use error::{DiskError, Op, ShortAppend, ShortWrite};
pub use guarded::{is_absent, open_regular, read_regular};
pub use ops::{
    append, create_dir, create_dir_all, create_new, ensure_dir, exchange, hard_link, open_append, open_existing,
    open_private, publish, remove_dir, remove_dir_all, remove_file, remove_file_if_there, rename, rename_new, set_mode,
    sync_data, sync_dir, truncate, write, write_at,
};
pub use replace::{create, replace, replace_keeping, replace_through, temp_name};
