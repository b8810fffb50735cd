//! Events of an import: their making, and what is noted on them.

use super::value::Json;
use crate::{Event, Extension, Kind, Message, Role, Timestamp, Usage, written_by_hand};
use serde_json::Value;

/// Members of `x` on the events of an import; `docs/format.md` says what they mean.
pub(super) mod flag {
    pub(in crate::interop::import) const INJECTED: &str = crate::Event::INJECTED;
    pub(in crate::interop::import) const STEERED: &str = "steered";
    pub(in crate::interop::import) const ORPHAN: &str = "orphan";
    pub(in crate::interop::import) const ERROR: &str = "error";
    pub(in crate::interop::import) const INTERRUPTED: &str = "interrupted";
    pub(in crate::interop::import) const SYNTHETIC: &str = "synthetic";
    pub(in crate::interop::import) const ODD_ARGUMENTS: &str = "odd_arguments";
    pub(in crate::interop::import) const PHASE: &str = "phase";
    pub(in crate::interop::import) const CALL_ID: &str = "call_id";
    pub(in crate::interop::import) const CALL_IDS: &str = "call_ids";
}

/// An event of a kind at a time that may not be known.
pub(super) fn event(ts: Option<Timestamp>, kind: Kind) -> Event {
    Event { ts, kind, ..Event::default() }
}

/// The event of a message.
pub(super) fn said(ts: Option<Timestamp>, message: Message) -> Event {
    let is_result = message.role == Role::Tool;
    let mut event = event(ts, if is_result { Kind::ToolResult } else { Kind::Message });
    if is_result {
        event.tool = message.name.to_string();
    }
    event.message = Some(Box::new(message));
    event
}

/// The event of a user's message: flagged where nobody wrote any of it.
pub(super) fn said_by_user(ts: Option<Timestamp>, message: Message) -> Event {
    let mut event = said(ts, message);
    let is_injected = event.message.as_ref().is_some_and(|message| {
        let text = message.content.text();
        !text.trim().is_empty() && written_by_hand(&text).is_empty()
    });
    if is_injected {
        mark(&mut event, flag::INJECTED);
    }
    event
}

/// A notice.
pub(super) fn notice(ts: Option<Timestamp>, text: impl Into<String>) -> Event {
    Event { text: text.into(), ..event(ts, Kind::Notice) }
}

/// What an error says: the first of these texts that says something.
pub(super) fn details<'a>(said: &[&'a Json]) -> &'a str {
    said.iter().map(|said| said.text()).find(|text| !text.is_empty()).unwrap_or("no details")
}

/// An event of this project's own.
pub(super) fn extension(ts: Option<Timestamp>, extension: Extension) -> Event {
    Event { ts, ..extension.into_event(Timestamp::default()) }
}

/// Notes something about an event.
pub(super) fn mark(event: &mut Event, name: &str) {
    event.x.set(name, &Value::Bool(true));
}

/// What a response cost.
pub(super) fn usage(ts: Option<Timestamp>, usage: Usage) -> Event {
    extension(ts, Extension::Usage(usage))
}

/// The sum of counts, where one of them at least is known.
pub(super) fn sum(counts: &[Option<u64>]) -> Option<u64> {
    let known = counts.iter().any(Option::is_some);
    known.then(|| counts.iter().flatten().fold(0_u64, |sum, count| sum.saturating_add(*count)))
}
