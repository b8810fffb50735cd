//! OpenHands: a folder with one event a file, and the state of the whole beside them.

use super::Importer;
use super::content::{Said, join};
use super::draft::Draft;
use super::events::{details, flag, mark, notice, said, said_by_user, usage};
use super::out::Out;
use super::time::time_of;
use super::value::Json;
use super::values::Value;
use crate::{Event, Message, Role, Timestamp, Usage};
use std::collections::BTreeMap;

/// Events that are about the program.
const DROPPED: [&str; 5] = [
    "ConversationStateUpdateEvent",
    "CondensationRequest",
    "LLMCompletionLogEvent",
    "TokenEvent",
    "StreamingDeltaEvent",
];

/// Whether a record is an event, or the state of a conversation.
pub(super) fn tells(record: &Json) -> bool {
    let has = |name: &str| record.get(name).as_text().is_some();
    is_state(record) || (has("kind") && has("id") && has("source") && has("timestamp"))
}

fn is_state(record: &Json) -> bool {
    record.get("agent").is_object() && record.get("id").as_text().is_some() && record.get("kind").is_null()
}

/// Reads one session.
#[derive(Default)]
pub(super) struct OpenHands {
    draft: Draft,
    /// Where the message of a response stands: its calls are events of their own.
    responses: BTreeMap<String, usize>,
    system: String,
    costs: Vec<Usage>,
}

impl Importer for OpenHands {
    fn take(&mut self, value: Value, out: &mut Out) {
        let record = &value.json;
        if is_state(record) {
            return self.state(record);
        }
        let Some(kind) = record.get("kind").as_text() else {
            return out.unknown("record without a kind");
        };
        let ts = time_of(record.get("timestamp"));
        match kind {
            "SystemPromptEvent" => self.system(record, ts, out),
            "MessageEvent" => self.message(record, ts, out),
            "ActionEvent" => self.action(record, ts, out),
            "ObservationEvent" => {
                let observation = record.get("observation");
                let content = [observation.get("content"), observation.get("output")];
                let content = content.into_iter().find(|content| !content.is_null()).unwrap_or(&Json::Null);
                let said = Said::read(content, &mut self.draft, out);
                self.result(record, said, ts, observation.get("is_error").is_true());
            }
            "AgentErrorEvent" => self.result(record, Said::text(record.get("error").text()), ts, true),
            "UserRejectObservation" => {
                let reason = record.get("rejection_reason").text();
                self.result(record, Said::text(join("rejected", reason, ": ")), ts, true);
            }
            "Condensation" | "CondensationSummaryEvent" => {
                let text = record.get("summary").text();
                self.draft.push(notice(ts, join("the conversation was condensed", text, ": ")));
            }
            "PauseEvent" => drop(self.draft.push(notice(ts, "the conversation was paused"))),
            "ConversationErrorEvent" => {
                let said = Json::Text(join(record.get("code").text(), record.get("detail").text(), ": "));
                self.draft.push(notice(ts, format!("error: {}", details(&[&said]))));
            }
            known if DROPPED.contains(&known) => out.drop_one(known),
            other => out.keep(&mut self.draft, other, record),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        let ts = self.draft.session.updated;
        for cost in std::mem::take(&mut self.costs) {
            self.draft.push(usage(ts, cost));
        }
        out.finish(std::mem::take(&mut self.draft));
    }
}

impl OpenHands {
    fn state(&mut self, state: &Json) {
        let session = &mut self.draft.session;
        state.get("id").text().clone_into(&mut session.id);
        state.at(&["workspace", "working_dir"]).text().clone_into(&mut session.workspace);
        for (_, metrics) in state.at(&["stats", "usage_to_metrics"]).members() {
            let counts = metrics.get("accumulated_token_usage");
            let count = |name: &str| counts.get(name).count();
            self.costs.push(Usage {
                model: metrics.get("model_name").text().to_owned(),
                response: String::new(),
                input: count("prompt_tokens"),
                cached: count("cache_read_tokens"),
                output: count("completion_tokens"),
                reasoning: count("reasoning_tokens"),
                cost: metrics.get("accumulated_cost").number(),
            });
        }
        let model = state.at(&["agent", "llm", "model"]).text().to_owned();
        self.draft.model(None, &model);
    }

    /// The prompt is told again whenever a conversation is restored.
    fn system(&mut self, record: &Json, ts: Option<Timestamp>, out: &mut Out) {
        if !record.get("tools").list().is_empty() {
            out.drop_one("tools of a system prompt");
        }
        let message = Said::read(record.get("system_prompt"), &mut self.draft, out).message(Role::System);
        let text = message.content.text().into_owned();
        if text == self.system && !text.is_empty() {
            return out.drop_one("system prompt that stands already");
        }
        self.system = text;
        self.draft.push(said(ts, message));
    }

    fn message(&mut self, record: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let message = record.get("llm_message");
        let mut content = Said::read(message.get("content"), &mut self.draft, out);
        for part in record.get("extended_content").list() {
            content.push(part, &mut self.draft, out);
        }
        match message.get("role").text() {
            "user" => drop(self.draft.push(said_by_user(ts, content.message(Role::User)))),
            "system" => drop(self.draft.push(said(ts, content.message(Role::System)))),
            "assistant" => {
                let mut told = content.message(Role::Assistant);
                told.reasoning_content = reasoning(message).into();
                self.draft.push(said(ts, told));
            }
            other => out.unknown(&format!("role {}", if other.is_empty() { "that is missing" } else { other })),
        }
    }

    fn action(&mut self, record: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let response = record.get("llm_response_id").text();
        let known = self.responses.get(response).copied().filter(|_| !response.is_empty());
        let entry = known.unwrap_or_else(|| {
            let entry = self.draft.push(said(ts, Message::new(Role::Assistant, "")));
            self.responses.insert(response.to_owned(), entry);
            entry
        });
        let thought = Said::read(record.get("thought"), &mut self.draft, out);
        thought.join(self.draft.message(entry));
        let message = self.draft.message(entry);
        message.reasoning_content = join(&message.reasoning_content, &reasoning(record), "\n\n").into();
        let tool = record.get("tool_call");
        let (named, function) = (tool.get("name").text(), tool.get("function"));
        let name = [named, function.get("name").text(), record.get("tool_name").text()];
        let arguments = [tool.get("arguments"), function.get("arguments"), record.get("action")];
        let arguments = arguments.into_iter().find(|arguments| !arguments.is_null()).unwrap_or(&Json::Null);
        let id = [tool.get("id").text(), record.get("tool_call_id").text()];
        let first = |texts: &[&str]| texts.iter().find(|text| !text.is_empty()).copied().unwrap_or_default().to_owned();
        self.draft.call_with(entry, &first(&id), &first(&name), arguments);
    }

    fn result(&mut self, record: &Json, said: Said, ts: Option<Timestamp>, is_error: bool) {
        let mut message = said.message(Role::Tool);
        message.name = record.get("tool_name").text().into();
        self.draft.result(ts, record.get("tool_call_id").text(), message, |event: &mut Event| {
            if is_error {
                mark(event, flag::ERROR);
            }
        });
    }
}

/// What a model thought, in whichever member it stands.
fn reasoning(record: &Json) -> String {
    let text = record.get("reasoning_content").text();
    if !text.is_empty() {
        return text.to_owned();
    }
    let blocks = record.get("thinking_blocks").list().iter();
    let texts: Vec<&str> = blocks.map(|block| block.get("thinking").text()).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}
