//! A conversation as the reference shows it.

use crate::{Message, Role};
use std::fmt::Write as _;

/// Content of more bytes than this is cut.
const SHOWN_BYTES: usize = 500;

/// A session as the reference's show prints it, byte for byte, except that a cut never splits a character: a name and
/// count, the title if there is one, and each message; content over 500 bytes is cut to 497 and an ellipsis of three
/// dots.
#[doc(alias = "ShowSession")]
pub fn reference_show(name: &str, title: &str, messages: &[Message]) -> String {
    let mut out = format!("Session: {name} ({} messages)\n", messages.len());
    if !title.is_empty() {
        push(&mut out, format_args!("Title: {title}\n"));
    }
    push(&mut out, format_args!("{}\n\n", "─".repeat(50)));
    for message in messages {
        let content = message.content.text();
        match message.role {
            Role::System => out.push_str("[system] (omitted)\n\n"),
            Role::User => push(&mut out, format_args!("[user]\n{}\n\n", cut(&content))),
            Role::Assistant => {
                push(&mut out, format_args!("[assistant]\n{}", cut(&content)));
                if !message.tool_calls.is_empty() {
                    push(&mut out, format_args!(" (+ {} tool calls)", message.tool_calls.len()));
                }
                out.push_str("\n\n");
            }
            Role::Tool => push(&mut out, format_args!("[tool: {}] (result omitted)\n\n", message.name)),
            Role::Missing | Role::Other(_) => {}
        }
    }
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

fn cut(content: &str) -> String {
    if content.len() <= SHOWN_BYTES {
        return content.to_owned();
    }
    format!("{}...", &content[..content.floor_char_boundary(SHOWN_BYTES - 3)])
}
