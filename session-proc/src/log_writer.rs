//! Writing a log that others read: never above its cap, and never failing towards the process whose output it is.

use crate::ProcError;
use crate::cut::{MIN_CAP_BYTES, cut};
use session_disk::{open_append, truncate, write};
use std::fs::File;
use std::path::PathBuf;

/// Room for a status, a record and a dossier.
pub(crate) const RECORDS_BYTES: u64 = 64 * 1024;
/// More than the line that tells a loss, on a disk that gives whole pages.
const LAST_WORD_BYTES: u64 = 8 * 1024;

/// The only writer of a log.
pub(crate) struct LogWriter {
    file: File,
    path: PathBuf,
    cut_path: PathBuf,
    cap_bytes: u64,
    len_bytes: u64,
    /// What the disk did not take since it last took something.
    lost_bytes: u64,
}

impl LogWriter {
    pub(crate) fn open(path: PathBuf, cut_path: PathBuf, cap_bytes: u64) -> Result<LogWriter, ProcError> {
        let file = open_append(&path)?;
        let len_bytes = file.metadata().map_err(|source| ProcError::read(&path, source))?.len();
        Ok(LogWriter { file, path, cut_path, cap_bytes: cap_bytes.max(MIN_CAP_BYTES), len_bytes, lost_bytes: 0 })
    }

    /// Appends output. What the disk does not take is counted, and told in the log as soon as it takes something.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.tell_loss();
        self.put(bytes);
    }

    /// Gives up the end of the log, so that a full disk takes something that matters more.
    pub(crate) fn make_room(&mut self, bytes: u64) {
        let len_bytes = self.len_bytes.saturating_sub(bytes);
        if truncate(&self.file, &self.path, len_bytes).is_ok() {
            self.lost_bytes += self.len_bytes - len_bytes;
            self.len_bytes = len_bytes;
        }
    }

    /// Says what was lost at the very end, on a full disk in the place of some more.
    pub(crate) fn finish(&mut self) {
        self.tell_loss();
        if self.lost_bytes > 0 {
            self.make_room(LAST_WORD_BYTES);
            self.tell_loss();
        }
    }

    fn tell_loss(&mut self) {
        if self.lost_bytes > 0 {
            let lost = std::mem::take(&mut self.lost_bytes);
            let line = format!("\n[{lost} bytes of output are lost: the disk did not take them]\n");
            self.put(line.as_bytes());
            if self.lost_bytes > 0 {
                // The line itself is no output.
                self.lost_bytes = lost;
            }
        }
    }

    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.len_bytes >= self.cap_bytes {
                match cut(&self.path, &self.cut_path, self.cap_bytes) {
                    Ok(len_bytes) => self.len_bytes = len_bytes,
                    Err(_) => break,
                }
            }
            let room = usize::try_from(self.cap_bytes.saturating_sub(self.len_bytes)).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            match write(&self.file, &self.path, now) {
                Ok(()) => self.len_bytes += now.len() as u64,
                Err(short) => {
                    self.len_bytes += short.written;
                    bytes = &bytes[usize::try_from(short.written).unwrap_or(bytes.len())..];
                    break;
                }
            }
            bytes = later;
        }
        self.lost_bytes += bytes.len() as u64;
    }
}
