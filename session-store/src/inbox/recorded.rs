//! Which messages of the inbox a history has recorded.

use crate::{HistoryView, Result, StoreError};
use session_core::{Event, Item};
use std::collections::BTreeSet;

/// The member of `x` that names the messages of the inbox that an event records.
const IDS: &str = "inbox";

/// Notes in an event which claimed messages of the inbox it records. The same ids are acknowledged after its append.
pub fn record_inbox_ids<'a>(event: &mut Event, ids: impl IntoIterator<Item = &'a str>) {
    event.x.set(IDS, &ids.into_iter().collect::<Vec<_>>().into());
}

/// The messages of the inbox that an event records, by their ids.
pub fn inbox_ids(event: &Event) -> Vec<String> {
    event.x.get(IDS).and_then(|ids| serde_json::from_str(ids).ok()).unwrap_or_default()
}

/// Those of the ids that a history has recorded, rolled back or not. It is read from its end, and only as far back as
/// the ids are not found.
///
/// # Errors
/// [`StoreError::Read`].
pub fn recorded_inbox_ids(history: &HistoryView, wanted: &BTreeSet<String>) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut items = history.backwards()?;
    while found.len() < wanted.len() {
        match items.next().transpose().map_err(StoreError::read(history.path()))? {
            None => break,
            Some(Item::Defect(_)) => {}
            Some(Item::Record(record)) => {
                found.extend(inbox_ids(&record.event).into_iter().filter(|id| wanted.contains(id)));
            }
        }
    }
    Ok(found)
}
