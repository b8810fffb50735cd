//! The file operations under a session store.
//!
//! Every byte that the crates above put on a disk goes through the functions of this crate. That gives three
//! rules one home each:
//!
//! - **Private modes.** Directories are created 0700 and files 0600, whatever the umask is.
//! - **Replacement.** A file is replaced by a temporary file beside it, a sync, a rename and a sync of the
//!   directory ([`replace`]); a reader sees the old bytes or the new ones and never a part of either.
//! - **One seam.** Each operation passes one gate. With the feature `faults` a test can make the n-th
//!   operation of a thread fail, write short, or stop everything from there on, as a death of the process would.
//!
//! The crate does not know what a session is, never follows a policy, and reads nothing: reading cannot lose data.
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
mod error;
mod gate;
mod ops;
mod pass;
mod replace;

#[cfg(feature = "faults")]
pub mod faults;

pub use error::{DiskError, Op, ShortAppend, ShortWrite};
pub use ops::{
    append, create_dir, create_dir_all, create_new, exchange, hard_link, open_append, open_existing, open_private,
    publish, remove_dir, remove_dir_all, remove_file, rename, rename_new, set_mode, sync_data, sync_dir, truncate,
    write, write_at,
};
pub use replace::{Durability, create, replace, replace_keeping, replace_through, temp_name};
