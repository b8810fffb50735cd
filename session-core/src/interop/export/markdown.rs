//! Markdown for people.

use super::openai::note;
use super::quoted::{code, plain, push_fenced, push_prose};
use super::{Aside, End, Entry, Export, Head};
use crate::{Event, Kind, Message, Role, Timestamp, ToolCall, TurnSpan, counted, is_failure};
use std::fmt::Write as _;

/// Markdown in which every heading is ours: what was said is quoted, what tools were given and answered stands in fenced
/// blocks, and none of it can end what it stands in.
#[derive(Debug, Clone, Default)]
pub struct Markdown {
    turns: Vec<TurnSpan>,
    /// The turns before this index have begun.
    begun: usize,
    /// The turn whose heading stands last.
    headed: u64,
}

impl Markdown {
    /// The exporter of one conversation.
    pub fn new() -> Self {
        Markdown::default()
    }
}

impl Export for Markdown {
    fn begin(&mut self, head: &Head, out: &mut Vec<u8>) {
        self.turns.clone_from(&head.turns);
        let meta = &head.meta;
        let title =
            [&meta.title, &meta.name].into_iter().find(|text| !text.is_empty()).map_or("A session", String::as_str);
        let mut text = format!("# {}\n\n", plain(title));
        let mut fact = |name: &str, value: &str| {
            if !value.is_empty() {
                push(&mut text, format_args!("- {name}: {value}\n"));
            }
        };
        let named = |value: &str| if value.is_empty() { String::new() } else { code(value) };
        fact("Session", &named(&meta.name));
        fact("Workspace", &named(&meta.workspace));
        fact("Model", &named(&meta.model));
        fact("Created", &meta.created.as_ref().map(time).unwrap_or_default());
        fact("Parent", &named(&meta.parent));
        fact("Goes on in", &named(&meta.succeeded_by));
        if !head.is_whole() {
            let (first, last) = (*head.range.start(), (*head.range.end()).min(head.events));
            let which = if first > last { "none".to_owned() } else { format!("{first} to {last}") };
            fact("Events", &format!("{which} of {}", head.events));
        }
        match (head.rolled_back, head.is_raw) {
            (0, _) => {}
            (1, false) => fact("Left out", "1 message that was taken back"),
            (many, false) => fact("Left out", &format!("{many} messages that were taken back")),
            (many, true) => fact("Taken back", &format!("{}, marked as such", counted(many, "message", "messages"))),
        }
        out.extend_from_slice(text.as_bytes());
    }

    fn entry(&mut self, entry: &Entry, out: &mut Vec<u8>) {
        let mut text = String::new();
        match &entry.event.message {
            Some(message) if entry.event.kind != Kind::Rollback => push_message(&mut text, entry, message),
            _ => push_aside(&mut text, &entry.event),
        }
        self.begun += self.turns[self.begun..].iter().take_while(|turn| turn.first <= entry.number).count();
        let turn =
            self.turns[..self.begun].last().filter(|turn| entry.number <= turn.last && turn.number != self.headed);
        // A turn of which nothing is shown has no heading.
        if let Some(turn) = turn.filter(|_| !text.is_empty()) {
            self.headed = turn.number;
            text.insert_str(0, &format!("\n## Turn {}\n", turn.number));
        }
        out.extend_from_slice(text.as_bytes());
    }

    fn end(&mut self, end: &End, out: &mut Vec<u8>) {
        let mut text = String::new();
        if end.skipped() > 0 {
            let lines = counted(end.skipped() as u64, "line", "lines");
            push(&mut text, format_args!("\n*{lines} of the history could not be read.*\n"));
        }
        if end.uncertain {
            text +=
                "\n*A message was taken back across a line that could not be read: what was left out is a guess.*\n";
        }
        out.extend_from_slice(text.as_bytes());
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

fn time(ts: &Timestamp) -> String {
    ts.to_utc().format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

fn push_message(out: &mut String, entry: &Entry, message: &Message) {
    let event = &entry.event;
    let who = match &message.role {
        Role::System => "System".to_owned(),
        Role::User => "User".to_owned(),
        Role::Assistant => "Assistant".to_owned(),
        Role::Tool => format!("Result of {}", code(if message.name.is_empty() { &event.tool } else { &message.name })),
        other => code(other.as_str()),
    };
    let mut remarks = vec![event.ts.as_ref().map(time).unwrap_or_default()];
    if message.role == Role::Tool {
        remarks.extend([took(event.ms), if is_failure(event) { "failed".into() } else { String::new() }]);
    }
    if entry.live == Some(false) {
        remarks.push("taken back".into());
    }
    remarks.retain(|remark| !remark.is_empty());
    let remarks = if remarks.is_empty() { String::new() } else { format!(", {}", remarks.join(", ")) };
    push(out, format_args!("\n### {who}{remarks}\n"));
    if !message.reasoning_content.is_empty() {
        *out += "\nReasoning:\n\n";
        push_prose(out, &message.reasoning_content);
    }
    let content = message.content.text();
    if !content.is_empty() {
        out.push('\n');
        if message.role == Role::Tool { push_fenced(out, "text", &content) } else { push_prose(out, &content) }
    }
    for image in &message.images {
        push(out, format_args!("\n{}\n", plain(&note(image))));
    }
    message.tool_calls.iter().for_each(|call| push_call(out, call));
}

fn push_call(out: &mut String, call: &ToolCall) {
    push(out, format_args!("\nCalls {}:\n\n", code(&call.name)));
    push_fenced(out, "json", &call.arguments);
}

/// How long a tool took.
fn took(ms: i64) -> String {
    match ms {
        ..=0 => String::new(),
        1..1_000 => format!("{ms} ms"),
        _ => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
    }
}

/// An event without a message, where it says something to a person.
fn push_aside(out: &mut String, event: &Event) {
    let text = match Aside::of(event) {
        None => return,
        Some(Aside::Notice(text)) => plain(&text),
        Some(Aside::Model(model)) => format!("Model: {}", code(&model)),
        Some(Aside::TakenBack(dropped)) => {
            format!("{} taken back.", counted(dropped, "message was", "messages were"))
        }
        Some(Aside::Ended(outcome)) => format!("The turn ended: {}", plain(&outcome)),
        Some(Aside::Checkpoint { action, turn, note }) => {
            let turn = turn.map(|turn| format!(" {turn}")).unwrap_or_default();
            let note = if note.is_empty() { String::new() } else { format!("\\: {}", plain(&note)) };
            format!("Checkpoint{turn} {}{note}", plain(&action))
        }
        Some(Aside::GoesOn(name)) => format!("Goes on in {}", code(&name)),
    };
    // White space beside a mark keeps it from being one.
    match text.trim() {
        "" => {}
        text => push(out, format_args!("\n*{text}*\n")),
    }
}

#[cfg(test)]
mod tests;
