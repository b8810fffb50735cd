//! A part of a file, read without moving the file's place.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;

/// What stands between two offsets of a file, from where it was not read yet.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) file: &'a File,
    pub(crate) at: u64,
    pub(crate) upto: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.upto.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let len = left.min(buffer.len());
        let read = self.file.read_at(&mut buffer[..len], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Part<'_> {
    /// Reads some of it, where all of it must be there. Nothing where all was read.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] where the file ends before the part does.
    pub(crate) fn read_some<'b>(&mut self, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
        match self.read(buffer)? {
            0 if self.at < self.upto => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(&buffer[..read]),
        }
    }
}
