//! Finding rewinds in a history.

use crate::{HistoryView, Result};
use session_core::{Item, RewindMark, RewindStep};

/// The newest rewind of a history.
pub(super) struct Last {
    pub(super) mark: RewindMark,
    /// The number of its event.
    pub(super) event: u64,
    pub(super) dropped: i64,
    pub(super) is_undone: bool,
}

/// Finds the newest rewind.
pub(super) fn last(view: &HistoryView) -> Result<Option<Last>> {
    let mut last: Option<Last> = None;
    let mut number = 0;
    for item in view.forwards() {
        let Item::Record(record) = view.told(item)? else { continue };
        number += 1;
        let event = &record.event;
        match event.rewind_step() {
            Some(RewindStep::Done(mark)) => {
                last = Some(Last { mark, event: number, dropped: event.dropped, is_undone: false });
            }
            Some(RewindStep::Undone(mark)) => {
                last.iter_mut().filter(|last| last.mark.id == mark.id).for_each(|last| last.is_undone = true);
            }
            None => {}
        }
    }
    Ok(last)
}

/// Whether an event behind one of this number tells of this rewind, or of its end.
pub(super) fn tells(view: &HistoryView, behind: u64, id: &str) -> Result<bool> {
    let mut number = 0;
    for item in view.forwards() {
        let Item::Record(record) = view.told(item)? else { continue };
        number += 1;
        if number > behind && RewindMark::of(&record.event).is_some_and(|mark| mark.id == id) {
            return Ok(true);
        }
    }
    Ok(false)
}
