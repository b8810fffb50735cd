//! Claude Code: one line a content block, tool results between the blocks of one message, and much that is no
//! conversation.

use super::claude_queue::Queue;
use super::content::{Said, join};
use super::draft::Draft;
use super::events::{flag, mark, notice, said, said_by_user, sum, usage};
use super::out::Out;
use super::time::time_of;
use super::value::Json;
use super::values::Value;
use super::{Importer, claude_events};
use crate::{Event, Message, Role, Timestamp, TitleSource, Usage};
use std::collections::{BTreeMap, BTreeSet};

/// Types of line that have no place in a history: they repeat what stands elsewhere, or are about the program.
const DROPPED: [&str; 16] = [
    "agent-name",
    "agent-color",
    "agent-setting",
    "attachment",
    "frame-link",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "relocated",
    "result",
    "saved_hook_context",
    "started",
    "tag",
    "worktree-state",
];

/// What the program writes where a person interrupted it.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Whether a record is a line of Claude Code.
pub(super) fn tells(record: &Json) -> bool {
    let has = |name: &str| record.get(name).as_text().is_some();
    match record.get("type").text() {
        "summary" => has("summary") && has("leafUuid"),
        "file-history-snapshot" => has("messageId") && record.get("snapshot").is_object(),
        "queue-operation" => has("operation") && has("sessionId"),
        "user" | "assistant" => has("uuid") && has("sessionId") && record.get("message").is_object(),
        "system" | "progress" | "attachment" => has("uuid") && has("sessionId"),
        _ => false,
    }
}

/// Reads one session.
#[derive(Default)]
pub(super) struct Claude {
    draft: Draft,
    /// Where the message of an id stands.
    messages: BTreeMap<String, usize>,
    /// What the last line of a message says that it cost.
    costs: BTreeMap<usize, (Option<Timestamp>, Usage)>,
    uuids: BTreeSet<String>,
    /// The last prompt behind the line of an id.
    prompts: BTreeMap<String, usize>,
    queue: Queue,
    /// Titles that a line of another session may have brought along, with the message that they end at.
    summaries: Vec<(String, String)>,
    /// Whether the file is that of a sub-agent, all of whose lines are beside the main conversation.
    is_side: Option<bool>,
}

impl Importer for Claude {
    fn take(&mut self, value: Value, out: &mut Out) {
        let line = &value.json;
        let Some(kind) = line.get("type").as_text() else {
            return out.unknown("record without a type");
        };
        let uuid = line.get("uuid").text();
        if !uuid.is_empty() && !self.uuids.insert(uuid.to_owned()) {
            return out.drop_one("line that stands twice");
        }
        self.facts(line);
        let ts = time_of(line.get("timestamp"));
        if matches!(kind, "user" | "assistant") {
            let is_side = line.get("isSidechain").is_true();
            if is_side != *self.is_side.get_or_insert(is_side) {
                return out.drop_one("line of a sub-agent");
            }
            if self.is_side == Some(true) {
                self.draft.session.id = line.get("agentId").text().to_owned();
                self.draft.session.parent = line.get("sessionId").text().to_owned();
            }
        }
        match kind {
            "user" => self.user(line, ts, out),
            "assistant" => self.assistant(line, ts, out),
            "system" => claude_events::system(&mut self.draft, line, ts, out),
            "queue-operation" => self.queue.take(line, ts, &mut self.draft, out),
            "summary" => {
                let text = |name: &str| line.get(name).text().to_owned();
                self.summaries.push((text("leafUuid"), text("summary")));
            }
            "custom-title" => self.title(line.get("customTitle").text(), TitleSource::User),
            "ai-title" => self.title(line.get("aiTitle").text(), TitleSource::Auto),
            "file-history-snapshot" => claude_events::snapshot(&mut self.draft, line, out),
            _ if DROPPED.contains(&kind) => out.drop_one(kind),
            _ => out.keep(&mut self.draft, kind, line),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        for (entry, (ts, cost)) in std::mem::take(&mut self.costs) {
            self.draft.push_behind(entry, usage(ts, cost));
        }
        let mut summary = String::new();
        for (leaf, title) in std::mem::take(&mut self.summaries) {
            if self.uuids.contains(&leaf) {
                summary = title;
            } else {
                out.drop_one("summary of another session");
            }
        }
        self.queue.finish(out);
        if self.draft.session.title.is_empty() {
            self.draft.session.title = summary;
        }
        if self.draft.session.id.is_empty() {
            self.draft.session.id = std::mem::take(&mut self.draft.session.parent);
        }
        out.finish(std::mem::take(&mut self.draft));
    }
}

impl Claude {
    /// What every line repeats about the session.
    fn facts(&mut self, line: &Json) {
        let session = &mut self.draft.session;
        let id = if self.is_side == Some(true) { &mut session.parent } else { &mut session.id };
        for (fact, name) in [
            (id, "sessionId"),
            (&mut session.workspace, "cwd"),
            (&mut session.branch, "gitBranch"),
            (&mut session.version, "version"),
        ] {
            if fact.is_empty() {
                line.get(name).text().clone_into(fact);
            }
        }
    }

