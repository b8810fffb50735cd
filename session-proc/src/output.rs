//! Reading a log by a cursor.

use crate::cut::{self, Access, Cut, is_continuation, unfinished};
use crate::id::Paths;
use crate::{ProcError, ProcessId, Registry};
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// What one call returns at most where the caller does not say, in bytes.
pub const OUTPUT_BYTES: usize = 32 * 1024;

/// A piece of a process's output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The bytes as the process wrote them. They start and end between characters, if they are UTF-8.
    pub bytes: Vec<u8>,
    /// Bytes of output between the caller's cursor and these: left out because there is too much, or not kept any more.
    pub skipped_bytes: u64,
    /// Where to go on: the number of bytes that the process had written up to here.
    pub cursor: u64,
}

impl Output {
    /// The bytes as text; what is no UTF-8 is replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// The text, under a line that says what is missing before it.
    pub(crate) fn told(&self) -> String {
        match self.skipped_bytes {
            0 => self.text().into_owned(),
            skipped => format!("[{skipped} earlier bytes skipped]\n{}", self.text()),
        }
    }
}

/// What to do when there is more than one call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// Return the end of it: that says what is happening now.
    SkipToTail,
    /// Return the beginning of it, and the rest with the next calls.
    LeaveForNext,
}

/// Where in the output to read, and how much.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Want {
    pub(crate) cursor: u64,
    pub(crate) limit_bytes: usize,
    pub(crate) excess: Excess,
    /// Nothing more will come, so half a character at the end is all that there will be of it.
    pub(crate) is_final: bool,
}

/// Reads a piece of the log. A cursor behind the end starts again: the log is another one.
pub(crate) fn read(paths: &Paths, want: Want) -> Result<Output, ProcError> {
    let path = paths.log();
    let fail = |source| ProcError::read(&path, source);
    let Some(log) = open(paths)? else {
        return Ok(Output { bytes: Vec::new(), skipped_bytes: 0, cursor: want.cursor });
    };
    let _lock = cut::lock(&log, Access::Read);
    let cut = Cut::read(&paths.cut())?;
    let end = cut.position(log.metadata().map_err(fail)?.len());
    let wanted = if want.cursor > end { 0 } else { want.cursor };
    let limit = want.limit_bytes.max(4) as u64;
    let start = match want.excess {
        Excess::SkipToTail => wanted.max(end.saturating_sub(limit)),
        Excess::LeaveForNext => wanted,
    };
    // From here on `start` is a position that is kept.
    let gap_end = cut.head_bytes + cut.skipped_bytes;
    let in_gap = cut.marker_bytes > 0 && start >= cut.head_bytes && start < gap_end;
    // Whoever wants the tail does not want the head before a gap.
    let before_gap = cut.marker_bytes > 0 && start < cut.head_bytes && want.excess == Excess::SkipToTail;
    let start = if in_gap || before_gap { gap_end } else { start };
    let piece_end = if cut.marker_bytes > 0 && start < cut.head_bytes { cut.head_bytes } else { end };
    let mut bytes = vec![0; usize::try_from(limit.min(piece_end.saturating_sub(start))).unwrap_or(0)];
    let filled = read_at(&log, &mut bytes, cut.offset(start)).map_err(fail)?;
    bytes.truncate(filled);
    // Only where the reading did not start where the last one stopped can it start inside a character.
    let torn =
        if start == wanted { 0 } else { bytes.iter().take(3).take_while(|&&byte| is_continuation(byte)).count() };
    bytes.drain(..torn);
    let start = start + torn as u64;
    let at_end = start + bytes.len() as u64 >= end;
    let whole = bytes.len() - unfinished(&bytes);
    if !(at_end && want.is_final) && (whole > 0 || at_end) {
        bytes.truncate(whole);
    }
    let cursor = start + bytes.len() as u64;
    Ok(Output { bytes, skipped_bytes: start - wanted, cursor })
}

impl Registry {
    /// Reads output from a cursor on: 0 for the beginning, or what an earlier call returned. Writes nothing.
    ///
    /// At most `limit_bytes` are returned; [`OUTPUT_BYTES`] is a good number. A log that is missing is empty.
    ///
    /// # Errors
    /// As [`Registry::look`].
    #[doc(alias = "Output")]
    pub fn output(&self, id: &ProcessId, cursor: u64, limit_bytes: usize, excess: Excess) -> Result<Output, ProcError> {
        let is_final = self.look(id)?.state.is_final();
        read(&self.paths(id), Want { cursor, limit_bytes, excess, is_final })
    }
}

fn open(paths: &Paths) -> Result<Option<File>, ProcError> {
    let path = paths.log();
    match session_disk::open_regular(&path) {
        Ok((file, _)) => Ok(Some(file)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => Ok(None),
        Err(source) => Err(ProcError::read(&path, source)),
    }
}

fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64)? {
            0 => break,
            n => filled += n,
        }
    }
    Ok(filled)
}
