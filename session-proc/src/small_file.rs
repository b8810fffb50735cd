//! Reading the small files of a session: never blocked by a FIFO, never filled up by a giant, never led elsewhere.

use crate::ProcError;
use chrono::{DateTime, Utc};
use nix::libc::{ELOOP, ENXIO, O_NOFOLLOW, O_NONBLOCK};
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A regular file's bytes and its time of modification.
pub(crate) struct SmallFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: DateTime<Utc>,
}

/// Reads a regular file of at most `limit_bytes`. `None` where there is no such file: nothing, a link, a FIFO, a
/// directory or a file that is too large has the name.
pub(crate) fn read(path: &Path, limit_bytes: u64) -> Result<Option<SmallFile>, ProcError> {
    let open = OpenOptions::new().read(true).custom_flags(O_NONBLOCK | O_NOFOLLOW).open(path);
    let file = match open {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound || is_no_file(&error) => return Ok(None),
        Err(source) => return Err(ProcError::read(path, source)),
    };
    let fail = |source| ProcError::read(path, source);
    let metadata = file.metadata().map_err(fail)?;
    if !metadata.is_file() || metadata.len() > limit_bytes {
        return Ok(None);
    }
    let modified = metadata.modified().map_err(fail)?.into();
    let mut bytes = Vec::new();
    // One more than allowed: a file that grew meanwhile is too large, and not cut.
    file.take(limit_bytes + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > limit_bytes {
        return Ok(None);
    }
    Ok(Some(SmallFile { bytes, modified }))
}

/// A link (`ELOOP`), or a socket or device without anybody behind it (`ENXIO`).
fn is_no_file(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(ELOOP | ENXIO))
}
