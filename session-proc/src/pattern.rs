//! Searching output for lines, however it is cut into reads.

use crate::ProcError;
use crate::id::Paths;
use crate::output::{self, Excess, Want};
use regex::bytes::Regex;

/// One read of the search.
const READ_BYTES: usize = 256 * 1024;
/// A line without an end is searched this far back.
const OPEN_LINE_BYTES: u64 = 64 * 1024;
/// No more lines than this are told at once.
const MAX_LINES: usize = 20;
/// A line is told this far.
const MAX_LINE_BYTES: usize = 1024;

/// How far the output has been searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Searched {
    /// Where the first line starts whose end has not been seen.
    pub(crate) line_start: u64,
    /// Whether that line has matched already.
    pub(crate) has_matched: bool,
}

/// The lines that matched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Matches {
    /// The first ones, in order, as text.
    pub(crate) lines: Vec<String>,
    /// How many more there were.
    pub(crate) more: u64,
}

/// Reads a regular expression.
pub(crate) fn compile(pattern: &str) -> Result<Regex, ProcError> {
    Regex::new(pattern).map_err(|error| ProcError::Pattern { pattern: pattern.to_owned(), reason: error.to_string() })
}

/// Searches what has been written since the last search. A line counts once, also when it matches before its end is
/// written: a prompt has no end.
pub(crate) fn search(paths: &Paths, pattern: &Regex, from: Searched) -> Result<(Matches, Searched), ProcError> {
    let mut matches = Matches::default();
    let mut searched = from;
    let mut line: Vec<u8> = Vec::new();
    let mut cursor = from.line_start;
    loop {
        let want = Want { cursor, limit_bytes: READ_BYTES, excess: Excess::LeaveForNext, is_final: true };
        let piece = output::read(paths, want)?;
        if piece.cursor < cursor {
            // The log is another one, and shorter.
            line.clear();
            searched = Searched::default();
        }
        if piece.skipped_bytes > 0 {
            line.clear();
            searched.has_matched = false;
        }
        // Also where there is nothing: an emptied log is searched from its beginning when it is filled again.
        cursor = piece.cursor;
        if piece.bytes.is_empty() {
            break;
        }
        line.extend_from_slice(&piece.bytes);
        let mut start = 0;
        while let Some(len) = line[start..].iter().position(|&byte| byte == b'\n') {
            if !searched.has_matched {
                matches.look(pattern, &line[start..start + len]);
            }
            searched.has_matched = false;
            start += len + 1;
        }
        line.drain(..start);
        let excess = (line.len() as u64).saturating_sub(OPEN_LINE_BYTES);
        line.drain(..usize::try_from(excess).unwrap_or(0));
    }
    // A line of which nothing is there has not matched: what had is of a log that was emptied.
    searched.has_matched = !line.is_empty() && (searched.has_matched || matches.look(pattern, &line));
    searched.line_start = cursor - line.len() as u64;
    Ok((matches, searched))
}

impl Matches {
    fn look(&mut self, pattern: &Regex, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_match = !line.is_empty() && pattern.is_match(line);
        if is_match && self.lines.len() < MAX_LINES {
            let text = String::from_utf8_lossy(line);
            let end = text.floor_char_boundary(MAX_LINE_BYTES);
            self.lines.push(text[..end].to_owned());
        } else if is_match {
            self.more += 1;
        }
        is_match
    }
}
