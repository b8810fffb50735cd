//! A session in the making: messages in the order of the file, results where they belong.

use super::events::{event, flag, mark, said};
use super::imported::Imported;
use super::value::Json;
use crate::{Event, Kind, Message, Role, Timestamp, ToolCall};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What stands in for a result that the other program never wrote down, where that is asked for.
pub const NO_RESULT_RECORDED: &str = "[no result was recorded]";

/// The session that is being made.
#[derive(Default)]
pub(super) struct Draft {
    /// Everything but the events.
    pub(super) session: Imported,
    entries: Vec<Entry>,
    /// Calls without a result by the id in the file, the oldest first.
    open: BTreeMap<String, VecDeque<Place>>,
    /// All calls in their order, for results that name none.
    in_order: VecDeque<(String, Place)>,
    ids: BTreeSet<String>,
}

/// An event, and what belongs directly behind it.
struct Entry {
    event: Event,
    /// One for each call of its message.
    results: Vec<Option<Event>>,
    behind: Vec<Event>,
    /// Whether a rollback took it.
    gone: bool,
}

/// A call: its entry, and its place in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    entry: usize,
    slot: usize,
}

impl Draft {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds an event, and gives its number.
    pub(super) fn push(&mut self, event: Event) -> usize {
        self.tick(event.ts);
        self.entries.push(Entry { event, results: Vec::new(), behind: Vec::new(), gone: false });
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
        let original = original.to_owned();
        let stem = if original.is_empty() { "call".to_owned() } else { original.clone() };
        let mut number = 1_u64;
        let mut id = if original.is_empty() { "call-1".to_owned() } else { stem.clone() };
        while !self.ids.insert(id.clone()) {
            number += 1;
            id = format!("{stem}{}{number}", if original.is_empty() { "-" } else { "#" });
        }
        if id != original && !original.is_empty() {
            let x = &mut self.entries[entry].event.x;
            let mut ids = x.value(flag::CALL_IDS).unwrap_or_else(|| json!({}));
            ids[&id] = original.clone().into();
            x.set(flag::CALL_IDS, &ids);
        }
        call.id = id.into();
        let slot = self.entries[entry].results.len();
        let place = Place { entry, slot };
        self.entries[entry].results.push(None);
        self.message(entry).tool_calls.push(call);
        self.open.entry(original.clone()).or_default().push_back(place);
        self.in_order.push_back((original, place));
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
        let place = self.open.get_mut(id).and_then(|places| {
            let nearest = places.back()?.entry;
            let at = places.iter().position(|place| place.entry == nearest)?;
            places.remove(at)
        });
        self.put_result(ts, id, place, message, change);
    }

