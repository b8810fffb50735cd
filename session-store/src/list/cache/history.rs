//! What is known about one history, and when it may be believed.

use super::Cache;
use super::key::{Key, Moment, Seen};
use crate::history::last_line;
use crate::{HistoryView, Result};
use chrono::DateTime;
use serde::{Deserialize, Serialize};
use session_core::{Count, Counter, Timestamp, layout};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// How many bytes before the end of a count are compared before it goes on from there.
const PROOF_BYTES: u64 = 64;

/// What a list says of a conversation.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Conversed {
    pub(in super::super) bytes: u64,
    pub(in super::super) newest: Option<Timestamp>,
    pub(in super::super) modified: Option<Timestamp>,
    /// `None`, where only the times were asked for.
    pub(in super::super) count: Option<Count>,
}

/// Whether a history is counted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Counting {
    Whole,
    Later,
}

/// What is known about a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Known {
    key: Key,
    /// When the list began that looked.
    seen: Moment,
    /// The time of its newest event, as seconds since 1970 and nanoseconds.
    newest: Option<(i64, u32)>,
    /// `None`: nobody has counted yet.
    counted: Option<Counted>,
}

/// What was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Counted {
    /// What all of the file gives, a last line that nothing ends included.
    all: Sum,
    /// What its whole lines give.
    lines: Point,
    /// Where the count went on from. A writer whose write failed overwrites its lines with spaces at once, so a point in
    /// a file that was being written may be gone when the file grows; this one stays.
    before: Option<Point>,
}

/// A place in a history from which a count can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Point {
    /// Behind a whole line: how many bytes are before it.
    upto: u64,
    /// A checksum of the last of them.
    proof: u32,
    sum: Sum,
}

/// A [`Counter`], as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Sum {
    messages: u64,
    events: u64,
    skipped: u64,
    repaired: u64,
    uncertain: bool,
    gap: Option<u64>,
}

impl From<Counter> for Sum {
    fn from(Counter { count, gap }: Counter) -> Self {
        let Count { messages, events, skipped, repaired, uncertain } = count;
        Sum { messages, events, skipped, repaired, uncertain, gap }
    }
}

impl From<Sum> for Counter {
    fn from(Sum { messages, events, skipped, repaired, uncertain, gap }: Sum) -> Self {
        Counter { count: Count { messages, events, skipped, repaired, uncertain }, gap }
    }
}

impl Known {
    /// What is known, if the history of the session is still the one of which it is known.
    pub(in super::super) fn believed(&self, cache: &Cache, session: &OsStr) -> Option<Conversed> {
        let Seen::File(key) = cache.look(session, layout::HISTORY) else { return None };
        (self.key == key && key.had_settled(self.seen)).then(|| self.says())
    }

    pub(in super::super) fn says(&self) -> Conversed {
        Conversed {
            bytes: self.key.size,
            newest: self.newest.and_then(|(seconds, nanos)| utc(seconds, nanos)),
            modified: u32::try_from(self.key.modified.1).ok().and_then(|nanos| utc(self.key.modified.0, nanos)),
            count: self.counted.as_ref().map(|counted| Counter::from(counted.all).count),
        }
    }

    /// The place from which a count of a longer file may go on.
    fn point(&self) -> Option<Point> {
        let counted = self.counted.as_ref()?;
        let point = if self.key.had_settled(self.seen) { Some(counted.lines) } else { counted.before };
        // What is left of a torn write is overwritten with spaces sooner or later, and is no defect then.
        point.filter(|point| point.sum.skipped == 0)
    }

    /// Whether more than the times is known.
    pub(in super::super) fn is_counted(&self) -> bool {
        self.counted.is_some()
    }

    /// What the history says, with the count taken up where `before` ended, if it can be.
    ///
    /// `None` where the history is changing under the hands of this list: the answer is the view's, and nothing is kept.
    ///
    /// # Errors
    /// [`crate::StoreError::Read`].
    pub(in super::super) fn read(
        history: &HistoryView,
        before: Option<&Known>,
        begun: Moment,
        newest: Option<Timestamp>,
        counting: Counting,
    ) -> Result<Option<Known>> {
        let Some(file) = history.file() else { return Ok(None) };
        let metadata = history.told(file.metadata())?;
        let key = Key::of(&metadata);
        if key.size != history.len_bytes() {
            return Ok(None);
        }
        let start = before.filter(|known| known.key == key || known.key.may_have_grown_to(&key)).and_then(Known::point);
        let start = match start {
            Some(point) if history.told(point.still_stands(file))? => Some(point),
            _ => None,
        };
        let counted = match counting {
            Counting::Whole => Some(history.told(Counted::go_on(start, history, file))?),
            Counting::Later => None,
        };
        let newest = newest.map(|ts| (ts.timestamp(), ts.timestamp_subsec_nanos()));
        Ok(Some(Known { key, seen: begun, newest, counted }))
    }
}

fn utc(seconds: i64, nanos: u32) -> Option<Timestamp> {
    Some(DateTime::from_timestamp(seconds, nanos)?.fixed_offset())
}

impl Counted {
    /// Counts what stands behind `start`, by several threads where it is much.
    fn go_on(start: Option<Point>, history: &HistoryView, file: &File) -> io::Result<Self> {
        let len = history.len_bytes();
        let upto = last_line(file, len)?;
        let start = start.filter(|start| start.upto <= upto);
        let (from, mut counter) = start.map_or((0, Counter::default()), |start| (start.upto, start.sum.into()));
        counter.add(history.count_range(from..upto)?);
        let lines = Point { upto, proof: proof(file, upto)?.unwrap_or(0), sum: counter.into() };
        if upto < len {
            counter.add(history.count_range(upto..len)?);
        }
        Ok(Counted { all: counter.into(), lines, before: start })
    }
}

impl Point {
    /// Whether the bytes before it are those that were counted.
    fn still_stands(&self, file: &File) -> io::Result<bool> {
        Ok(proof(file, self.upto)? == Some(self.proof))
    }
}

/// The checksum of the bytes before `upto`; `None` where the file is shorter.
fn proof(file: &File, upto: u64) -> io::Result<Option<u32>> {
    let mut bytes = [0; PROOF_BYTES as usize];
    let len = upto.min(PROOF_BYTES);
    let bytes = &mut bytes[..usize::try_from(len).unwrap_or(0)];
    match file.read_exact_at(bytes, upto - len) {
        Ok(()) => Ok(Some(crc32fast::hash(bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
