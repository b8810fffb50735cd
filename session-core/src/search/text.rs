//! The texts of an event that can be searched, and a choice of them.

use crate::json::{Cursor, Malformed, Shape};
use crate::members::each_text_of_parts;
use crate::{Content, Event, Message, Role, ToolCall};
use std::borrow::Cow;

/// What a text of an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextKind {
    /// What the user said.
    User,
    /// What the assistant said.
    Assistant,
    /// The assistant's reasoning.
    Reasoning,
    /// A tool's result.
    Tool,
    /// The arguments of a call.
    Args,
    /// A notice.
    Notice,
    /// What anybody else said: standing instructions, and roles that this version does not know.
    System,
}

impl TextKind {
    /// All of them.
    pub const ALL: [TextKind; 7] = [
        TextKind::User,
        TextKind::Assistant,
        TextKind::Reasoning,
        TextKind::Tool,
        TextKind::Args,
        TextKind::Notice,
        TextKind::System,
    ];

    /// A stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            TextKind::User => "user",
            TextKind::Assistant => "assistant",
            TextKind::Reasoning => "reasoning",
            TextKind::Tool => "tool",
            TextKind::Args => "args",
            TextKind::Notice => "notice",
            TextKind::System => "system",
        }
    }

    fn of(role: &Role) -> Self {
        match role {
            Role::User => TextKind::User,
            Role::Assistant => TextKind::Assistant,
            Role::Tool => TextKind::Tool,
            Role::System | Role::Missing | Role::Other(_) => TextKind::System,
        }
    }
}

/// Which texts are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    kinds: Vec<TextKind>,
    tool: Option<String>,
}

impl Default for Scope {
    /// Everything.
    fn default() -> Self {
        Scope::of(&TextKind::ALL)
    }
}

impl Scope {
    /// Texts of these kinds.
    pub fn of(kinds: &[TextKind]) -> Self {
        Scope { kinds: kinds.to_vec(), tool: None }
    }

    /// Of these only what belongs to a tool of this name: its results, and the arguments of its calls. The case of ASCII
    /// letters is ignored.
    #[must_use]
    pub fn of_tool(self, name: impl Into<String>) -> Self {
        Scope { tool: Some(name.into()), ..self }
    }

    fn takes(&self, text: &Text<'_>) -> bool {
        let is_of_tool = |wanted: &String| text.tool.is_some_and(|tool| tool.eq_ignore_ascii_case(wanted));
        self.kinds.contains(&text.kind) && self.tool.as_ref().is_none_or(is_of_tool)
    }
}

/// One text of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) kind: TextKind,
    /// The tool that it belongs to.
    pub(super) tool: Option<&'a str>,
    pub(super) text: &'a str,
}

impl Scope {
    /// Gives the texts of an event that are in the scope; `each` says whether it found something in one. No two strings
    /// of the file are joined to one text: whoever looks for a text in the raw bytes would not find it.
    ///
    /// `may_hide` says whether raw JSON may hold what is looked for: texts inside the arguments of calls are decoded only
    /// then.
    pub(super) fn texts(&self, event: &Event, may_hide: impl Fn(&str) -> bool, mut each: impl FnMut(Text<'_>) -> bool) {
        let mut give = |text: Text<'_>| !text.text.is_empty() && self.takes(&text) && each(text);
        give(Text { kind: TextKind::Notice, tool: None, text: &event.text });
        let Some(message) = &event.message else { return };
        give(Text { kind: TextKind::Reasoning, tool: None, text: &message.reasoning_content });
        let kind = TextKind::of(&message.role);
        let tool = (kind == TextKind::Tool).then(|| tool(event, message));
        match &message.content {
            Content::Text(text) => drop(give(Text { kind, tool, text })),
            Content::Parts(parts) => each_text_of_parts(parts.as_json(), |text| {
                give(Text { kind, tool, text });
            }),
        }
        for call in &message.tool_calls {
            arguments(call, &may_hide, |text| give(Text { kind: TextKind::Args, tool: Some(&call.name), text }));
        }
    }
}

fn tool<'a>(event: &'a Event, message: &'a Message) -> &'a str {
    if event.tool.is_empty() { &message.name } else { &event.tool }
}

/// The arguments as the model wrote them. Where nothing is found there and they are JSON, then each string in them that is
/// written with an escape, until something is found: the code in them is a text, and not JSON.
fn arguments(call: &ToolCall, may_hide: impl Fn(&str) -> bool, mut give: impl FnMut(&str) -> bool) {
    if give(&call.arguments) || !call.arguments.contains('\\') || !may_hide(&call.arguments) {
        return;
    }
    let mut found = false;
    let mut cursor = Cursor::new(call.arguments.as_bytes());
    match strings(&mut cursor, MAX_DEPTH, &mut |text| found = found || give(text)) {
        // Arguments that are no JSON have given what could be read of them.
        Ok(()) | Err(Malformed { .. }) => {}
    }
}

/// How deep arguments are looked into.
const MAX_DEPTH: u32 = 64;

fn strings(cursor: &mut Cursor<'_>, depth: u32, give: &mut dyn FnMut(&str)) -> Result<(), Malformed> {
    match cursor.shape()? {
        Shape::String => {
            if let Cow::Owned(text) = cursor.string()? {
                give(&text);
            }
            Ok(())
        }
        Shape::Array if depth > 0 => cursor.array(|cursor| strings(cursor, depth - 1, give)),
        Shape::Object if depth > 0 => cursor.object(|cursor, _| strings(cursor, depth - 1, give)),
        _ => cursor.skip().map(drop),
    }
}
