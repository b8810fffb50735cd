//! A call of a tool on one line: what ran, how it ended, how long it took, how much it said; folded inside, all of it.

use super::ansi::Styled;
use super::folded;
use super::members::Members;
use super::words::{counted, span};
use crate::output::escape::{Layout, escaped};
use maud::{Markup, html};
use serde_json::Value;
use session_core::interop::export::Entry;
use session_core::{Message, ToolCall, is_failure};

/// Members that say best what a call does, the best first.
const TELLING: [&str; 14] = [
    "command",
    "cmd",
    "script",
    "pattern",
    "query",
    "file_path",
    "path",
    "filename",
    "url",
    "description",
    "prompt",
    "name",
    "input",
    "code",
];
/// Members whose text was there before a change, and after it.
const BEFORE: [&str; 3] = ["old_string", "old_str", "old"];
const AFTER: [&str; 3] = ["new_string", "new_str", "new"];
/// So much of what ran is on the line, in characters.
const SUMMARY: usize = 160;

/// A call and its result.
pub(super) fn call(call: &ToolCall, result: Option<&Entry>) -> Markup {
    let arguments = Arguments::of(&call.arguments);
    let ending = Ending::of(result);
    html! {
        details class={ "call " (ending.class()) } data-kind="tool" {
            summary {
                span class="tool" { (shown(&call.name, "(no name)")) }
                " "
                span class="ran" { (arguments.summary()) }
                " "
                (ending.markup())
            }
            div class="inside" {
                h4 { "Called with" @if !call.id.is_empty() { " " span class="id" { (escaped(&call.id, Layout::OneLine)) } } }
                (arguments.markup())
                @if let Some(message) = result.and_then(|entry| entry.event.message.as_deref()) {
                    h4 { "Result" }
                    (output(message))
                }
            }
        }
    }
}

/// A result without a call.
pub(super) fn stray(entry: &Entry) -> Markup {
    let Some(message) = entry.event.message.as_deref() else { return html! {} };
    let name = if message.name.is_empty() { &*entry.event.tool } else { &message.name };
    let ending = Ending::of(Some(entry));
    html! {
        details class={ "call " (ending.class()) } data-kind="tool" {
            summary {
                span class="tool" { (shown(name, "(no name)")) }
                " "
                span class="ran" { "a result without its call" }
                " "
                (ending.markup())
            }
            div class="inside" { h4 { "Result" } (output(message)) }
        }
    }
}

fn output(message: &Message) -> Markup {
    let text = message.content.text();
    html! {
        @if text.is_empty() { p class="nothing" { "(nothing)" } }
        @else { (folded::text(&Styled::of(&text), "output")) }
        (super::media::pictures(message))
    }
}

fn shown(name: &str, missing: &str) -> String {
    if name.trim().is_empty() { missing.to_owned() } else { escaped(name, Layout::OneLine).into_owned() }
}

/// How a call ended.
struct Ending {
    word: &'static str,
    ms: Option<u64>,
    lines: Option<u64>,
}

impl Ending {
    fn of(result: Option<&Entry>) -> Self {
        let Some(entry) = result else { return Ending { word: "no result", ms: None, lines: None } };
        let text = entry.event.message.as_deref().map(|message| message.content.text().lines().count() as u64);
        Ending {
            word: if is_failure(&entry.event) { "failed" } else { "ok" },
            ms: u64::try_from(entry.event.ms).ok().filter(|ms| *ms > 0),
            lines: text,
        }
    }

    fn class(&self) -> &'static str {
        match self.word {
            "ok" => "ok",
            "failed" => "failed",
            _ => "open",
        }
    }

    fn markup(&self) -> Markup {
        html! {
            span class="ending" {
                span class="word" { (self.word) }
                @if let Some(ms) = self.ms { " " span class="took" { (span(ms)) } }
                @if let Some(lines) = self.lines { " " span class="size" { (counted(lines, "line", "lines")) } }
            }
        }
    }
}

/// What a tool was given.
enum Arguments<'a> {
    /// An object, as nearly every tool takes one, and its text.
    Members(Vec<(String, Value)>, &'a str),
    /// Whatever else the model wrote.
    Text(&'a str),
}

impl<'a> Arguments<'a> {
    fn of(text: &'a str) -> Self {
        serde_json::from_str(text).map_or(Arguments::Text(text), |Members(members)| Arguments::Members(members, text))
    }

    /// The one that says best what the call does, on a line.
    fn summary(&self) -> String {
        let text = match self {
            Arguments::Text(text) => (*text).to_owned(),
            Arguments::Members(members, given) => {
                let member = |name: &&str| members.iter().find(|(known, _)| known == *name);
                let telling = TELLING.iter().find_map(member).or_else(|| members.iter().find(|(_, it)| it.is_string()));
                match (telling, members.is_empty()) {
                    (Some((_, value)), _) => words(value),
                    (None, true) => String::new(),
                    (None, false) => (*given).to_owned(),
                }
            }
        };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = escaped(&line, Layout::OneLine);
        match line.char_indices().nth(SUMMARY) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.into_owned(),
        }
    }

    fn markup(&self) -> Markup {
        match self {
            Arguments::Text(text) if text.trim().is_empty() => html! { p class="nothing" { "(nothing)" } },
            Arguments::Text(text) => folded::text(&Styled::plain(text), "given"),
            Arguments::Members(members, _) if members.is_empty() => html! { p class="nothing" { "(nothing)" } },
            Arguments::Members(members, _) => html! {
                dl class="given" {
                    @for (name, value) in members {
                        div { dt { (escaped(name, Layout::OneLine)) } dd { (folded::text(&Styled::plain(&words(value)), class(name))) } }
                    }
                }
            },
        }
    }
}

fn class(member: &str) -> &'static str {
    match member {
        name if BEFORE.contains(&name) => "given before",
        name if AFTER.contains(&name) => "given after",
        _ => "given",
    }
}

/// A text as it is, anything else as JSON.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_ran() {
        for (arguments, line) in [
            (r#"{"description":"count","command":"ls |\n wc -l"}"#, "ls | wc -l"),
            (r#"{"depth":3,"where":"src"}"#, "src"),
            (r#"{"depth":3}"#, r#"{"depth":3}"#),
            ("{}", ""),
            ("", ""),
            ("dig <deep>\u{202e}", "dig <deep>\\u{202e}"),
        ] {
            assert_eq!(Arguments::of(arguments).summary(), line, "{arguments}");
        }
        assert_eq!(Arguments::of(&"x".repeat(500)).summary().chars().count(), SUMMARY + 1);
    }

    #[test]
    fn e02_names_and_ids_are_escaped() {
        let hostile = ToolCall {
            id: "\"><script>".into(),
            name: "</summary><script>".into(),
            arguments: r#"{"<img src=x>":"</pre><script>"}"#.into(),
            ..ToolCall::default()
        };
        let page = call(&hostile, None).into_string();
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
        assert_eq!(page.matches("&lt;script&gt;").count(), 4, "{page}");
    }
}
