//! Items of a Codex rollout: messages, thoughts, calls and their results.

use super::content::{Said, join};
use super::draft::Draft;
use super::events::{flag, mark, notice, said, said_by_user};
use super::out::Out;
use super::value::Json;
use crate::{Event, Message, Role, Timestamp};

/// The conversation of a rollout, as far as it has been read.
#[derive(Default)]
pub(super) struct Items {
    pub(super) draft: Draft,
    /// The assistant's message that calls are joined to.
    current: Option<usize>,
    /// Thoughts that belong to what the assistant says next, and when the last of them came.
    reasoning: String,
    thought_at: Option<Timestamp>,
}

impl Items {
    /// What comes next belongs to no message that stands.
    pub(super) fn close(&mut self) {
        self.current = None;
    }

    /// Takes the last turns back, with what was thought in them. What stands before the first prompt is of no turn.
    pub(super) fn roll_back(&mut self, ts: Option<Timestamp>, turns: u64, out: &mut Out) {
        let Some(from) = self.draft.last_turns(turns) else {
            return out.drop_one("thread_rolled_back that takes nothing");
        };
        self.say_thoughts();
        self.close();
        self.draft.take_back(ts, from);
    }

    pub(super) fn finish(&mut self, out: &mut Out) {
        self.say_thoughts();
        out.finish(std::mem::take(&mut self.draft));
    }

    /// Thoughts that nothing was said after are a message of their own.
    fn say_thoughts(&mut self) {
        if !self.reasoning.is_empty() {
            self.assistant(self.thought_at);
        }
    }

    pub(super) fn item(&mut self, item: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let kind = item.get("type").text();
        match kind {
            "message" => self.message(item, ts, out),
            "reasoning" => self.thought(item, ts, out),
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => self.call(kind, item, ts),
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "tool_search_output"
            | "mcp_tool_call_output" => self.result(item, ts, out),
            "web_search_call" => {
                self.draft.push(notice(ts, searched(item.get("action"))));
            }
            "image_generation_call" => {
                if !item.get("result").is_null() {
                    out.drop_one("picture that was made");
                }
                let prompt = item.get("revised_prompt").text();
                self.draft.push(notice(ts, join("made a picture", prompt, ": ")));
            }
            "agent_message" => {
                let text = Said::read(item.get("content"), &mut self.draft, out).joined("\n");
                let (from, to) = (item.get("author").text(), item.get("recipient").text());
                self.draft.push(notice(ts, format!("{from} to {to}: {text}")));
            }
            "ghost_snapshot" => {
                let commit = item.at(&["ghost_commit", "id"]).text();
                self.draft.push(notice(ts, join("a snapshot of the workspace was taken", commit, ": ")));
            }
            "compaction" | "compaction_summary" => {
                if !item.get("encrypted_content").is_null() {
                    out.drop_one("encrypted summary");
                }
                self.draft.push(notice(ts, "the conversation was compacted"));
            }
            other => {
                let what = format!("item {other}");
                out.keep(&mut self.draft, &what, item);
            }
        }
    }

    fn message(&mut self, item: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let content = Said::read(item.get("content"), &mut self.draft, out);
        let role = match item.get("role").text() {
            "assistant" => {
                let current = self.current.filter(|entry| self.draft.message(*entry).content.is_empty());
                self.current = current;
                let entry = self.assistant(ts);
                let message = content.message(Role::Assistant);
                let stored = self.draft.message(entry);
                (stored.content, stored.images) = (message.content, message.images);
                if let Some(phase) = item.get("phase").as_text() {
                    self.draft.event(entry).x.set(flag::PHASE, &phase.into());
                }
                return;
            }
            "user" => Role::User,
            "developer" | "system" => Role::System,
            other => {
                out.unknown(&format!("role {}", if other.is_empty() { "that is missing" } else { other }));
                return;
            }
        };
        self.close();
        let event = if role == Role::User { said_by_user } else { said };
        self.draft.push(event(ts, content.message(role)));
    }

    /// The message of the assistant that stands open, or a new one; thoughts that waited are in it.
    fn assistant(&mut self, ts: Option<Timestamp>) -> usize {
        let entry = self.current.filter(|entry| !self.draft.is_gone(*entry));
        let entry = entry.unwrap_or_else(|| self.draft.push(said(ts, Message::new(Role::Assistant, ""))));
        self.current = Some(entry);
        let waited = std::mem::take(&mut self.reasoning);
        let message = self.draft.message(entry);
        message.reasoning_content = join(&message.reasoning_content, &waited, "\n\n").into();
        entry
    }

