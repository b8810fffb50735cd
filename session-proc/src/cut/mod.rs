//! Keeping a log below its cap: the head and the tail stay, and one line between them says how much is missing.
//!
//! The file is changed in place, because the process that writes it may hold it open. What a position in the file
//! means is written to `.<id>.cut` before and after, under a lock on the log, so that a reader with a cursor loses
//! nothing that is still there, and a cut that was interrupted is finished by the next one.

mod log;

use crate::{ProcError, small_file};
use log::Log;
use serde::{Deserialize, Serialize};
use session_disk::{Durability, open_existing, replace, truncate, write_at};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// A smaller cap would leave no room for a line at both ends.
pub(crate) const MIN_CAP_BYTES: u64 = 16 * 1024;
const MAX_CUT_FILE_BYTES: u64 = 4096;
const LOCK_TRIES: u32 = 100;
const BETWEEN_TRIES: Duration = Duration::from_millis(2);

/// What is missing from a log. Positions in the output count from its first byte, as if nothing were missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Cut {
    /// The bytes at the beginning that stay for good.
    pub(crate) head_bytes: u64,
    /// The line that follows them in the file and is no output.
    pub(crate) marker_bytes: u64,
    /// The bytes of output between the head and the rest.
    pub(crate) skipped_bytes: u64,
    /// The rest is on its way to its new place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    moving: Option<Moving>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Moving {
    from_offset: u64,
    bytes: u64,
}

impl Cut {
    pub(crate) fn read(path: &Path) -> Result<Cut, ProcError> {
        let file = small_file::read(path, MAX_CUT_FILE_BYTES)?;
        Ok(file.and_then(|file| serde_json::from_slice(&file.bytes).ok()).unwrap_or_default())
    }

    /// The position in the output of an offset in the file.
    pub(crate) fn position(&self, offset: u64) -> u64 {
        let rest = self.head_bytes + self.marker_bytes;
        if offset <= self.head_bytes {
            offset
        } else {
            self.head_bytes + self.skipped_bytes + offset.saturating_sub(rest)
        }
    }

    /// The offset in the file of a position in the output. A position that is missing is that of what follows.
    pub(crate) fn offset(&self, position: u64) -> u64 {
        if position < self.head_bytes || self.marker_bytes == 0 {
            return position;
        }
        let rest = self.head_bytes + self.marker_bytes;
        rest + position.saturating_sub(self.head_bytes + self.skipped_bytes)
    }

    fn write(&self, path: &Path) -> Result<(), ProcError> {
        let mut line = serde_json::to_vec(self).expect("numbers always serialize");
        line.push(b'\n');
        Ok(replace(path, &line, Durability::Os)?)
    }

    /// The line for people. Its length does not depend on the number, so that it can be written again.
    fn marker(&self, starts_line: bool) -> String {
        let line_end = if starts_line { "" } else { "\n" };
        format!("{line_end}[{:>20} bytes of output are not kept]\n", self.skipped_bytes)
    }
}

/// The right to change a log, or to rely on what a position means, for a moment. Who waits for too
/// long goes on without it: a reader that was stopped must not stop the process that writes.
pub(crate) fn lock(log: &File, access: Access) -> LogLock<'_> {
    for _ in 0..LOCK_TRIES {
        let locked = match access {
            Access::Change => log.try_lock(),
            Access::Read => log.try_lock_shared(),
        };
        match locked {
            Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN_TRIES),
            Ok(()) | Err(TryLockError::Error(_)) => break,
        }
    }
    LogLock(log)
}

/// What a log is locked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Change,
    Read,
}

/// A log that is locked, or that could not be.
pub(crate) struct LogLock<'a>(&'a File);

impl Drop for LogLock<'_> {
    fn drop(&mut self) {
        // A copy of this process must not hold it on; see `DirLock`.
        self.0.unlock().ok();
    }
}

/// Cuts a log that has reached `cap_bytes`, down to less than three quarters of that. Returns the new length. A log
/// that is much shorter is left as it is.
///
/// On disk when it returns: the shorter log. What another process appends in the last moment of the cut is lost;
/// who writes all of it through [`LogWriter`](crate::log_writer::LogWriter) loses nothing but the middle.
pub(crate) fn cut(log_path: &Path, cut_path: &Path, cap_bytes: u64) -> Result<u64, ProcError> {
    let cap_bytes = cap_bytes.max(MIN_CAP_BYTES);
    let log = Log { file: open_existing(log_path)?, path: log_path };
    let _lock = lock(&log.file, Access::Change);
    let mut cut = finish(&log, Cut::read(cut_path)?, cut_path)?;
    let len = log.len()?;
    if len < cap_bytes / 4 * 3 {
        return Ok(len);
    }
    let starts_line = if cut.marker_bytes == 0 {
        cut.head_bytes = log.line_end_before(cap_bytes / 4)?;
        cut.head_bytes == 0 || log.byte(cut.head_bytes - 1)? == Some(b'\n')
    } else {
        log.byte(cut.head_bytes)? == Some(b'[')
    };
    let marker_bytes = cut.marker(starts_line).len() as u64;
    let rest = cut.head_bytes + marker_bytes;
    let kept_bytes = (cap_bytes - rest) / 2;
    let from_offset = log.line_start_after(len.saturating_sub(kept_bytes).max(rest))?;
    let skipped_bytes = cut.position(from_offset) - cut.head_bytes;
    cut.skipped_bytes = skipped_bytes;
    cut.marker_bytes = marker_bytes;
    cut.moving = Some(Moving { from_offset, bytes: len - from_offset });
    cut.write(cut_path)?;
    finish(&log, cut, cut_path)?;
    log.len()
}

