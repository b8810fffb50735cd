//! The kept descriptor of a history, and what is known of the file behind it.

use super::group::SharedSync;
use super::head::{Head, newer_format};
use crate::flock::Inode;
use crate::part::Part;
use crate::{Result, StoreError};
use session_core::Limits;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

/// An open history: what threads that append to it share.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) file: File,
    pub(super) inode: Inode,
    pub(super) sync: SharedSync,
}

/// An open history, and what the last append found or left.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) open: Arc<Open>,
    /// The length that the last append left; the byte before it is a newline.
    pub(super) left: Option<u64>,
    /// Whether a whole first line was seen, of a format that this program writes.
    begun: bool,
}

/// What an append found, under the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    /// The file's length.
    pub(super) len: u64,
    /// Whether no event was ever written.
    pub(super) is_new: bool,
    /// Whether a newline is missing at the end.
    pub(super) is_torn: bool,
}

impl Kept {
    pub(super) fn new(file: File, path: &Path) -> Result<Self> {
        let metadata = file.metadata().map_err(StoreError::read(path))?;
        if !metadata.is_file() {
            let source = io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file");
            return Err(StoreError::Read { path: path.to_owned(), source });
        }
        let open = Open { file, inode: Inode::of(&metadata), sync: SharedSync::default() };
        Ok(Kept { open: Arc::new(open), left: None, begun: false })
    }

    /// The file's length, if the path still names it.
    pub(super) fn named_len(&self, path: &Path) -> Result<Option<u64>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if Inode::of(&metadata) == self.open.inode => Ok(Some(metadata.len())),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::read(path)(error)),
        }
    }

    /// Looks at the start, until there is one, and at the end, unless it is where this process left it.
    ///
    /// # Errors
    /// [`StoreError::NewerFormat`].
    pub(super) fn look(&mut self, path: &Path, len: u64, limits: Limits) -> Result<Look> {
        if self.left == Some(len) {
            return Ok(Look { len, is_new: false, is_torn: false });
        }
        let is_new = !self.begun && self.read_head(path, len, limits)?;
        let mut last = [b'\n'];
        if len > 0 {
            self.open.file.read_exact_at(&mut last, len - 1).map_err(StoreError::read(path))?;
        }
        Ok(Look { len, is_new, is_torn: last != [b'\n'] })
    }

    /// Whether nothing is said in it: what is left of a first append that failed says nothing.
    fn read_head(&mut self, path: &Path, len: u64, limits: Limits) -> Result<bool> {
        let history = BufReader::new(Part { file: &self.open.file, at: 0, upto: len });
        let head = Head::read(history, limits).map_err(StoreError::read(path))?;
        if let Some(format) = head.record.and_then(|record| newer_format(&record.event)) {
            return Err(StoreError::NewerFormat { path: path.to_owned(), format });
        }
        self.begun = head.is_there && head.is_whole;
        Ok(!head.is_there)
    }
}
