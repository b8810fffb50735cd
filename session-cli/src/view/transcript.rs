//! A conversation for a person: what was said in full, what tools did folded to a line.

use crate::output::Out;
use crate::output::escape::{Layout, escaped};
use crate::output::when;
use anstyle::{AnsiColor, Style};
use session_core::{Event, Kind, Message, Role, ToolCall};

/// How much of tool calls and results is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// One line each.
    Folded,
    /// Everything.
    Full,
}

/// A kind of part that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Only {
    /// What the user said
    User,
    /// What the model said
    Assistant,
    /// Tool calls and results
    Tool,
    /// The model's reasoning
    Reasoning,
    /// Notices
    Notice,
    /// Models and options
    Settings,
}

/// Arguments and first lines of results beyond this are cut when folded, in characters.
const FOLDED_CHARS: usize = 100;

const HEAD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Renders events as text. With `only` empty everything is shown.
pub(crate) fn transcript<'a>(
    events: impl Iterator<Item = &'a Event>,
    only: &[Only],
    detail: Detail,
    out: &Out,
) -> String {
    let wanted = |part: Only| only.is_empty() || only.contains(&part);
    let mut page = Page { out, detail, text: String::new() };
    for event in events {
        match (&event.kind, &event.message) {
            (Kind::Rollback, _) => {}
            (_, Some(message)) => page.message(event, message, &wanted),
            (Kind::Notice, None) if wanted(Only::Notice) => page.aside("notice", &event.text),
            (Kind::Settings, None) if wanted(Only::Settings) => page.aside("settings", &settings(event)),
            (_, None) => {}
        }
    }
    page.text
}

fn settings(event: &Event) -> String {
    let mut parts = vec![event.model.clone()];
    if let Some(merge) = event.merge_thinking {
        parts.push(format!("thinking {}", if merge { "merged" } else { "apart" }));
    }
    if !event.tools.is_empty() {
        parts.push(format!("{} tools", event.tools.len()));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

struct Page<'a> {
    out: &'a Out,
    detail: Detail,
    text: String,
}

impl Page<'_> {
    fn message(&mut self, event: &Event, message: &Message, wanted: &impl Fn(Only) -> bool) {
        let content = message.content.text();
        let (part, colour) = match message.role {
            Role::User => (Only::User, AnsiColor::Green),
            Role::Assistant => (Only::Assistant, AnsiColor::Cyan),
            Role::Tool => {
                return if wanted(Only::Tool) {
                    self.result(event, message, &content);
                };
            }
            Role::System | Role::Missing | Role::Other(_) => (Only::Assistant, AnsiColor::Yellow),
        };
        let calls = if wanted(Only::Tool) { &message.tool_calls[..] } else { &[] };
        let reasoning = if wanted(Only::Reasoning) { &*message.reasoning_content } else { "" };
        let said = if wanted(part) { &*content } else { "" };
        if said.is_empty() && reasoning.is_empty() && calls.is_empty() {
            return;
        }
        let who = self.out.styled(HEAD.fg_color(Some(colour.into())), &escaped(message.role.as_str(), Layout::OneLine));
        let when = event.ts.as_ref().map(when::local).unwrap_or_default();
        self.gap();
        self.text += &format!("{who}  {}\n", self.out.styled(DIM, &when));
        if !reasoning.is_empty() {
            self.reasoning(reasoning);
        }
        if !said.is_empty() {
            self.block(said);
        }
        for call in calls {
            self.call(call);
        }
    }

    /// A blank line before a message, but not before the first.
    fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    fn block(&mut self, text: &str) {
        self.text += &escaped(text.trim_end_matches('\n'), Layout::Lines);
        self.text.push('\n');
    }

    fn reasoning(&mut self, text: &str) {
        match self.detail {
            Detail::Full => {
                let text = self.out.styled(DIM, &escaped(text.trim_end(), Layout::Lines));
                self.text += &format!("{text}\n");
            }
            Detail::Folded => self.fold("~", "reasoning", &size(text)),
        }
    }

    fn call(&mut self, call: &ToolCall) {
        self.fold("→", &call.name, &self.fitted(&call.arguments));
    }

    fn result(&mut self, event: &Event, message: &Message, content: &str) {
        let took = match event.ms {
            0 => String::new(),
            ms @ ..1_000 => format!("{ms}ms, "),
            ms => format!("{}.{}s, ", ms / 1_000, ms % 1_000 / 100),
        };
        let tool = if message.name.is_empty() { &*event.tool } else { &message.name };
        match self.detail {
            Detail::Full => {
                self.fold("←", tool, &format!("{took}{}", size(content)));
                self.block(content);
            }
            Detail::Folded => {
                let first = content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let first = if first.is_empty() { String::new() } else { format!(": {}", self.fitted(first.trim())) };
                self.fold("←", tool, &format!("{took}{}{first}", size(content)));
            }
        }
    }

    fn fold(&mut self, mark: &str, name: &str, rest: &str) {
        let name = self.out.styled(HEAD, &escaped(name, Layout::OneLine));
        self.text += &format!("  {mark} {name} {}\n", escaped(rest, Layout::OneLine));
    }

    fn aside(&mut self, what: &str, text: &str) {
        let line = format!("  · {what}: {}", escaped(text, Layout::OneLine));
        self.text += &format!("{}\n", self.out.styled(DIM, &line));
    }

    /// Cut when folded, on a character.
    fn fitted(&self, text: &str) -> String {
        match (self.detail, text.char_indices().nth(FOLDED_CHARS)) {
            (Detail::Folded, Some((end, _))) => format!("{}…", &text[..end]),
            _ => text.to_owned(),
        }
    }
}

fn size(text: &str) -> String {
    match text.lines().count() {
        0 => "empty".to_owned(),
        1 => format!("{} bytes", text.len()),
        lines => format!("{lines} lines"),
    }
}
