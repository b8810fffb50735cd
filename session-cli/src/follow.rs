//! What is appended to a history after a moment, as it comes.

use crate::context::Context;
use crate::failure::Failure;
use session_core::{Item, Scan, SessionName};
use session_store::HistoryView;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::thread;
use std::time::Duration;

/// The shortest and the longest pause between two looks.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(250));

/// A place in a history, up to which everything was seen.
#[derive(Debug)]
pub(crate) struct Follow {
    /// The byte after the last whole line that was seen.
    seen: u64,
    /// Which file that was: another one under the same name is read from its start.
    file: Option<(u64, u64)>,
    pause: Duration,
}

impl Follow {
    /// Behind what a reading has seen.
    pub(crate) fn after(history: &HistoryView) -> Result<Self, Failure> {
        let seen = history.whole_bytes()?;
        Ok(Follow { seen, file: history.identity(), pause: PAUSES.0 })
    }

    /// What has come since. Lines that are being written are left for later.
    pub(crate) fn news(&mut self, context: &Context, name: &SessionName) -> Result<Vec<Item>, Failure> {
        let history = context.store.history(name)?;
        if history.identity() != self.file || history.len_bytes() < self.seen {
            self.file = history.identity();
            self.seen = 0;
        }
        let upto = history.whole_bytes()?;
        if upto <= self.seen {
            return Ok(Vec::new());
        }
        let failed = |error| Failure::input("the history", &error);
        let mut reader = history.reader();
        reader.seek(SeekFrom::Start(self.seen)).map_err(failed)?;
        let whole = std::io::Read::take(reader, upto - self.seen);
        let mut items = Vec::new();
        for item in Scan::new(BufReader::new(whole)) {
            items.push(moved(item.map_err(failed)?, self.seen));
        }
        self.seen = upto;
        self.pause = PAUSES.0;
        Ok(items)
    }

    /// Waits a moment, longer and longer while nothing comes.
    pub(crate) fn pause(&mut self) {
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(PAUSES.1);
    }
}

/// An item that was read from a part of the file, at its place in the whole.
fn moved(mut item: Item, by: u64) -> Item {
    let place = match &mut item {
        Item::Record(record) => &mut record.place,
        Item::Defect(defect) => &mut defect.place,
    };
    place.offset += by;
    place.line = None;
    item
}
