//! From events and messages to the bytes that the reference writes.

use crate::json::{push_integer, push_list, push_string};
use crate::time::{ZERO_TIME, push_time};
use crate::{Content, Event, Image, Message, ToolCall};

impl Event {
    /// Appends the event's line, newline included, to `out`.
    ///
    /// For every event that the reference can express the bytes equal the reference's: its order of members, empty
    /// ones left out, its escaping. Unknown members follow, and this project's own member `x` comes last. An event
    /// without a kind is written as a message, one without a time with the zero time `0001-01-01T00:00:00Z`.
    ///
    /// The length is not checked. The reference cannot read a session with a line of
    /// [`crate::layout::MAX_REFERENCE_LINE`] bytes (10 MiB) or more, its newline not counted.
    ///
    /// ```
    /// use session_core::{Event, Message, parse_time};
    /// let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
    /// let mut line = Vec::new();
    /// Event::message(ts, Message::user("plant <3> oaks")).encode(&mut line);
    /// assert_eq!(
    ///     String::from_utf8_lossy(&line),
    ///     r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"plant \u003c3\u003e oaks"}}"#.to_owned() + "\n",
    /// );
    /// ```
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"ts\":\"");
        match &self.ts {
            Some(ts) => push_time(out, ts),
            None => out.extend_from_slice(ZERO_TIME.as_bytes()),
        }
        out.extend_from_slice(b"\",\"kind\":");
        push_string(out, if self.kind.is_none() { "message" } else { self.kind.as_str() });
        if let Some(message) = &self.message {
            out.extend_from_slice(b",\"message\":");
            message.push(out, Form::Whole);
        }
        member(out, "tool", &self.tool);
        number(out, "ms", self.ms);
        member(out, "text", &self.text);
        member(out, "model", &self.model);
        if let Some(merge) = self.merge_thinking {
            out.extend_from_slice(if merge { b",\"merge_thinking\":true" } else { b",\"merge_thinking\":false" });
        }
        if !self.tools.is_empty() {
            out.extend_from_slice(b",\"tools\":");
            push_list(out, &self.tools, |out, tool| push_string(out, tool));
        }
        number(out, "dropped", self.dropped);
        self.extra.push_members(out);
        if !self.x.is_empty() {
            out.extend_from_slice(b",\"x\":{");
            self.x.push_members(out);
            out.push(b'}');
        }
        out.extend_from_slice(b"}\n");
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Everything, content parts and unknown members included.
    Whole,
    /// What the reference knows, with the content as it reads it.
    Reference,
}

impl Message {
    /// The message as one line of JSON without a newline: all its members, in the format's order. These are not the bytes
    /// that it was read from.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.push(&mut out, Form::Whole);
        out
    }

    /// The message as the reference prints it: its own members only, and the content as a text.
    pub fn to_reference_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.push(&mut out, Form::Reference);
        out
    }

    fn push(&self, out: &mut Vec<u8>, form: Form) {
        out.extend_from_slice(b"{\"role\":");
        push_string(out, self.role.as_str());
        match (&self.content, form) {
            (Content::Parts(parts), Form::Whole) => {
                out.extend_from_slice(b",\"content\":");
                out.extend_from_slice(parts.as_json().as_bytes());
            }
            (content, _) => member(out, "content", &content.text()),
        }
        member(out, "reasoning_content", &self.reasoning_content);
        member(out, "name", &self.name);
        if !self.tool_calls.is_empty() {
            out.extend_from_slice(b",\"tool_calls\":");
            push_list(out, &self.tool_calls, |out, call| call.push(out, form));
        }
        member(out, "tool_call_id", &self.tool_call_id);
        if !self.images.is_empty() {
            out.extend_from_slice(b",\"images\":");
            push_list(out, &self.images, |out, image| image.push(out, form));
        }
        if form == Form::Whole {
            self.extra.push_members(out);
        }
        out.push(b'}');
    }
}

impl ToolCall {
    fn push(&self, out: &mut Vec<u8>, form: Form) {
        out.extend_from_slice(b"{\"id\":");
        push_string(out, &self.id);
        out.extend_from_slice(b",\"type\":");
        push_string(out, &self.call_type);
        out.extend_from_slice(b",\"function\":{\"name\":");
        push_string(out, &self.name);
        out.extend_from_slice(b",\"arguments\":");
        push_string(out, &self.arguments);
        if form == Form::Whole {
            self.function_extra.push_members(out);
        }
        out.push(b'}');
        if form == Form::Whole {
            self.extra.push_members(out);
        }
        out.push(b'}');
    }
}

impl Image {
    fn push(&self, out: &mut Vec<u8>, form: Form) {
        out.push(b'{');
        let start = out.len();
        member(out, "path", &self.path);
        member(out, "media_type", &self.media_type);
        number(out, "width", self.width);
        number(out, "height", self.height);
        number(out, "size", self.size);
        if out.len() > start {
            // Every member brought its comma; the first one needs none.
            out.remove(start);
        }
        if form == Form::Whole {
            self.extra.push_members(out);
        }
        out.push(b'}');
    }
}

/// `,"name":"text"`, unless the text is empty.
fn member(out: &mut Vec<u8>, name: &str, text: &str) {
    if !text.is_empty() {
        push_name(out, name);
        push_string(out, text);
    }
}

/// `,"name":n`, unless n is 0.
fn number(out: &mut Vec<u8>, name: &str, n: i64) {
    if n != 0 {
        push_name(out, name);
        push_integer(out, n);
    }
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}
