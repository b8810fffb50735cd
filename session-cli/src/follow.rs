//! What is appended to a history after a moment, as it comes.

use crate::context::Context;
use crate::failure::Failure;
use session_core::{Item, Scan, SessionName};
use session_proc::{LiveTurn, Wake};
use session_store::{HistoryView, StoreError};
use std::io::{BufReader, Seek as _, SeekFrom};
use std::time::Duration;

/// A place in a history, up to which everything was seen.
#[derive(Debug)]
pub(crate) struct Follow {
    /// The byte after the last whole line that was seen.
    seen: u64,
    /// The history as it was then. Another file under the same name is read from its start; while this one is open, no
    /// other can pass for it.
    last: HistoryView,
    wake: Wake,
}

impl Follow {
    /// Behind what a reading has seen.
    pub(crate) fn after(history: HistoryView) -> Result<Self, Failure> {
        Ok(Follow { seen: history.whole_bytes()?, last: history, wake: Wake::new() })
    }

    /// Watches what the next look is at, so that nothing is missed that happens between that and the waiting: the history,
    /// what comes in its place, and the turn.
    pub(crate) fn watch(
        &mut self,
        context: &Context,
        name: &SessionName,
        turn: Option<&LiveTurn>,
    ) -> Result<(), Failure> {
        let paths = context.store.paths(name)?;
        self.wake.on_entries(paths.dir());
        self.wake.on_entries(&paths.proc());
        self.wake.on_content(self.last.path());
        if let Some(process) = turn.and_then(|turn| turn.process.as_ref()) {
            self.wake.on_end_of(process).map_err(StoreError::from)?;
        }
        Ok(())
    }

    /// What has come since. Lines that are being written are left for later.
    pub(crate) fn news(&mut self, context: &Context, name: &SessionName) -> Result<Vec<Item>, Failure> {
        let history = context.store.history(name)?;
        if history.identity() != self.last.identity() || history.len_bytes() < self.seen {
            self.seen = 0;
        }
        self.last = history;
        let upto = self.last.whole_bytes()?;
        if upto <= self.seen {
            return Ok(Vec::new());
        }
        let failed = |error| Failure::input("the history", &error);
        let mut reader = self.last.reader();
        reader.seek(SeekFrom::Start(self.seen)).map_err(failed)?;
        let whole = std::io::Read::take(reader, upto - self.seen);
        let mut items = Vec::new();
        for item in Scan::new(BufReader::new(whole)) {
            items.push(moved(item.map_err(failed)?, self.seen));
        }
        self.seen = upto;
        Ok(items)
    }

    /// Sleeps until something may have happened; at most so long, and for a second.
    pub(crate) fn wait(&mut self, at_most: Option<Duration>) -> Result<(), Failure> {
        Ok(self.wake.wait(at_most).map_err(StoreError::from)?)
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
