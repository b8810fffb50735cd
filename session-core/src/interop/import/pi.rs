//! pi: a tree of entries, of which the last one is where the conversation stands.

use super::content::{Said, join};
use super::draft::Draft;
use super::events::{event, extension, flag, mark, notice, said, said_by_user, sum, usage};
use super::out::Out;
use super::time::time_of;
use super::value::Json;
use super::values::Value;
use super::{Importer, pi_shell};
use crate::{Event, Extension, Kind, Message, Note, Role, Timestamp, TitleSource, Usage};
use std::collections::BTreeMap;

/// Whether a record is the header of a session of pi's.
pub(super) fn tells(record: &Json) -> bool {
    let has = |name: &str| record.get(name).as_text().is_some();
    record.get("type").text() == "session" && has("id") && has("cwd") && has("timestamp")
}

/// Reads one session: all of it is there before it is known which branch counts.
#[derive(Default)]
pub(super) struct Pi {
    draft: Draft,
    entries: Vec<(u64, Json)>,
}

impl Importer for Pi {
    fn take(&mut self, value: Value, out: &mut Out) {
        let line = &value.json;
        if line.get("type").as_text().is_none() {
            return out.unknown("record without a type");
        }
        if line.get("type").text() != "session" {
            return self.entries.push((value.line, value.json));
        }
        let session = &mut self.draft.session;
        if !session.id.is_empty() {
            return out.drop_one("further header");
        }
        let text = |name: &str| line.get(name).text();
        text("id").clone_into(&mut session.id);
        text("cwd").clone_into(&mut session.workspace);
        let parents = [text("parentSession"), text("branchedFrom")];
        session.parent = parents.into_iter().find(|parent| !parent.is_empty()).unwrap_or_default().to_owned();
        session.version = line.get("version").integer().unwrap_or(1).to_string();
        session.created = time_of(line.get("timestamp"));
    }

    fn finish(&mut self, out: &mut Out) {
        let entries = std::mem::take(&mut self.entries);
        let counts = branch(&entries, &self.draft.session.id);
        if counts.is_none() && !entries.is_empty() {
            out.repaired("parent that is missing: the order of the file is taken");
        }
        for (at, (line, entry)) in entries.iter().enumerate() {
            out.line = *line;
            if counts.as_ref().is_some_and(|counts| !counts[at]) {
                out.drop_one("entry of another branch");
            } else {
                self.entry(entry, out);
            }
        }
        out.finish(std::mem::take(&mut self.draft));
    }
}

/// Which entries lead to the last one; `None` where a parent is missing. Entries without an id follow one another.
fn branch(entries: &[(u64, Json)], session: &str) -> Option<Vec<bool>> {
    let id = |entry: &Json| entry.get("id").as_text().map(str::to_owned);
    if entries.iter().all(|(_, entry)| id(entry).is_none()) {
        return Some(vec![true; entries.len()]);
    }
    let known: BTreeMap<_, _> =
        entries.iter().enumerate().filter_map(|(at, (_, entry))| Some((id(entry)?, at))).collect();
    let mut counts = vec![false; entries.len()];
    let mut next = entries.len().checked_sub(1);
    while let Some(at) = next {
        if std::mem::replace(&mut counts[at], true) {
            return None;
        }
        next = match entries[at].1.get("parentId").text() {
            "" => None,
            parent if parent == session => None,
            parent => Some(*known.get(parent)?),
        };
    }
    Some(counts)
}

impl Pi {
    fn entry(&mut self, entry: &Json, out: &mut Out) {
        let draft = &mut self.draft;
        let ts = time_of(entry.get("timestamp"));
        let text = |name: &str| entry.get(name).text().to_owned();
        match entry.get("type").text() {
            "message" => self.message(entry.get("message"), ts, out),
            "model_change" => draft.model(ts, entry.get("modelId").text()),
            "thinking_level_change" => {
                let mut changed = event(ts, Kind::Settings);
                changed.x.set("settings", &serde_json::json!({ "thinking_level": text("thinkingLevel") }));
                draft.push(changed);
            }
            "compaction" => {
                draft.push(notice(ts, join("the conversation was compacted", &text("summary"), ":\n")));
            }
            "branch_summary" => {
                draft.push(notice(ts, join("another branch was left", &text("summary"), ":\n")));
            }
            "label" => {
                let note = Note { topic: "bookmark".into(), text: text("label") };
                draft.push(extension(ts, Extension::Note(note)));
            }
            "session_info" => {
                draft.session.title = text("name");
                draft.session.title_by = TitleSource::User;
            }
            "custom_message" => self.injected(entry.get("content"), ts, out),
            "custom" => out.drop_one("custom entry of an extension"),
            other => {
                let what = format!("entry {other}");
                out.keep(draft, &what, entry);
            }
        }
    }

