//! A history or a flat file, opened for reading as it stands now: whatever has its name, and whoever is writing to it.

use crate::{Result, StoreError, small_file};
use chrono::DateTime;
use session_core::{Limits, ScanBackwards, Timestamp};
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// An unterminated last line may be somebody's write in flight: how long to wait for the rest of it.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
const BUFFER: usize = 256 << 10;

/// An open history or flat file, up to the length that it had.
#[derive(Debug)]
pub(crate) struct Transcript {
    path: PathBuf,
    file: File,
    len: u64,
    opened: Metadata,
}

impl Transcript {
    /// Opens a file. `None` where there is none. Neither a link nor a FIFO leads anywhere else.
    ///
    /// Where the last line has no newline and still grows after a moment, it is left out: it is no defect.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        let (file, opened) = match small_file::open_regular(path) {
            Ok(opened) => opened,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(source) => return Err(StoreError::read(path)(source)),
        };
        let len = opened.len();
        let len = settled_len(&file, len).map_err(StoreError::read(path))?;
        Ok(Some(Transcript { path: path.to_owned(), file, len, opened }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Bytes that are read.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// What the file was when it was opened.
    pub(crate) fn opened(&self) -> &Metadata {
        &self.opened
    }

    /// When the file was last written, in UTC. `None` for a time that no calendar has.
    pub(crate) fn modified(&self) -> Option<Timestamp> {
        modified(&self.opened)
    }

    /// From the start.
    pub(crate) fn forwards(&self) -> BufReader<Window<'_>> {
        BufReader::with_capacity(BUFFER, self.window())
    }

    /// From the end.
    pub(crate) fn backwards(&self, limits: Limits) -> Result<ScanBackwards<Window<'_>>> {
        ScanBackwards::with_limits(self.window(), limits).map_err(self.failed())
    }

    /// For `map_err` after reading.
    pub(crate) fn failed(&self) -> impl FnOnce(io::Error) -> StoreError + use<> {
        StoreError::read(&self.path)
    }

    fn window(&self) -> Window<'_> {
        Window { file: &self.file, len: self.len, at: 0 }
    }
}

/// Whether an error says that nothing has the name.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// When something was last written, in UTC. `None` for a time that no calendar has.
pub(crate) fn modified(metadata: &Metadata) -> Option<Timestamp> {
    let nanos = u32::try_from(metadata.mtime_nsec()).ok()?;
    Some(DateTime::from_timestamp(metadata.mtime(), nanos)?.fixed_offset())
}

/// The length to read up to: all of it, or without a last line that is being written.
fn settled_len(file: &File, len: u64) -> io::Result<u64> {
    let mut last = [0];
    if len == 0 || file.read_at(&mut last, len - 1)? == 0 || last == *b"\n" {
        return Ok(len);
    }
    thread::sleep(LOOK_AGAIN);
    if file.metadata()?.len() == len {
        return Ok(len);
    }
    let mut end = len;
    let mut block = [0; 16 << 10];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..usize::try_from(end - start).unwrap_or(0)];
        file.read_exact_at(part, start)?;
        if let Some(newline) = part.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The bytes of an open file up to a length. Several can read at once: none moves the file's own position.
#[derive(Debug)]
pub(crate) struct Window<'a> {
    file: &'a File,
    len: u64,
    at: u64,
}

impl Read for Window<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let read = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Window<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
