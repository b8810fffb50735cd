//! The event object, and the bare message that old files have instead.

use super::message::{is_role, message};
use crate::json::{Cursor, Malformed, Shape};
use crate::members::{Member, Notes, Weight, find};
use crate::time::{is_zero_time, parse_time};
use crate::{Event, Fault, Fields, Kind};

/// What one JSON text gives.
#[derive(Debug)]
pub(super) enum Decoded {
    /// `null`: the reference passes over it in silence.
    Nothing,
    /// An event, and what had to be repaired in it.
    Event(Box<Event>, Option<Fault>),
    /// Whole JSON that is no event.
    Skipped { fault: Fault, rollback: bool },
}

/// No JSON.
#[derive(Debug, Clone, Copy)]
pub(super) struct Broken {
    pub(super) malformed: Malformed,
    /// Whether what could be read before the break says that it would have been a rollback.
    pub(super) rollback: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Ts,
    Kind,
    Message,
    Tool,
    Ms,
    Text,
    Model,
    MergeThinking,
    Tools,
    Dropped,
}

const KEYS: [(&str, Key); 10] = [
    ("ts", Key::Ts),
    ("kind", Key::Kind),
    ("message", Key::Message),
    ("tool", Key::Tool),
    ("ms", Key::Ms),
    ("text", Key::Text),
    ("model", Key::Model),
    ("merge_thinking", Key::MergeThinking),
    ("tools", Key::Tools),
    ("dropped", Key::Dropped),
];

/// Reads one JSON text that should be an event.
pub(super) fn event(bytes: &[u8], bodies: bool) -> Result<Decoded, Broken> {
    let mut event = Box::new(Event::default());
    let read = read(bytes, bodies, &mut event);
    let rollback = event.kind == Kind::Rollback;
    match read {
        Err(malformed) => Err(Broken { malformed, rollback }),
        Ok(Read::Nothing) => Ok(Decoded::Nothing),
        Ok(Read::Event(Notes { skipped: Some(fault), .. })) => Ok(Decoded::Skipped { fault, rollback }),
        Ok(Read::Event(Notes { repaired, .. })) => Ok(Decoded::Event(event, repaired)),
    }
}

enum Read {
    Nothing,
    Event(Notes),
}

fn read(bytes: &[u8], bodies: bool, event: &mut Event) -> Result<Read, Malformed> {
    let mut cursor = cursor(bytes, bodies);
    match cursor.shape()? {
        Shape::Object => {}
        shape => {
            cursor.skip()?;
            cursor.end()?;
            return Ok(match shape {
                Shape::Null => Read::Nothing,
                _ => Read::Event(Notes { skipped: Some(Fault::NotAnObject), repaired: None }),
            });
        }
    }
    let mut notes = Notes::default();
    let mut has_role = false;
    cursor.object(|cursor, key| {
        if let Some(name) = find(&KEYS, &key) {
            return member(cursor, &mut notes, name, event);
        }
        if key == "x" && cursor.shape()? == Shape::Object {
            return ours(cursor, &mut event.x);
        }
        has_role |= is_role(&key);
        let value = cursor.skip()?;
        if cursor.keeps() {
            event.extra.push(key.into_owned(), &cursor.text_of(value));
        }
        Ok(())
    })?;
    cursor.end()?;
    notes.take_lossy(&cursor);
    if event.kind.is_none() && event.message.is_none() && has_role {
        bare(bytes, bodies, event, &mut notes)?;
    }
    Ok(Read::Event(notes))
}

fn cursor(bytes: &[u8], bodies: bool) -> Cursor<'_> {
    let cursor = Cursor::new(bytes);
    if bodies { cursor } else { cursor.without_bodies() }
}

fn member(cursor: &mut Cursor<'_>, notes: &mut Notes, name: Key, event: &mut Event) -> Result<(), Malformed> {
    let member = Member::new(cursor, notes);
    match name {
        Key::Ts => time(member.side("ts"), event),
        Key::Kind => member.vital("kind").word_into(&mut event.kind),
        Key::Message => said(member.vital("message"), event),
        Key::Tool => member.side("tool").string_into(&mut event.tool),
        Key::Ms => member.side("ms").integer_into(&mut event.ms),
        Key::Text => member.side("text").string_into(&mut event.text),
        Key::Model => member.side("model").string_into(&mut event.model),
        Key::MergeThinking => member.side("merge_thinking").bool_into(&mut event.merge_thinking),
        Key::Tools => member.side("tools").list_into(&mut event.tools, |cursor, tool| match cursor.shape()? {
            Shape::String => cursor.string().map(|text| {
                *tool = text.into_owned();
                true
            }),
            shape => cursor.skip().map(|_| shape == Shape::Null),
        }),
        Key::Dropped => member.vital("dropped").integer_into(&mut event.dropped),
    }
}

/// The member `message`: the last of several, whole.
fn said(member: Member<'_, '_, '_>, event: &mut Event) -> Result<(), Malformed> {
    match member.cursor.shape()? {
        Shape::Object => {
            event.message = Some(Box::new(message(member.cursor, member.notes, |_| false)?));
            Ok(())
        }
        Shape::Null => {
            event.message = None;
            member.cursor.skip().map(drop)
        }
        _ => member.wrong_type(),
    }
}

fn time(member: Member<'_, '_, '_>, event: &mut Event) -> Result<(), Malformed> {
    match member.cursor.shape()? {
        Shape::String => {
            let text = member.cursor.word()?;
            event.ts = parse_time(&text);
            if event.ts.is_none() {
                member.notes.wrong(Weight::Side, "ts");
            }
            event.ts.take_if(|ts| is_zero_time(ts));
            Ok(())
        }
        Shape::Null => member.cursor.skip().map(drop),
        _ => member.wrong_type(),
    }
}

/// The member `x`: its members, as text. The last `x` of several wins whole.
fn ours(cursor: &mut Cursor<'_>, x: &mut Fields) -> Result<(), Malformed> {
    *x = Fields::new();
    cursor.object(|cursor, key| {
        let value = cursor.skip()?;
        if cursor.keeps() {
            x.push(key.into_owned(), &cursor.text_of(value));
        }
        Ok(())
    })
}

/// A line without kind and message that has a role may itself be a message. It is read again as one.
fn bare(bytes: &[u8], bodies: bool, event: &mut Event, notes: &mut Notes) -> Result<(), Malformed> {
    let mut cursor = cursor(bytes, bodies);
    cursor.shape()?;
    let message = message(&mut cursor, notes, |key| key == "x" || find(&KEYS, key).is_some())?;
    notes.take_lossy(&cursor);
    if !message.role.as_str().is_empty() {
        event.message = Some(Box::new(message));
        // They are the message's now, all but an `x` that is no object of ours.
        event.extra.retain(|name| name == "x");
    }
    Ok(())
}
