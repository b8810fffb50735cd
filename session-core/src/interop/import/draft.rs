//! A session in the making: messages in the order of the file, results where they belong.

use super::calls::{Calls, Place};
use super::events::{event, flag, mark, said};
use super::imported::Imported;
use super::value::Json;
use crate::{Event, Kind, Message, Role, Timestamp, ToolCall};
use serde_json::{Map, Value};

/// What stands in for a result that the other program never wrote down, where that is asked for.
pub const NO_RESULT_RECORDED: &str = "[no result was recorded]";

/// The session that is being made.
#[derive(Default)]
pub(super) struct Draft {
    /// Everything but the events.
    pub(super) session: Imported,
    entries: Vec<Entry>,
    calls: Calls,
}

/// An event, and what belongs directly behind it.
struct Entry {
    event: Event,
    /// One for each call of its message.
    results: Vec<Option<Event>>,
    behind: Vec<Event>,
    /// Calls that got another id, and the one that they had.
    renamed: Map<String, Value>,
    /// Whether a rollback took it.
    gone: bool,
    /// Of a rollback: the first entry that it took.
    back_to: Option<usize>,
}

impl Draft {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of the entry that is added next.
    pub(super) fn next(&self) -> usize {
        self.entries.len()
    }

    /// Adds an event, and gives its number.
    pub(super) fn push(&mut self, event: Event) -> usize {
        self.tick(event.ts);
        let (results, behind, renamed) = (Vec::new(), Vec::new(), Map::new());
        self.entries.push(Entry { event, results, behind, renamed, gone: false, back_to: None });
        self.entries.len() - 1
    }

    fn tick(&mut self, ts: Option<Timestamp>) {
        if self.session.created.is_none() {
            self.session.created = ts;
        }
        if ts > self.session.updated {
            self.session.updated = ts;
        }
    }

    /// An event that was added.
    pub(super) fn event(&mut self, entry: usize) -> &mut Event {
        &mut self.entries[entry].event
    }

    /// The message of an event that was added with one.
    pub(super) fn message(&mut self, entry: usize) -> &mut Message {
        self.entries[entry].event.message.get_or_insert_default()
    }

    /// Whether a rollback took an event that was added.
    pub(super) fn is_gone(&self, entry: usize) -> bool {
        self.entries[entry].gone
    }

    /// Adds an event directly behind the message of an entry and its results.
    pub(super) fn push_behind(&mut self, entry: usize, event: Event) {
        self.entries[entry].behind.push(event);
    }

    /// Adds a call of a function to a message. Arguments that are an object become a JSON text; a text that is no JSON,
    /// as a response that was cut off leaves it, stays, and the event says so.
    ///
    /// The id is made unique: the second `c1` becomes `c1#2`, and the event remembers.
    pub(super) fn call_with(&mut self, entry: usize, id: &str, name: &str, arguments: &Json) {
        let arguments = match arguments {
            Json::Null => "{}".to_owned(),
            Json::Text(text) => {
                if !text.is_empty() && Json::parse(text).is_none() {
                    mark(&mut self.entries[entry].event, flag::ODD_ARGUMENTS);
                }
                text.clone()
            }
            other => other.to_text(),
        };
        let (call_type, name) = ("function".into(), name.into());
        self.call(entry, id, ToolCall { call_type, name, arguments, ..ToolCall::default() });
    }

    fn call(&mut self, entry: usize, original: &str, mut call: ToolCall) {
        let id = self.calls.unique(original);
        if id != original && !original.is_empty() {
            self.entries[entry].renamed.insert(id.clone(), original.into());
        }
        call.id = id.into();
        let slot = self.entries[entry].results.len();
        self.entries[entry].results.push(None);
        self.calls.open(original, &call.name, Place { entry, slot });
        self.message(entry).tool_calls.push(call);
    }

    /// Takes the result of a call: that of the nearest message before it with an open call of that id, and in that message
    /// of the first. A result that nobody asked for stays where it is.
    pub(super) fn result(
        &mut self,
        ts: Option<Timestamp>,
        id: &str,
        message: Message,
        change: impl FnOnce(&mut Event),
    ) {
        let place = self.calls.answer(id);
        self.put_result(ts, id, place, message, change);
    }

    /// Takes a result that names no call: it belongs to the oldest of the tool, or of all, that has none.
    pub(super) fn result_in_order(&mut self, ts: Option<Timestamp>, message: Message, change: impl FnOnce(&mut Event)) {
        match self.calls.answer_in_order(&message.name) {
            Some((id, place)) => self.put_result(ts, &id, Some(place), message, change),
            None => self.put_result(ts, "", None, message, change),
        }
    }

