//! The operations, one function each. All take the path for the sake of the error, also where a descriptor does the work.

mod made;
mod named;
mod written;

pub use made::{create_dir, create_dir_all, create_new, ensure_dir, open_append, open_existing, open_private};
pub use named::{
    exchange, hard_link, publish, remove_dir, remove_dir_all, remove_file, remove_file_if_there, rename, rename_new,
    set_mode,
};
pub use written::{append, sync_data, sync_dir, truncate, write, write_at};

use crate::gate::pass;
use crate::{DiskError, Op};
use std::io;
use std::path::Path;

/// An operation that is done or not, and at which tests can say that it is not.
fn gated<T>(op: Op, path: &Path, act: impl FnOnce() -> io::Result<T>) -> Result<T, DiskError> {
    pass(op, path)?;
    act().map_err(|source| DiskError::new(op, path, source))
}
