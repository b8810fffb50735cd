//! A message of the conversation, as model endpoints exchange it and the history stores it.

use crate::json::{self, Cursor, Shape};
use crate::{Fields, ThinVec};
use std::borrow::Cow;
use std::fmt;

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[doc(alias = "llm.Message")]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
    /// The model's reasoning, where the endpoint gives it. Read from `reasoning` too, when `reasoning_content` is empty.
    pub reasoning_content: Box<str>,
    /// The tool that a result comes from, or a participant's name.
    pub name: Box<str>,
    /// The calls that an assistant message asks for.
    pub tool_calls: ThinVec<ToolCall>,
    /// The call that a tool's message answers.
    pub tool_call_id: Box<str>,
    /// Pictures that belong to the message. Their bytes are in files, not in the history.
    pub images: ThinVec<Image>,
    /// Members of the message that this version has no name for.
    pub extra: Fields,
}

impl Message {
    /// A message of a role with a text and nothing else.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Message { role, content: Content::Text(text.into()), ..Message::default() }
    }

    /// A message of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Message::new(Role::User, text)
    }

    /// A message of the assistant.
    pub fn assistant(text: impl Into<String>) -> Self {
        Message::new(Role::Assistant, text)
    }

    /// A tool's answer to a call.
    pub fn tool_result(call_id: &str, tool: &str, text: impl Into<String>) -> Self {
        Message { name: tool.into(), tool_call_id: call_id.into(), ..Message::new(Role::Tool, text) }
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Role {
    /// Standing instructions.
    System,
    /// The person, or the program that speaks for one.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
    /// None, or the empty string.
    #[default]
    Missing,
    /// A role that this version does not know, and not the empty string: `Role::from` makes one.
    // So rare a word should not make every message larger.
    Other(Box<String>),
}

impl Role {
    /// The role's name in the file.
    pub fn as_str(&self) -> &str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Missing => "",
            Role::Other(name) => name,
        }
    }
}

impl From<Cow<'_, str>> for Role {
    fn from(name: Cow<'_, str>) -> Self {
        match &*name {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            "" => Role::Missing,
            _ => Role::Other(Box::new(name.into_owned())),
        }
    }
}

impl From<&str> for Role {
    fn from(name: &str) -> Self {
        Role::from(Cow::Borrowed(name))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a message says: a text, or the list of typed parts that some endpoints use, untouched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A text.
    Text(String),
    /// A list of parts, as it was written.
    Parts(Parts),
}

/// A list of typed parts: the text of a JSON array on one line.
///
/// ```
/// use session_core::{Content, Parts};
/// let parts = Parts::new(r#"[{"type":"text","text":"three "},{"type":"text","text":"oaks"}]"#).expect("it is a list");
/// assert_eq!(Content::Parts(parts).text(), "three oaks");
/// assert_eq!(Parts::new("three oaks"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts(Box<str>);

impl Parts {
    /// Takes a JSON array; `None` if the text is none. Line breaks between its tokens are taken out, everything else
    /// stays as it is.
    pub fn new(text: &str) -> Option<Self> {
        let mut cursor = Cursor::new(text.as_bytes());
        let list = cursor.shape() == Ok(Shape::Array) && cursor.skip().is_ok() && cursor.end().is_ok();
        list.then(|| Parts::of_valid(text.trim().into()))
    }

    /// Takes the text of an array that has been read.
    pub(crate) fn of_valid(text: Cow<'_, str>) -> Self {
        Parts(if text.contains(['\r', '\n']) { json::compact(&text).into() } else { text.into() })
    }

    /// The JSON text.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

impl Content {
    /// What the reference reads: the text, or the texts of the parts of type `text`, joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Content::Text(text) => Cow::Borrowed(text),
            Content::Parts(parts) => Cow::Owned(crate::members::text_of_parts(parts.as_json())),
        }
    }

    /// Whether [`Content::text`] is empty.
    pub fn is_empty(&self) -> bool {
        self.text().is_empty()
    }
}

impl Default for Content {
    fn default() -> Self {
        Content::Text(String::new())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::Text(text)
    }
}

/// A call of a tool that the model asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCall {
    /// The id that the result refers to.
    pub id: Box<str>,
    /// The type of call, `function` as a rule.
    pub call_type: Box<str>,
    /// The tool's name.
    pub name: Box<str>,
    /// The arguments, as the model wrote them: JSON as a rule, but nothing is checked.
    pub arguments: String,
    /// Members of the call that this version has no name for.
    pub extra: Fields,
    /// The same for the call's `function` object.
    pub function_extra: Fields,
}

/// A picture that belongs to a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Image {
    /// The file that holds it.
    pub path: String,
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// Width in pixels; 0 where it is not known.
    pub width: i64,
    /// Height in pixels; 0 where it is not known.
    pub height: i64,
    /// Size of the file in bytes; 0 where it is not known.
    pub size: i64,
    /// Members that this version has no name for.
    pub extra: Fields,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_a_content_that_says_it() {
        let wanted = Content::Text("three oaks".to_owned());
        assert_eq!([Content::from("three oaks"), Content::from("three oaks".to_owned())], [wanted.clone(), wanted]);
        assert_eq!(Content::from(""), Content::default());
    }

    #[test]
    fn a_role_is_called_what_it_was_made_of() {
        for (name, role) in [
            ("system", Role::System),
            ("user", Role::User),
            ("assistant", Role::Assistant),
            ("tool", Role::Tool),
            ("", Role::Missing),
            ("gardener", Role::Other(Box::new("gardener".into()))),
        ] {
            assert_eq!(Role::from(name), role);
            assert_eq!((role.as_str(), role.to_string().as_str()), (name, name));
        }
    }
}