    /// Takes a result that names no call: it belongs to the oldest of the tool, or of all, that has none.
    pub(super) fn result_in_order(&mut self, ts: Option<Timestamp>, message: Message, change: impl FnOnce(&mut Event)) {
        self.in_order.retain(|(id, place)| self.open.get(id).is_some_and(|open| open.contains(place)));
        let tool = |place: &Place| self.entries[place.entry].event.message.as_ref()?.tool_calls.get(place.slot);
        let named = |(_, place): &&(String, Place)| tool(place).is_some_and(|call| call.name == message.name);
        let found = if message.name.is_empty() { self.in_order.front() } else { self.in_order.iter().find(named) };
        let Some((id, place)) = found.cloned() else {
            return self.put_result(ts, "", None, message, change);
        };
        if let Some(places) = self.open.get_mut(&id) {
            places.retain(|open| *open != place);
        }
        self.put_result(ts, &id, Some(place), message, change);
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

    /// Takes the last turns back: each from a prompt of a person on.
    pub(super) fn roll_back_turns(&mut self, ts: Option<Timestamp>, turns: u64) {
        let (mut left, mut dropped) = (turns, 0);
        for entry in self.entries.iter_mut().rev() {
            if left == 0 {
                break;
            }
            if entry.gone || entry.event.message.is_none() {
                continue;
            }
            entry.gone = true;
            dropped += 1 + entry.results.iter().flatten().count();
            left -= u64::from(entry.event.prompt().is_some());
        }
        // What comes for these calls later is behind the rollback, and belongs to nobody.
        let entries = &self.entries;
        for places in self.open.values_mut() {
            places.retain(|place| !entries[place.entry].gone);
        }
        let dropped = i64::try_from(dropped).unwrap_or(i64::MAX);
        self.push(Event { dropped, ..event(ts, Kind::Rollback) });
    }

    /// Keeps a record of a type that is not known.
    pub(super) fn keep(&mut self, record: &Json) {
        self.session.unknown.extend_from_slice(record.to_text().as_bytes());
        self.session.unknown.push(b'\n');
    }

    /// The session. With `repair`, a call without a result gets one that says so.
    pub(super) fn finish(mut self, repair: bool) -> Imported {
        let mut events = Vec::with_capacity(self.entries.len());
        for Entry { event, results, behind, gone } in self.entries {
            let ts = event.ts;
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
        }
        self.session.events = events;
        self.session
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(draft: &mut Draft, id: &str, text: &str) {
        draft.result(None, id, Message::new(Role::Tool, text), |_| {});
    }

    /// `role text` or `tool id text`, then the names of what is in `x`.
    fn lines(draft: Draft, repair: bool) -> Vec<String> {
        let line = |event: Event| {
            let x: Vec<&str> = event.x.iter().map(|(name, _)| name).collect();
            let said = event.message.map_or(format!("{} {}", event.kind, event.dropped), |message| {
                let ids: Vec<&str> = message.tool_calls.iter().map(|call| &*call.id).collect();
                format!("{} {}{} {}", message.role, ids.join(","), message.tool_call_id, message.content.text())
            });
            format!("{said} {}", x.join(",")).trim_end().to_owned()
        };
        draft.finish(repair).events.into_iter().map(line).collect()
    }

    #[test]
    fn results_stand_behind_their_message_in_the_order_of_its_calls() {
        let mut draft = Draft::default();
        let asks = draft.push(said(None, Message::assistant("dig")));
        draft.call_with(asks, "a", "Shell", &Json::Null);
        draft.call_with(asks, "b", "Shell", &Json::Null);
        draft.push(said(None, Message::user("faster")));
        result(&mut draft, "b", "second");
        result(&mut draft, "a", "first");
        assert_eq!(lines(draft, false), ["assistant a,b dig", "tool a first", "tool b second", "user  faster"]);
    }

    #[test]
    fn a_repeated_id_is_paired_with_the_nearest_open_call_and_made_unique() {
        let mut draft = Draft::default();
        for text in ["one", "two"] {
            let asks = draft.push(said(None, Message::assistant(text)));
            draft.call_with(asks, "c", "Shell", &Json::Null);
        }
        result(&mut draft, "c", "of two");
        result(&mut draft, "c", "of one");
        result(&mut draft, "c", "of nobody");
        let expected = [
            "assistant c one",
            "tool c of one",
            "assistant c#2 two call_ids",
            "tool c#2 of two call_id",
            "tool c of nobody orphan",
        ];
        assert_eq!(lines(draft, false), expected);
    }

    #[test]
    fn a_result_without_an_id_belongs_to_the_oldest_call_of_its_tool() {
        let mut draft = Draft::default();
        let asks = draft.push(said(None, Message::assistant("")));
        draft.call_with(asks, "", "Read", &Json::Null);
        draft.call_with(asks, "", "Shell", &Json::Null);
        let named = Message { name: "Shell".into(), ..Message::new(Role::Tool, "of the shell") };
        draft.result_in_order(None, named, |_| {});
        draft.result_in_order(None, Message::new(Role::Tool, "of the other"), |_| {});
        draft.result_in_order(None, Message::new(Role::Tool, "of nobody"), |_| {});
        let expected = [
            "assistant call-1,call-2",
            "tool call-1 of the other",
            "tool call-2 of the shell",
            "tool  of nobody orphan",
        ];
        assert_eq!(lines(draft, false), expected);
    }

    #[test]
    fn a_rollback_counts_the_messages_of_the_turns_that_it_takes() {
        let mut draft = Draft::default();
        draft.push(said(None, Message::user("one")));
        draft.push(said(None, Message::user("two")));
        draft.push(said(None, Message::user("<system-reminder>be kind</system-reminder>")));
        let asks = draft.push(said(None, Message::assistant("dig")));
        draft.call_with(asks, "a", "Shell", &Json::Null);
        result(&mut draft, "a", "dug");
        draft.roll_back_turns(None, 1);
        result(&mut draft, "a", "late");
        draft.roll_back_turns(None, 1);
        let rollbacks: Vec<String> = lines(draft, true).into_iter().filter(|line| line.starts_with("roll")).collect();
        assert_eq!(rollbacks, ["rollback 4", "rollback 2"]);
    }

    #[test]
    fn with_repair_a_call_without_a_result_gets_one_that_says_so() {
        let mut draft = Draft::default();
        let asks = draft.push(said(None, Message::assistant("dig")));
        draft.call_with(asks, "a", "Shell", &Json::Null);
        draft.push(said(None, Message::user("stop")));
        let expected = ["assistant a dig", "tool a [no result was recorded] synthetic", "user  stop"];
        assert_eq!(lines(draft, true), expected);
    }
}
