//! Reading the small files of a session's processes.

use crate::ProcError;
use chrono::{DateTime, Utc};
use std::io::ErrorKind;
use std::path::Path;

/// A regular file's bytes and its time of modification.
pub(crate) struct SmallFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: DateTime<Utc>,
}

/// Reads a regular file of at most `limit_bytes`. `None` where there is no such file: nothing, a link, a FIFO, a
/// directory or a file that is too large has the name.
pub(crate) fn read(path: &Path, limit_bytes: u64) -> Result<Option<SmallFile>, ProcError> {
    let fail = |source| ProcError::read(path, source);
    match session_disk::read_regular(path, limit_bytes) {
        Ok((bytes, metadata)) => Ok(Some(SmallFile { bytes, modified: metadata.modified().map_err(fail)?.into() })),
        Err(error) if is_no_such_file(error.kind()) => Ok(None),
        Err(source) => Err(fail(source)),
    }
}

fn is_no_such_file(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::InvalidData | ErrorKind::FileTooLarge)
}
