//! The file that is cut: its bytes, its seams, and moving its end down.

use super::{is_continuation, unfinished};
use crate::ProcError;
use session_disk::write_at;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

const COPY_BYTES: usize = 256 * 1024;
/// The seam is moved by at most this much to fall between two lines.
const SEAM_BYTES: u64 = 4096;
/// A process that writes while its log is cut is followed this often.
const CHASES: u32 = 8;

pub(super) struct Log<'a> {
    pub(super) file: File,
    pub(super) path: &'a Path,
}

impl Log<'_> {
    pub(super) fn len(&self) -> Result<u64, ProcError> {
        Ok(self.file.metadata().map_err(|source| ProcError::read(self.path, source))?.len())
    }

    pub(super) fn read_at(&self, offset: u64, len: usize) -> Result<Vec<u8>, ProcError> {
        let mut bytes = vec![0; len];
        let mut filled = 0;
        while filled < len {
            let read = self.file.read_at(&mut bytes[filled..], offset + filled as u64);
            match read.map_err(|source| ProcError::read(self.path, source))? {
                0 => break,
                n => filled += n,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    pub(super) fn byte(&self, offset: u64) -> Result<Option<u8>, ProcError> {
        Ok(self.read_at(offset, 1)?.first().copied())
    }

    /// Copies everything from an offset on to a lower one, and what is appended meanwhile. Returns where it ends.
    pub(super) fn move_down(&self, mut from: u64, mut to: u64) -> Result<u64, ProcError> {
        let mut chases = 0;
        let mut end = self.len()?;
        while from < end {
            let bytes = self.read_at(from, COPY_BYTES.min(usize::try_from(end - from).unwrap_or(COPY_BYTES)))?;
            if bytes.is_empty() {
                break;
            }
            write_at(&self.file, self.path, to, &bytes)?;
            (from, to) = (from + bytes.len() as u64, to + bytes.len() as u64);
            if from >= end && chases < CHASES {
                chases += 1;
                end = self.len()?;
            }
        }
        Ok(to)
    }

    /// The end of the last line before an offset, or where no line ends nearby, of the last whole character.
    pub(super) fn line_end_before(&self, offset: u64) -> Result<u64, ProcError> {
        let start = offset.saturating_sub(SEAM_BYTES);
        let bytes = self.read_at(start, usize::try_from(offset - start).unwrap_or(0))?;
        let line_end = bytes.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
        let at = line_end.unwrap_or_else(|| bytes.len() - unfinished(&bytes));
        Ok(start + at as u64)
    }

    /// The start of the next line at or after an offset, or where none starts nearby, of the next character.
    pub(super) fn line_start_after(&self, offset: u64) -> Result<u64, ProcError> {
        let bytes = self.read_at(offset.saturating_sub(1), SEAM_BYTES as usize)?;
        let line_start = bytes.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
        Ok(match line_start {
            Some(at) => offset.saturating_sub(1) + at as u64,
            None => {
                let bytes = &bytes[usize::from(offset > 0).min(bytes.len())..];
                offset + bytes.iter().take(3).take_while(|&&byte| is_continuation(byte)).count() as u64
            }
        })
    }
}