    fn title(&mut self, title: &str, by: TitleSource) {
        let session = &mut self.draft.session;
        if !title.is_empty() && (by == TitleSource::User || session.title_by == TitleSource::Auto) {
            title.clone_into(&mut session.title);
            session.title_by = by;
        }
    }

    fn user(&mut self, line: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let content = line.at(&["message", "content"]);
        let mut own = Said::default();
        match content {
            Json::List(blocks) => {
                for block in blocks {
                    match block.get("type").text() {
                        "tool_result" => self.result(line, block, ts, out),
                        _ => own.push(block, &mut self.draft, out),
                    }
                }
            }
            content => own = Said::read(content, &mut self.draft, out),
        }
        let has_results = content.list().iter().any(|block| block.get("type").text() == "tool_result");
        if own.is_empty() && has_results {
            return;
        }
        let was_interrupted = own.joined("\n").starts_with(INTERRUPTED);
        let mut event = said_by_user(ts, own.message(Role::User));
        if line.get("isMeta").is_true() || line.get("isCompactSummary").is_true() || was_interrupted {
            mark(&mut event, flag::INJECTED);
        }
        if was_interrupted {
            mark(&mut event, flag::INTERRUPTED);
        }
        if has_results || self.is_side == Some(true) || event.prompt().is_none() {
            self.draft.push(event);
        } else {
            self.prompt(line.get("parentUuid").text(), event, out);
        }
    }

    /// A prompt. Two behind one line are a prompt and what it was changed to, or what was said after going back to before
    /// it: the first of them, and all that came of it, was left. No other fork says that: results of calls that ran at the
    /// same time fork too, and where no parent is named, or one that is not in the file, a chain was broken.
    fn prompt(&mut self, parent: &str, event: Event, out: &mut Out) {
        if !self.uuids.contains(parent) {
            self.draft.push(event);
            return;
        }
        if let Some(before) = self.prompts.get(parent).filter(|before| !self.draft.is_gone(**before)) {
            self.draft.take_back(event.ts, *before);
            out.repaired("prompt that was written anew: the one before is taken back");
        }
        let entry = self.draft.push(event);
        self.prompts.insert(parent.to_owned(), entry);
    }

    fn result(&mut self, line: &Json, block: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let message = Said::read(block.get("content"), &mut self.draft, out).message(Role::Tool);
        let ms = line.at(&["toolUseResult", "durationMs"]).integer().unwrap_or_default();
        if !line.get("toolUseResult").is_null() {
            out.drop_one("toolUseResult");
        }
        let is_error = block.get("is_error").is_true();
        let change = |event: &mut Event| {
            event.ms = ms;
            if is_error {
                mark(event, flag::ERROR);
            }
        };
        match block.get("tool_use_id").text() {
            "" => self.draft.result_in_order(ts, message, change),
            id => self.draft.result(ts, id, message, change),
        }
    }

    fn assistant(&mut self, line: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let message = line.get("message");
        let model = message.get("model").text();
        if line.get("isApiErrorMessage").is_true() || model == "<synthetic>" {
            let text = Said::read(message.get("content"), &mut self.draft, out).joined("\n");
            out.drop_one("message of the program, told as a notice");
            self.draft.push(notice(ts, text));
            return;
        }
        let id = message.get("id").text();
        let known = self.messages.get(id).copied().filter(|_| !id.is_empty());
        let entry = known.unwrap_or_else(|| {
            self.draft.model(ts, model);
            let entry = self.draft.push(said(ts, Message::new(Role::Assistant, "")));
            self.messages.insert(id.to_owned(), entry);
            entry
        });
        match message.get("content") {
            Json::List(blocks) => blocks.iter().for_each(|block| self.block(entry, block, out)),
            content => Said::read(content, &mut self.draft, out).join(self.draft.message(entry)),
        }
        let counts = message.get("usage");
        if counts.is_object() {
            let usage = cost_of(counts, model, id);
            self.costs.insert(entry, (ts, usage));
        }
    }

    fn block(&mut self, entry: usize, block: &Json, out: &mut Out) {
        match block.get("type").text() {
            "thinking" => {
                let message = self.draft.message(entry);
                message.reasoning_content =
                    join(&message.reasoning_content, block.get("thinking").text(), "\n\n").into();
                if !block.get("signature").text().is_empty() {
                    out.drop_one("signature of a thought");
                }
            }
            "redacted_thinking" => out.drop_one("redacted thought"),
            "fallback" => out.drop_one("part fallback"),
            "tool_use" => {
                let (id, name) = (block.get("id").text(), block.get("name").text());
                self.draft.call_with(entry, id, name, block.get("input"));
            }
            _ => {
                let mut said = Said::default();
                said.push(block, &mut self.draft, out);
                said.join(self.draft.message(entry));
            }
        }
    }
}

/// What a response cost. Tokens that went into the cache are counted apart there, and are tokens of the request here.
fn cost_of(counts: &Json, model: &str, id: &str) -> Usage {
    let count = |name: &str| counts.get(name).count();
    let cached = count("cache_read_input_tokens");
    Usage {
        model: model.to_owned(),
        response: id.to_owned(),
        input: sum(&[count("input_tokens"), count("cache_creation_input_tokens"), cached]),
        cached,
        output: count("output_tokens"),
        ..Usage::default()
    }
}
