//! Reading the files of a checkpoint store.

use crate::Error;
use crate::error::reading;
use session_disk::read_regular;
use std::io;
use std::path::Path;

/// All of a file; `None` where there is none. Something else under its name is a failed read.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match read_regular(path, u64::MAX) {
        Ok((bytes, _)) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(reading(path)(error)),
    }
}
