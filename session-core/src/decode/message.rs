//! The message object.

use crate::json::{Cursor, Malformed, Shape};
use crate::members::{Member, Notes, find, record};
use crate::{Content, Fields, Image, Message, Parts, ThinVec, ToolCall};
use std::mem::take;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Role,
    Content,
    ReasoningContent,
    Reasoning,
    Name,
    ToolCalls,
    ToolCallId,
    Images,
}

const KEYS: [(&str, Key); 8] = [
    ("role", Key::Role),
    ("content", Key::Content),
    ("tool_call_id", Key::ToolCallId),
    ("tool_calls", Key::ToolCalls),
    ("name", Key::Name),
    ("reasoning_content", Key::ReasoningContent),
    ("reasoning", Key::Reasoning),
    ("images", Key::Images),
];

/// Whether a key names the role, which makes an object without a kind a message.
pub(super) fn is_role(key: &str) -> bool {
    find(&KEYS, key) == Some(Key::Role)
}

/// A message, where the cursor stands before an object. Members whose key `not_ours` claims are passed over.
pub(super) fn message<'a>(
    cursor: &mut Cursor<'a>,
    notes: &mut Notes,
    not_ours: impl Fn(&str) -> bool,
) -> Result<Message, Malformed> {
    let mut message = Message::default();
    let mut reasoning: Box<str> = "".into();
    cursor.object(|cursor, key| {
        let Some(name) = find(&KEYS, &key) else {
            let value = cursor.skip()?;
            if !not_ours(&key) && cursor.keeps() {
                message.extra.push(key.into_owned(), &cursor.text_of(value));
            }
            return Ok(());
        };
        let member = Member::new(cursor, &mut *notes);
        match name {
            Key::Role => member.vital("role").word_into(&mut message.role),
            Key::Content => content(member.vital("content"), &mut message.content),
            Key::ReasoningContent => member.side("reasoning_content").string_into(&mut message.reasoning_content),
            Key::Reasoning => member.side("reasoning").string_into(&mut reasoning),
            Key::Name => member.side("name").string_into(&mut message.name),
            Key::ToolCallId => member.vital("tool_call_id").string_into(&mut message.tool_call_id),
            Key::ToolCalls => list(member.vital("tool_calls"), &mut message.tool_calls, tool_call),
            Key::Images => list(member.side("images"), &mut message.images, image),
        }
    })?;
    if message.reasoning_content.is_empty() {
        message.reasoning_content = reasoning;
    }
    Ok(message)
}

fn content(member: Member<'_, '_, '_>, to: &mut Content) -> Result<(), Malformed> {
    match member.cursor.shape()? {
        Shape::String => member.cursor.string().map(|text| *to = Content::Text(text.into_owned())),
        Shape::Array => {
            let parts = member.cursor.skip()?;
            if member.cursor.keeps() {
                *to = Content::Parts(Parts::of_valid(member.cursor.text_of(parts)));
            }
            Ok(())
        }
        Shape::Null => member.cursor.skip().map(drop),
        Shape::Bool | Shape::Number | Shape::Object => member.wrong_type(),
    }
}

/// As [`Member::list_into`].
fn list<'a, T: Default>(
    member: Member<'_, 'a, '_>,
    to: &mut ThinVec<T>,
    element: impl FnMut(&mut Cursor<'a>, &mut T) -> Result<bool, Malformed>,
) -> Result<(), Malformed> {
    let mut elements = Vec::from(take(to));
    member.list_into(&mut elements, element)?;
    *to = elements.into();
    Ok(())
}

fn tool_call<'a>(cursor: &mut Cursor<'a>, to: &mut ToolCall) -> Result<bool, Malformed> {
    const KEYS: [(&str, u8); 3] = [("id", 0), ("type", 1), ("function", 2)];
    let ToolCall { id, call_type, name, arguments, extra, function_extra } = to;
    let mut right = true;
    let members = record(cursor, extra, |cursor, notes, key| {
        let member = Member::new(cursor, notes).vital("tool_calls");
        Some(match find(&KEYS, key)? {
            0 => member.string_into(id),
            1 => member.string_into(call_type),
            _ => function(member.cursor, name, arguments, function_extra).map(|read| right &= read),
        })
    })?;
    Ok(members && right)
}

fn function<'a>(
    cursor: &mut Cursor<'a>,
    name: &mut Box<str>,
    arguments: &mut String,
    extra: &mut Fields,
) -> Result<bool, Malformed> {
    const KEYS: [(&str, u8); 2] = [("name", 0), ("arguments", 1)];
    record(cursor, extra, |cursor, notes, key| {
        let member = Member::new(cursor, notes).vital("tool_calls");
        Some(match find(&KEYS, key)? {
            0 => member.string_into(name),
            _ => member.string_into(arguments),
        })
    })
}

fn image<'a>(cursor: &mut Cursor<'a>, to: &mut Image) -> Result<bool, Malformed> {
    const KEYS: [(&str, u8); 5] = [("path", 0), ("media_type", 1), ("width", 2), ("height", 3), ("size", 4)];
    let Image { path, media_type, width, height, size, extra } = to;
    record(cursor, extra, |cursor, notes, key| {
        let member = Member::new(cursor, notes).vital("images");
        Some(match find(&KEYS, key)? {
            0 => member.string_into(path),
            1 => member.string_into(media_type),
            2 => member.integer_into(width),
            3 => member.integer_into(height),
            _ => member.integer_into(size),
        })
    })
}
