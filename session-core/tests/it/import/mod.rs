//! Importing: made-up files of every shape, with the faults that real ones have.

mod claude;
mod claude_back;
mod claude_events;
mod codex;
mod codex_notices;
mod content;
mod gemini;
mod hostile;
mod openai;
mod openhands;
mod pi;
mod stream;

use session_core::interop::import::{Import, ImportError, ImportOptions, ImportReport, Imported, LossFate};
use session_core::{Event, format_time};

/// What a file gives.
pub(crate) struct Outcome {
    pub(crate) sessions: Vec<Imported>,
    pub(crate) report: ImportReport,
}

/// Reads files as those of one import.
pub(crate) fn read_with(files: &[&[u8]], options: ImportOptions) -> Result<Outcome, ImportError> {
    let named = files.iter().enumerate().map(|(number, bytes)| (format!("file-{number}"), *bytes));
    let mut import = Import::new(named, options);
    let mut sessions = Vec::new();
    for session in import.by_ref() {
        sessions.push(session?);
    }
    Ok(Outcome { sessions, report: import.report().clone() })
}

/// Reads a file that has a format.
pub(crate) fn read(file: &str) -> Outcome {
    read_with(&[file.as_bytes()], ImportOptions::default()).expect("its format is known")
}

impl Outcome {
    /// The only session.
    pub(crate) fn only(&self) -> &Imported {
        assert_eq!(self.sessions.len(), 1, "{:?}", self.report);
        &self.sessions[0]
    }

    /// The events of the only session, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.only().events.iter().map(line).collect()
    }

    /// All losses: their fate, how many of what, first in which line.
    pub(crate) fn all_losses(&self) -> Vec<String> {
        let losses = self.report.losses.iter();
        losses.map(|loss| format!("{}: {} {} @{}", loss.fate.as_str(), loss.count, loss.what, loss.line)).collect()
    }

    /// The losses of a fate: how many of what, first in which line.
    pub(crate) fn losses(&self, fate: LossFate) -> Vec<String> {
        let of_fate = self.report.losses.iter().filter(|loss| loss.fate == fate);
        of_fate.map(|loss| format!("{} {} @{}", loss.count, loss.what, loss.line)).collect()
    }
}

/// Who says what, the calls in brackets, and what is in `x`.
fn line(event: &Event) -> String {
    let mut text = match &event.message {
        Some(message) => {
            let mut text = format!("{}: {}", message.role, message.content.text()).trim_end().to_owned();
            if !message.reasoning_content.is_empty() {
                text += &format!(" (thinks: {})", message.reasoning_content);
            }
            for call in &message.tool_calls {
                text += &format!(" [{} {} {}]", call.id, call.name, call.arguments);
            }
            if !message.tool_call_id.is_empty() {
                text += &format!(" <{} {}>", message.tool_call_id, message.name);
            }
            text
        }
        None if !event.text.is_empty() => format!("notice: {}", event.text),
        None if event.dropped > 0 => format!("rollback: {}", event.dropped),
        None => format!("{}: {}", event.kind, event.model).trim_end().to_owned(),
    };
    if event.ms != 0 {
        text += &format!(" {} ms", event.ms);
    }
    for (name, value) in event.x.iter() {
        text += &format!(" {name}={value}");
    }
    text
}

/// When a session began, as text.
pub(crate) fn created(session: &Imported) -> String {
    session.created.as_ref().map(format_time).unwrap_or_default()
}
