//! Bytes at the end of a history that no newline ends: finding them, and getting them out of the way.
//!
//! An unterminated last line may be another program's write in flight, so a writer that meets one only begins its own
//! write with a newline. Once that write has returned, what stands before it is final: the kernel gives each append its
//! own place, and a write that got an earlier one is over. Only then is it judged, and what is not JSON is copied to the
//! quarantine and blanked.

use super::blank::{Last, blank, open_overwrite};
use crate::flock::Inode;
use crate::part::Part;
use crate::quarantine::{Taken, keep};
use crate::{Result, SessionPaths, StoreError};
use memchr::memrchr;
use session_core::{Bodies, Fault, Item, Limits, Scan};
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

/// How much is looked at at once.
const BLOCK: usize = 256 << 10;

/// Bytes that an append found at the end of the history without a newline, and that are no JSON: what is left of a
/// write that was cut off.
#[derive(Debug)]
#[non_exhaustive]
pub struct Isolated {
    /// The first of them, as an offset in the history.
    pub offset: u64,
    /// How many they are.
    pub len: u64,
    /// The copy of them in the session's quarantine; the history has spaces in their place. An error: they stand where
    /// they stood, on a line of their own, and every reader skips that line.
    pub quarantine: Result<PathBuf>,
}

/// Where the last line begins of what stands before `upto`; `upto` itself if a newline ends it.
pub(crate) fn last_line(file: &File, upto: u64) -> io::Result<u64> {
    // As a rule the last byte is the newline: the first look is a short one.
    let mut size = 64;
    let mut buffer = Vec::new();
    let mut end = upto;
    while end > 0 {
        let start = end.saturating_sub(size as u64);
        buffer.resize(size.min(usize::try_from(end).unwrap_or(size)), 0);
        file.read_exact_at(&mut buffer, start)?;
        if let Some(newline) = memrchr(b'\n', &buffer) {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
        size = (size * 16).min(BLOCK);
    }
    Ok(0)
}

/// Deals with what stands before `upto`, where this process's bytes begin, on a line that nobody ended.
pub(super) fn settle(paths: &SessionPaths, file: &File, inode: Inode, upto: u64, limits: Limits) -> Vec<Isolated> {
    let path = paths.history();
    let torn = last_line(file, upto).and_then(|start| torn(file, start, upto, limits));
    match torn {
        Ok(torn) => torn
            .into_iter()
            .map(|(offset, len)| Isolated { offset, len, quarantine: take_out(paths, file, inode, offset, len) })
            .collect(),
        Err(error) => vec![Isolated { offset: upto, len: 0, quarantine: Err(StoreError::read(&path)(error)) }],
    }
}

/// Offset and length of the parts of a final, unterminated line that are no JSON. Whole JSON was only in flight.
fn torn(file: &File, start: u64, upto: u64, limits: Limits) -> io::Result<Vec<(u64, u64)>> {
    let mut parts = Vec::new();
    let mut nuls = None;
    let line = BufReader::with_capacity(BLOCK, Part { file, at: start, upto });
    for item in Scan::with_limits(line, limits).bodies(Bodies::Skip) {
        match item? {
            Item::Record(_) => nuls = None,
            Item::Defect(defect) => {
                let part = (start + defect.place.offset, defect.len);
                match defect.fault {
                    Fault::NotJson { .. } | Fault::Torn | Fault::TooLong { .. } => parts.push(part),
                    // Either they surround an event, which follows, or they are all there is, as a power cut leaves it.
                    Fault::NulPadding | Fault::ByteOrderMark => nuls = Some(part),
                    _ => {}
                }
            }
        }
    }
    parts.extend(nuls);
    Ok(parts)
}

/// Copies bytes to the quarantine and blanks them in the history.
fn take_out(paths: &SessionPaths, file: &File, inode: Inode, offset: u64, len: u64) -> Result<PathBuf> {
    // The name says where they stood.
    let name = format!("history-{offset}-{len}-{:016x}", rand::random::<u64>());
    let copy = keep(paths, file, &Taken { name, parts: vec![(offset, len)], index: None })?;
    let history = paths.history();
    let over = open_overwrite(&history, inode)?;
    blank(&over, &history, offset, len, Last::Space)?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const EVENT: &str = r#"{"ts":"2026-01-02T03:04:05Z","kind":"notice","text":"rain"}"#;

    /// Settles what stands before an event of ours, and gives what the file then holds, and how much is in quarantine.
    fn settled(before: &[u8]) -> (String, usize) {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let paths = SessionPaths::new(dir.path());
        fs::write(paths.history(), [before, EVENT.as_bytes(), b"\n"].concat()).expect("there is room");
        let file = File::open(paths.history()).expect("it was just written");
        let inode = Inode::of(&file.metadata().expect("it is open"));
        let isolated = settle(&paths, &file, inode, before.len() as u64, Limits::default());
        let kept = isolated.into_iter().map(|isolated| isolated.quarantine.expect("there is room"));
        let kept = kept.map(|path| fs::read(path).expect("it was just kept").len()).sum();
        (fs::read_to_string(paths.history()).expect("it was just written"), kept)
    }

    #[test]
    fn a_stub_that_came_between_the_look_and_the_write_is_blanked_in_front_of_the_event() {
        assert_eq!(settled(b"{\"ts\":\"2026"), (format!("{}{EVENT}\n", " ".repeat(11)), 11));
        let (history, kept) = settled(format!("{EVENT}\n{{\"ts\"").as_bytes());
        assert_eq!((history, kept), (format!("{EVENT}\n     {EVENT}\n"), 5));
    }

    #[test]
    fn what_was_only_in_flight_is_left_alone() {
        for before in
            [String::new(), format!("{EVENT}\n"), EVENT.to_owned(), "\n".into(), "  ".into(), format!("\0\0{EVENT}")]
        {
            assert_eq!(settled(before.as_bytes()), (format!("{before}{EVENT}\n"), 0));
        }
    }

    #[test]
    fn the_last_line_is_found_however_long_it_is() {
        let mut file = tempfile::tempfile().expect("a scratch file");
        let bytes = [b"first\n", &vec![b'x'; 3 * BLOCK][..]].concat();
        io::Write::write_all(&mut file, &bytes).expect("there is room");
        for upto in (0..200).chain([1000, BLOCK, BLOCK + 6, BLOCK + 70, 2 * BLOCK, bytes.len()]) {
            let expected = if upto < 6 { 0 } else { 6 };
            assert_eq!(last_line(&file, upto as u64).expect("it can be read"), expected, "{upto}");
        }
    }
}
