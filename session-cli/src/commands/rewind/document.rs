//! What a rewind would do and what it did, for people and for machines.

use super::Work;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::output::number::{counted, number};
use crate::shell::quoted;
use serde::Serialize;
use session_core::checkpoint::{FileNote, FilePlan, SharedFile};
use session_store::{Refusal, RewindPlan, Rewound, RewoundMessage, UndoPlan};

/// How many characters of a message a line shows.
const SHOWN_CHARS: usize = 60;

/// A plan, for machines.
#[derive(Debug, Serialize)]
pub(super) struct Planned {
    /// The last event that stays.
    event: Option<u64>,
    turns: Vec<u64>,
    messages: Vec<Message>,
    /// Messages that came since, and go when it is forced.
    since: u64,
    files: Option<Files>,
    refusals: Vec<String>,
    /// Whether the messages come back.
    #[serde(skip)]
    returns: bool,
}

#[derive(Debug, Serialize)]
struct Message {
    event: u64,
    role: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct Files {
    checkpoint: Option<u64>,
    writes: Vec<String>,
    deletes: Vec<String>,
    kept: Vec<Note>,
    conflicts: Vec<Note>,
    also_changed_by: Vec<Shared>,
}

#[derive(Debug, Serialize)]
struct Note {
    path: String,
    why: String,
}

#[derive(Debug, Serialize)]
struct Shared {
    path: String,
    session: String,
    checkpoint: u64,
}

/// What was done, for machines.
#[derive(Debug, Serialize)]
pub(super) struct Done {
    messages: u64,
    checkpoint: Option<u64>,
    guard: Option<u64>,
    written: u64,
    deleted: u64,
    failed: Vec<Note>,
    resumed: bool,
}

impl Planned {
    pub(super) fn of(plan: &RewindPlan) -> Self {
        Planned {
            event: Some(plan.cut.event),
            turns: plan.cut.turns.clone(),
            messages: plan.messages.iter().map(Message::of).collect(),
            since: 0,
            files: plan.files.as_ref().map(|files| Files::of(plan.cut.checkpoint, files)),
            refusals: plan.refusals.iter().map(ToString::to_string).collect(),
            returns: false,
        }
    }

    pub(super) fn of_undo(plan: &UndoPlan) -> Self {
        Planned {
            event: None,
            turns: Vec::new(),
            messages: plan.messages.iter().map(Message::of).collect(),
            since: plan.since,
            files: plan.files.as_ref().map(|files| Files::of(None, files)),
            refusals: plan.refusals.iter().map(ToString::to_string).collect(),
            returns: true,
        }
    }
}

impl Message {
    fn of(message: &RewoundMessage) -> Self {
        Message { event: message.event, role: message.role.as_str().to_owned(), text: message.text.clone() }
    }
}

impl Files {
    fn of(checkpoint: Option<u64>, plan: &FilePlan) -> Self {
        let shared = |one: &SharedFile| Shared {
            path: one.path.clone(),
            session: one.session.clone(),
            checkpoint: one.checkpoint,
        };
        Files {
            checkpoint,
            writes: plan.writes.clone(),
            deletes: plan.deletes.clone(),
            kept: plan.kept.iter().map(Note::of).collect(),
            conflicts: plan.conflicts.iter().map(Note::of).collect(),
            also_changed_by: plan.shared.iter().map(shared).collect(),
        }
    }
}

impl Note {
    fn of(note: &FileNote) -> Self {
        Note { path: note.path.clone(), why: note.why.clone() }
    }
}

impl Done {
    pub(super) fn of(rewound: &Rewound) -> Self {
        let files = rewound.files.as_ref();
        Done {
            messages: rewound.messages,
            checkpoint: files.map(|files| files.checkpoint),
            guard: files.map(|files| files.guard),
            written: files.map_or(0, |files| files.written),
            deleted: files.map_or(0, |files| files.deleted),
            failed: files.map(|files| files.failed.iter().map(Note::of).collect()).unwrap_or_default(),
            resumed: rewound.resumed,
        }
    }
}

/// One line for each thing that happens.
pub(super) fn plan_lines(plan: &Planned) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.since > 0 {
        lines.push(format!("drop {} that came since", counted(plan.since, "message", "messages")));
    }
    let word = if plan.returns { "bring back" } else { "drop" };
    for Message { event, role, text } in &plan.messages {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let cut: String = first.chars().take(SHOWN_CHARS).collect();
        let more = if cut.len() < text.trim().len() { "…" } else { "" };
        lines.push(format!("{word} message {event}, {role}: {cut}{more}"));
    }
    if let Some(files) = &plan.files {
        lines.extend(files.writes.iter().map(|path| format!("write {path}")));
        lines.extend(files.deletes.iter().map(|path| format!("delete {path}")));
        lines.extend(files.kept.iter().map(|note| format!("keep {}: {}", note.path, note.why)));
    }
    lines.extend(plan.refusals.iter().map(|refusal| format!("refused: {refusal}")));
    lines
}