    fn thought(&mut self, item: &Json, ts: Option<Timestamp>, out: &mut Out) {
        self.thought_at = ts;
        let parts = item.get("summary").list().iter().chain(item.get("content").list());
        let texts: Vec<&str> = parts.map(|part| part.get("text").text()).filter(|text| !text.is_empty()).collect();
        self.reasoning = join(&self.reasoning, &texts.join("\n\n"), "\n\n");
        if !item.get("encrypted_content").is_null() {
            out.drop_one("encrypted thought");
        }
    }

    fn call(&mut self, kind: &str, item: &Json, ts: Option<Timestamp>) {
        let text = |name: &str| item.get(name).text();
        let input = Json::Object(vec![("input".into(), item.get("input").clone())]);
        let (name, arguments) = match kind {
            "function_call" => (join(text("namespace"), text("name"), "__"), item.get("arguments")),
            // What a custom tool takes is a text, and no JSON.
            "custom_tool_call" => (text("name").to_owned(), &input),
            "local_shell_call" => ("local_shell".to_owned(), item.get("action")),
            _ => ("tool_search".to_owned(), item.get("arguments")),
        };
        let id = [text("call_id"), text("id")].into_iter().find(|id| !id.is_empty()).unwrap_or_default();
        let entry = self.assistant(ts);
        self.draft.call_with(entry, id, &name, arguments);
    }

    fn result(&mut self, item: &Json, ts: Option<Timestamp>, out: &mut Out) {
        self.close();
        let output = if item.get("output").is_null() { item.get("tools") } else { item.get("output") };
        let inside = output.as_text().and_then(unwrapped);
        let output = inside.as_ref().unwrap_or(output);
        let (content, metadata) = match (output.get("output"), output.get("content")) {
            (Json::Null, Json::Null) => (output, output.get("metadata")),
            (Json::Null, content) => (content, output.get("metadata")),
            (content, _) => (content, output.get("metadata")),
        };
        let has_types = content.list().iter().all(|part| part.as_text().is_some() || !part.get("text").is_null());
        let is_tools = item.get("output").is_null() && !has_types;
        let said = match content {
            Json::List(_) if is_tools => Said::text(content.to_text()),
            content => Said::read(content, &mut self.draft, out),
        };
        let exit_code = metadata.get("exit_code").integer().unwrap_or(0);
        let failed = exit_code != 0 || *output.get("success") == Json::Bool(false);
        let seconds = metadata.get("duration_seconds").number().unwrap_or(0.0);
        let change = |event: &mut Event| {
            #[expect(clippy::cast_possible_truncation, reason = "a float beyond the range becomes its end")]
            let ms = (seconds * 1000.0).round() as i64;
            event.ms = ms;
            if failed {
                mark(event, flag::ERROR);
            }
        };
        self.draft.result(ts, item.get("call_id").text(), said.message(Role::Tool), change);
    }
}

/// What the endpoint did on the web: it searched, opened a page, or searched one.
fn searched(action: &Json) -> String {
    let [query, url, pattern] = ["query", "url", "pattern"].map(|name| action.get(name).text());
    match action.get("type").text() {
        "open_page" => join("opened a page", url, ": "),
        "find_in_page" => join(&join("searched a page", url, ": "), pattern, " for "),
        _ if query.is_empty() => {
            let queries: Vec<&str> = action.get("queries").list().iter().map(Json::text).collect();
            join("searched the web", &queries.join(", "), ": ")
        }
        _ => format!("searched the web: {query}"),
    }
}

/// What is wrapped in the string of a result: an output beside its metadata, or typed parts.
fn unwrapped(output: &str) -> Option<Json> {
    if !output.starts_with(['{', '[']) {
        return None;
    }
    let value = Json::parse(output)?;
    let is_result = value.get("output").as_text().is_some() && value.get("metadata").is_object();
    let parts = value.list();
    let is_part = |part: &Json| part.get("type").text() == "text" && part.get("text").as_text().is_some();
    (is_result || (!parts.is_empty() && parts.iter().all(is_part))).then_some(value)
}
