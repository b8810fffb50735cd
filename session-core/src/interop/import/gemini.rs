//! Gemini CLI: one document, or since 0.40 a header, records, and patches that change them.

use super::Importer;
use super::content::{Said, join};
use super::draft::Draft;
use super::events::{flag, mark, notice, said, said_by_user, sum, usage};
use super::out::Out;
use super::time::time_of;
use super::value::Json;
use super::values::Value;
use crate::{Event, Role, Timestamp, Usage};
use std::collections::BTreeMap;

/// Whether a record is a chat of Gemini CLI, or the header of one.
pub(super) fn tells(record: &Json) -> bool {
    let has = |name: &str| record.get(name).as_text().is_some();
    has("sessionId") && has("projectHash") && has("startTime")
}

/// Reads one session: all of it is there before it is known what its records are at last.
#[derive(Default)]
pub(super) struct Gemini {
    draft: Draft,
    steps: Vec<Step>,
    /// Where the record of an id stands.
    ids: BTreeMap<String, usize>,
    title: String,
}

/// What is told at the end, one after the other.
enum Step {
    /// A record, and the line where its id was met first.
    Record(u64, Json),
    /// All from a step on is taken back.
    Rewind(usize),
}

impl Importer for Gemini {
    fn take(&mut self, value: Value, out: &mut Out) {
        let line = value.line;
        let record = value.json;
        let patch = record.get("$set");
        if let Some(id) = record.get("$rewindTo").as_text() {
            self.rewind(id, out);
        } else if patch.is_object() {
            self.header(&patch.clone(), line);
        } else if tells(&record) {
            self.header(&record, line);
        } else if record.get("type").as_text().is_some() {
            self.record(record, line);
        } else if record.members().iter().any(|(name, _)| name.starts_with('$')) {
            out.keep(&mut self.draft, "patch", &record);
        } else {
            out.unknown("record without a type");
        }
    }

    fn finish(&mut self, out: &mut Out) {
        let mut begins = Vec::with_capacity(self.steps.len());
        for step in std::mem::take(&mut self.steps) {
            begins.push(self.draft.next());
            match step {
                Step::Record(line, record) => {
                    out.line = line;
                    self.tell(&record, out);
                }
                Step::Rewind(to) => self.draft.take_back(None, begins[to]),
            }
        }
        self.draft.session.title = std::mem::take(&mut self.title);
        out.finish(std::mem::take(&mut self.draft));
    }
}

impl Gemini {
    /// What a document, a header, or a patch says of the session. A patch with messages has all of them.
    fn header(&mut self, header: &Json, line: u64) {
        let session = &mut self.draft.session;
        if session.id.is_empty() {
            header.get("sessionId").text().clone_into(&mut session.id);
        }
        if session.created.is_none() {
            session.created = time_of(header.get("startTime"));
        }
        if let Some(workspace) = header.get("directories").list().first().and_then(Json::as_text) {
            workspace.clone_into(&mut session.workspace);
        }
        if let Some(summary) = header.get("summary").as_text() {
            summary.clone_into(&mut self.title);
        }
        if let Json::List(messages) = header.get("messages") {
            self.steps.clear();
            self.ids.clear();
            messages.iter().for_each(|message| self.record(message.clone(), line));
        }
    }

    /// A record replaces the one with its id.
    fn record(&mut self, record: Json, line: u64) {
        let id = record.get("id").text();
        if let Some(known) = self.ids.get(id)
            && let Step::Record(_, before) = &mut self.steps[*known]
        {
            *before = record;
            return;
        }
        if !id.is_empty() {
            self.ids.insert(id.to_owned(), self.steps.len());
        }
        self.steps.push(Step::Record(line, record));
    }

    /// Takes back the record of an id and all behind it. Where there is none, Gemini CLI goes on with nothing.
    fn rewind(&mut self, id: &str, out: &mut Out) {
        let to = self.ids.get(id).copied().unwrap_or_else(|| {
            out.repaired("rewind to a record that is not there: all is taken back");
            0
        });
        self.ids.retain(|_, step| *step < to);
        self.steps.push(Step::Rewind(to));
    }

    fn tell(&mut self, record: &Json, out: &mut Out) {
        let ts = time_of(record.get("timestamp"));
        let draft = &mut self.draft;
        let content = record.get("content");
        match record.get("type").text() {
            "user" => {
                let content = Said::read(content, draft, out);
                draft.push(said_by_user(ts, content.message(Role::User)));
            }
            "gemini" => self.assistant(record, ts, out),
            kind @ ("info" | "error" | "warning") => {
                let text = Said::read(content, draft, out).joined("\n");
                draft.push(notice(ts, if kind == "info" { text } else { format!("{kind}: {text}") }));
            }
            "" => out.unknown("record without a type"),
            other => {
                let what = format!("record {other}");
                out.keep(draft, &what, record);
            }
        }
    }

    fn assistant(&mut self, record: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let model = record.get("model").text();
        self.draft.model(ts, model);
        let mut message = Said::read(record.get("content"), &mut self.draft, out).message(Role::Assistant);
        for thought in record.get("thoughts").list() {
            let (subject, text) = (thought.get("subject").text(), thought.get("description").text());
            let subject = if subject.is_empty() { String::new() } else { format!("**{subject}**") };
            message.reasoning_content = join(&message.reasoning_content, &join(&subject, text, "\n"), "\n\n").into();
        }
        let entry = self.draft.push(said(ts, message));
        for call in record.get("toolCalls").list() {
            self.call(entry, call, out);
        }
        if let Some(cost) = cost_of(record.get("tokens"), model, record.get("id").text()) {
            self.draft.push_behind(entry, usage(ts, cost));
        }
    }

    /// A call, and its result where it has one.
    fn call(&mut self, entry: usize, call: &Json, out: &mut Out) {
        let id = call.get("id").text();
        self.draft.call_with(entry, id, call.get("name").text(), call.get("args"));
        let status = call.get("status").text();
        let mut content = Said::default();
        let mut failed = matches!(status, "error" | "cancelled");
        for part in call.get("result").list() {
            let response = part.at(&["functionResponse", "response"]);
            match (response.get("output"), response.get("error")) {
                (Json::Text(text), _) => content.push_text(text),
                (_, Json::Text(text)) => {
                    failed = true;
                    content.push_text(text);
                }
                (Json::Null, Json::Null) if !response.is_object() => content.push(part, &mut self.draft, out),
                _ => content.push_text(&response.to_text()),
            }
        }
        if call.get("result").list().is_empty() {
            return;
        }
        for name in ["resultDisplay", "displayName", "description"] {
            if !call.get(name).is_null() {
                out.drop_one(&format!("{name} of a call"));
            }
        }
        let ts = time_of(call.get("timestamp"));
        self.draft.result(ts, id, content.message(Role::Tool), |event: &mut Event| {
            if failed {
                mark(event, flag::ERROR);
            }
            if status == "cancelled" {
                mark(event, flag::INTERRUPTED);
            }
        });
    }
}

/// What a response cost. Thoughts are counted apart there, and are a part of the output here.
fn cost_of(counts: &Json, model: &str, response: &str) -> Option<Usage> {
    let count = |name: &str| counts.get(name).count();
    counts.is_object().then(|| Usage {
        model: model.to_owned(),
        response: response.to_owned(),
        input: sum(&[count("input"), count("tool")]),
        cached: count("cached"),
        output: sum(&[count("output"), count("thoughts")]),
        reasoning: count("thoughts"),
        cost: None,
    })
}