/// One line for each thing that stands against it.
pub(super) fn refusal_lines(refusals: &[Refusal]) -> Vec<String> {
    let mut lines = Vec::new();
    for refusal in refusals {
        match refusal {
            Refusal::Damage(defects) => lines.extend(defects.iter().map(|defect| format!("damage: {defect}"))),
            Refusal::Conflicts(notes) => {
                lines.extend(notes.iter().map(|note| format!("conflict {}: {}", note.path, note.why)));
            }
            Refusal::Shared(files) => lines.extend(
                files
                    .iter()
                    .map(|file| format!("also changed by {}, {}: {}", file.session, file.checkpoint, file.path)),
            ),
            other => lines.push(other.to_string()),
        }
    }
    lines
}

impl Work<'_> {
    /// Prints a plan, or what was done.
    pub(super) fn print(&self, plan: Option<&Planned>, done: Option<&Done>, to: &str) -> Result<Exit, Failure> {
        #[derive(Serialize)]
        struct Document<'a> {
            session: &'a str,
            to: &'a str,
            plan: Option<&'a Planned>,
            done: Option<&'a Done>,
            undo: Option<String>,
        }
        let failed = done.map(|done| &done.failed[..]).unwrap_or_default();
        let diagnostic = |note: &Note| Diagnostic {
            code: "not-restored".to_owned(),
            session: Some(self.name.to_string()),
            line: None,
            offset: None,
            text: format!("{}: {}", note.path, note.why),
        };
        let diagnostics: Vec<_> = failed.iter().map(diagnostic).collect();
        let out = &self.context.out;
        out.diagnostics(&diagnostics);
        let undo = done.map(|_| self.undo_command());
        if out.is_json() {
            let document = Document { session: self.name.as_str(), to, plan, done, undo };
            out.document("rewind", diagnostics.is_empty(), &diagnostics, &document)?;
        } else if let (Some(done), Some(undo)) = (done, undo) {
            let returns = to == "undo";
            if out.is_terminal() {
                let what = if returns { "came back" } else { "left the conversation" };
                let files = match done.checkpoint {
                    Some(_) => format!(
                        "; {} written, {} deleted",
                        counted(done.written, "file", "files"),
                        number(done.deleted)
                    ),
                    None => String::new(),
                };
                out.line(&format!("{} {what}{files}", counted(done.messages, "message", "messages")))?;
            } else {
                let counts = [done.messages, done.written, done.deleted, done.failed.len() as u64];
                let counts = counts.map(|count| count.to_string()).join("\t");
                out.line(&format!("{}\t{to}\t{counts}", self.name))?;
            }
            if !returns {
                out.note(&format!("undo: {undo}"));
            }
        }
        Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
    }

    /// The command that takes it back, for a shell.
    fn undo_command(&self) -> String {
        let base = self.context.store.base_dir();
        let dir = match Context::for_completion() {
            Some(usual) if usual.store.base_dir() == base => String::new(),
            _ => format!("--dir {} ", quoted(&base.to_string_lossy())),
        };
        format!("session {dir}rewind {} --undo", quoted(self.name.as_str()))
    }
}
