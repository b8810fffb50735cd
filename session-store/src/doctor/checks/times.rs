//! Times that run back.

use super::{Finding, FindingCode};
use session_core::{Event, Place, Timestamp, format_time};
use std::path::{Path, PathBuf};

/// Events of several writers may stand in another order than they happened in. So much is nobody's clock.
const TOLERANCE_S: i64 = 1;

/// The first event that claims an earlier time than the one before it, and how many there are.
#[derive(Default)]
pub(super) struct Times {
    last: Option<Timestamp>,
    first: Option<(PathBuf, Place, Timestamp, Timestamp)>,
    count: u64,
}

impl Times {
    pub(super) fn event(&mut self, event: &Event, place: Place, path: &Path) {
        // Events of ours say when they were written; those of a fork stand before older ones.
        let Some(ts) = event.ts.filter(|_| !event.kind.is_extension()) else { return };
        if let Some(last) = self.last
            && (last - ts).num_seconds() > TOLERANCE_S
        {
            self.count += 1;
            self.first.get_or_insert_with(|| (path.to_owned(), place, ts, last));
        }
        self.last = Some(ts);
    }

    pub(super) fn finding(&self) -> Option<Finding> {
        let (path, place, ts, last) = self.first.as_ref()?;
        let more = if self.count > 1 { format!(", and {} more do", self.count - 1) } else { String::new() };
        let text = format!("the event of {} stands behind one of {}{more}", format_time(ts), format_time(last));
        Some(Finding::new(FindingCode::TimeBack, path, text).at(*place))
    }
}