    fn injected(&mut self, content: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let content = Said::read(content, &mut self.draft, out);
        let mut event = said(ts, content.message(Role::User));
        mark(&mut event, flag::INJECTED);
        self.draft.push(event);
    }

    fn message(&mut self, message: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let draft = &mut self.draft;
        match message.get("role").text() {
            "user" => {
                let content = Said::read(message.get("content"), draft, out);
                draft.push(said_by_user(ts, content.message(Role::User)));
            }
            "system" => {
                let content = Said::read(message.get("content"), draft, out);
                draft.push(said(ts, content.message(Role::System)));
            }
            "assistant" => self.assistant(message, ts, out),
            "toolResult" => {
                let mut result = Said::read(message.get("content"), draft, out).message(Role::Tool);
                result.name = message.get("toolName").text().into();
                let is_error = message.get("isError").is_true();
                draft.result(ts, message.get("toolCallId").text(), result, |event: &mut Event| {
                    if is_error {
                        mark(event, flag::ERROR);
                    }
                });
            }
            "bashExecution" if message.get("excludeFromContext").is_true() => {
                draft.push(notice(ts, pi_shell::text(message)));
            }
            "bashExecution" => {
                draft.push(said(ts, Message::user(pi_shell::text(message))));
            }
            "custom" | "hookMessage" => self.injected(message.get("content"), ts, out),
            "branchSummary" | "compactionSummary" => {
                self.injected(message.get("summary"), ts, out);
            }
            other => out.unknown(&format!("role {}", if other.is_empty() { "that is missing" } else { other })),
        }
    }

    fn assistant(&mut self, message: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let draft = &mut self.draft;
        let stop = message.get("stopReason").text();
        let was_stopped = matches!(stop, "aborted" | "error");
        let blocks = message.get("content");
        let says_nothing = match blocks {
            Json::List(list) => list.is_empty(),
            content => content.text().is_empty(),
        };
        let model = message.get("model").text();
        if says_nothing && was_stopped {
            out.drop_one("empty message of a response that was stopped");
        } else {
            draft.model(ts, model);
            let entry = draft.push(said(ts, Message::new(Role::Assistant, "")));
            self.blocks(entry, blocks, was_stopped, out);
            if was_stopped {
                let name = if stop == "error" { flag::ERROR } else { flag::INTERRUPTED };
                mark(self.draft.event(entry), name);
            }
        }
        if was_stopped && !message.get("errorMessage").text().is_empty() && stop == "error" {
            self.draft.push(notice(ts, format!("error: {}", message.get("errorMessage").text())));
        }
        let usage_of = cost_of(message.get("usage"), model, message.get("responseId").text());
        if let Some(cost) = usage_of {
            self.draft.push(usage(ts, cost));
        }
    }

    fn blocks(&mut self, entry: usize, blocks: &Json, was_stopped: bool, out: &mut Out) {
        let mut content = Said::default();
        if let Some(text) = blocks.as_text() {
            content.push_text(text);
        }
        for block in blocks.list() {
            match block.get("type").text() {
                "thinking" => {
                    let message = self.draft.message(entry);
                    let thought = block.get("thinking").text();
                    message.reasoning_content = join(&message.reasoning_content, thought, "\n\n").into();
                    if !block.get("thinkingSignature").text().is_empty() {
                        out.drop_one("signature of a thought");
                    }
                }
                // The model never came to the end of it: there is nothing that could be called.
                "toolCall" if was_stopped && !block.get("arguments").is_object() => {
                    out.drop_one("call that was cut off");
                }
                "toolCall" => {
                    let (id, name) = (block.get("id").text(), block.get("name").text());
                    self.draft.call_with(entry, id, name, block.get("arguments"));
                }
                _ => content.push(block, &mut self.draft, out),
            }
        }
        content.join(self.draft.message(entry));
    }
}

/// What a response cost; `None` where nothing is told, or nothing was used.
fn cost_of(counts: &Json, model: &str, response: &str) -> Option<Usage> {
    let count = |name: &str| counts.get(name).count();
    let cached = count("cacheRead");
    let input = sum(&[count("input"), count("cacheWrite"), cached]);
    let cost = counts.at(&["cost", "total"]).number();
    let is_used = input.unwrap_or(0) + count("output").unwrap_or(0) > 0 || cost.is_some_and(|cost| cost > 0.0);
    is_used.then(|| Usage {
        model: model.to_owned(),
        response: response.to_owned(),
        input,
        cached,
        output: count("output"),
        cost,
        ..Usage::default()
    })
}