/// Does, or does again, what a cut has announced.
fn finish(log: &Log<'_>, mut cut: Cut, cut_path: &Path) -> Result<Cut, ProcError> {
    let Some(Moving { from_offset, bytes }) = cut.moving else { return Ok(cut) };
    let rest = cut.head_bytes + cut.marker_bytes;
    let starts_line = cut.marker_bytes == cut.marker(true).len() as u64;
    let marker = cut.marker(starts_line);
    // The marker is written last: where it stands, the rest stands as well.
    if log.read_at(cut.head_bytes, marker.len())? != marker.as_bytes() {
        if log.len()? >= from_offset + bytes {
            let end = log.move_down(from_offset, rest)?;
            truncate(&log.file, log.path, end)?;
        }
        write_at(&log.file, log.path, cut.head_bytes, marker.as_bytes())?;
    }
    cut.moving = None;
    cut.write(cut_path)?;
    Ok(cut)
}

/// Whether a byte can only stand inside a character.
pub(crate) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The length of a character at the end of which bytes are still missing; 0 where the end is whole, or is no UTF-8.
pub(crate) fn unfinished(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    for at in (from..bytes.len()).rev() {
        let wanted = match bytes[at] {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            byte if is_continuation(byte) => continue,
            _ => return 0,
        };
        let there = bytes.len() - at;
        return if there < wanted { there } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use session_disk::faults::{self, Fault};
    use std::fs;

    #[test]
    fn positions_and_offsets_agree_around_a_cut() {
        let cut = Cut { head_bytes: 100, marker_bytes: 40, skipped_bytes: 1000, moving: None };
        for (offset, position) in [(0, 0), (99, 99), (140, 1100), (150, 1110)] {
            assert_eq!((cut.position(offset), cut.offset(position)), (position, offset));
        }
        assert_eq!((cut.offset(100), cut.offset(1099)), (140, 140), "what is missing");
        assert_eq!((Cut::default().position(7), Cut::default().offset(7)), (7, 7));
    }

    /// Checks that what the file holds is the output at the positions that the cut says. Returns how much is there.
    fn check(log_path: &Path, cut_path: &Path, output: &[u8]) -> usize {
        let cut = Cut::read(cut_path).expect("readable");
        let log = fs::read(log_path).expect("readable");
        let head_bytes = usize::try_from(cut.head_bytes).expect("small");
        let rest = head_bytes + usize::try_from(cut.marker_bytes).expect("small");
        assert_eq!(cut.moving, None);
        assert_eq!(log[..head_bytes], output[..head_bytes]);
        assert_eq!(log[head_bytes..rest], *cut.marker(true).as_bytes());
        let from = usize::try_from(cut.position(rest as u64)).expect("small");
        assert_eq!(log[rest..], output[from..]);
        assert!(output[from - 1] == b'\n' && output[head_bytes - 1] == b'\n', "between lines");
        log.len()
    }

    #[test]
    fn a_cut_that_is_interrupted_anywhere_is_finished_by_the_next() {
        let mut output: Vec<u8> = (0..9000).flat_map(|n| format!("{n:07}\n").into_bytes()).collect();
        for at in 0.. {
            let scratch = tempfile::tempdir().expect("a scratch directory");
            let (log_path, cut_path) = (scratch.path().join("bg1.log"), scratch.path().join(".bg1.cut"));
            output.truncate(72_000);
            fs::write(&log_path, &output).expect("it is our directory");
            // The second cut of a log: the first line is to be written again.
            cut(&log_path, &cut_path, 64 * 1024).expect("it is our directory");
            let kept = check(&log_path, &cut_path, &output);
            let more: Vec<u8> = (0..5000).flat_map(|n| format!("more{n:05}\n").into_bytes()).collect();
            output.extend_from_slice(&more);
            let mut log = File::options().append(true).open(&log_path).expect("it is there");
            std::io::Write::write_all(&mut log, &more).expect("it is our directory");
            assert_eq!(log.metadata().expect("open").len(), (kept + more.len()) as u64);

            let run = faults::with(Fault::Stop { at }, || cut(&log_path, &cut_path, 64 * 1024));
            cut(&log_path, &cut_path, 64 * 1024).expect("it is our directory");
            let kept = check(&log_path, &cut_path, &output);
            assert!(kept < 48 * 1024 && kept > 24 * 1024, "{at}: {kept}");
            if !run.hit {
                return;
            }
        }
    }

    #[test]
    fn a_character_is_unfinished_until_its_last_byte() {
        for text in ["é", "木", "🌳"] {
            let bytes = text.as_bytes();
            for len in 1..bytes.len() {
                assert_eq!(unfinished(&bytes[..len]), len, "{text} {len}");
            }
            assert_eq!(unfinished(bytes), 0, "{text}");
        }
        assert_eq!(
            (unfinished(b""), unfinished(b"\x80\x80\x80"), unfinished(b"a\xff"), unfinished(b"\xc0")),
            (0, 0, 0, 0)
        );
    }
}