    fn put_result(
        &mut self,
        ts: Option<Timestamp>,
        id: &str,
        place: Option<Place>,
        mut message: Message,
        change: impl FnOnce(&mut Event),
    ) {
        message.role = Role::Tool;
        message.tool_call_id = id.into();
        let Some(Place { entry, slot }) = place else {
            let mut orphan = said(ts, message);
            mark(&mut orphan, flag::ORPHAN);
            change(&mut orphan);
            self.push(orphan);
            return;
        };
        self.tick(ts);
        let call = &self.message(entry).tool_calls[slot];
        let (stored, tool) = (call.id.clone(), call.name.clone());
        if message.name.is_empty() {
            message.name = tool;
        }
        let renamed = *stored != *id && !id.is_empty();
        message.tool_call_id = stored;
        let mut result = said(ts, message);
        if renamed {
            result.x.set(flag::CALL_ID, &id.into());
        }
        change(&mut result);
        self.entries[entry].results[slot] = Some(result);
    }

    /// Changes the model, where it is another one.
    pub(super) fn model(&mut self, ts: Option<Timestamp>, model: &str) {
        if !model.is_empty() && self.session.model != model {
            model.clone_into(&mut self.session.model);
            self.push(Event { model: model.to_owned(), ..event(ts, Kind::Settings) });
        }
    }

    /// Where the last turns begin: at the prompt of a person that is so many from the end, or at the first where there are
    /// fewer. `None` where that is no turn at all.
    pub(super) fn last_turns(&self, turns: u64) -> Option<usize> {
        let is_prompt = |entry: &Entry| !entry.gone && entry.event.prompt().is_some();
        let prompts = self.entries.iter().enumerate().rev().filter(|(_, entry)| is_prompt(entry));
        prompts.map(|(number, _)| number).take(usize::try_from(turns).unwrap_or(usize::MAX)).last()
    }

    /// Takes back the messages from an entry on, with a rollback of as many as they are at last: parts of them may still
    /// come. Where none of them stands, nothing is taken.
    pub(super) fn take_back(&mut self, ts: Option<Timestamp>, from: usize) {
        let taken = &mut self.entries[from..];
        if taken.iter().all(|entry| entry.gone || entry.event.message.is_none()) {
            return;
        }
        taken.iter_mut().for_each(|entry| entry.gone = true);
        // What comes for these calls later is behind the rollback, and belongs to nobody.
        self.calls.forget(|place| self.entries[place.entry].gone);
        let rollback = self.push(event(ts, Kind::Rollback));
        self.entries[rollback].back_to = Some(from);
    }

    /// Keeps a record of a type that is not known.
    pub(super) fn keep(&mut self, record: &Json) {
        self.session.unknown.extend_from_slice(record.to_text().as_bytes());
        self.session.unknown.push(b'\n');
    }

    /// The session. With `repair`, a call without a result gets one that says so.
    pub(super) fn finish(mut self, repair: bool) -> Imported {
        let mut events: Vec<Event> = Vec::with_capacity(self.entries.len());
        // How many messages stand, and how many did where each entry begins.
        let (mut live, mut live_at) = (0, Vec::with_capacity(self.entries.len()));
        for Entry { mut event, results, behind, renamed, gone, back_to } in self.entries {
            let (ts, begin) = (event.ts, events.len());
            live_at.push(live);
            if let Some(from) = back_to {
                event.dropped = live - live_at[from];
                live = live_at[from];
            }
            if !renamed.is_empty() {
                event.x.set(flag::CALL_IDS, &renamed.into());
            }
            let calls = event.message.as_ref().map(|message| message.tool_calls.clone()).unwrap_or_default();
            events.push(event);
            for (call, result) in calls.into_iter().zip(results) {
                let missing = || {
                    let message = Message::tool_result(&call.id, &call.name, NO_RESULT_RECORDED);
                    let mut event = said(ts, message);
                    mark(&mut event, flag::SYNTHETIC);
                    event
                };
                events.extend(result.or_else(|| (repair && !gone).then(missing)));
            }
            events.extend(behind);
            live += events[begin..].iter().map(|event| i64::from(event.message.is_some())).sum::<i64>();
        }
        self.session.events = events;
        self.session
    }
}

#[cfg(test)]
mod tests;
