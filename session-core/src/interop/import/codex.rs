//! Codex: rollouts of both generations, bare items and items in an envelope.

use super::Importer;
use super::codex_items::Items;
use super::events::{details, event, notice, usage};
use super::out::Out;
use super::time::time_of;
use super::value::Json;
use super::values::Value;
use crate::{Kind, Timestamp, Usage};

/// Types of item that an envelope of the second generation carries.
const ENVELOPES: [&str; 7] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "inter_agent_communication_metadata",
];

/// Events that repeat what stands in an item, or are about the program.
const MIRRORS: [&str; 42] = [
    "agent_message",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "entered_review_mode",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_end",
    "exited_review_mode",
    "guardian_assessment",
    "image_generation_end",
    "item_completed",
    "item_started",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "patch_apply_begin",
    "patch_apply_end",
    "plan_update",
    "sub_agent_activity",
    "task_complete",
    "task_started",
    "thread_goal_updated",
    "thread_settings_applied",
    "turn_diff",
    "undo_completed",
    "user_message",
    "view_image_tool_call",
    "web_search_begin",
    "web_search_end",
];

/// What of a turn's context is a setting, besides the model.
const SETTINGS: [&str; 4] = ["effort", "approval_policy", "sandbox_policy", "cwd"];

/// Whether a record is a line of a rollout.
pub(super) fn tells(record: &Json) -> bool {
    let in_envelope = ENVELOPES.contains(&record.get("type").text()) && record.get("payload").is_object();
    (in_envelope && record.get("timestamp").as_text().is_some()) || is_old_header(record) || is_state(record)
}

/// The first line of the first generation.
fn is_old_header(record: &Json) -> bool {
    let has = |name: &str| record.get(name).as_text().is_some();
    let names = record.members().iter().map(|(name, _)| name.as_str());
    let has_only = names.clone().all(|name| matches!(name, "id" | "timestamp" | "instructions" | "git"));
    has("id") && has("timestamp") && has_only && names.count() > 2
}

fn is_state(record: &Json) -> bool {
    record.get("record_type").text() == "state"
}

/// Reads one session.
#[derive(Default)]
pub(super) struct Codex {
    items: Items,
    has_meta: bool,
    /// The last totals that were told, so that each token counts once.
    totals: [u64; 4],
    settings: Vec<(String, Json)>,
}

impl Importer for Codex {
    fn take(&mut self, value: Value, out: &mut Out) {
        let line = &value.json;
        let kind = line.get("type").text();
        if is_state(line) {
            out.drop_one("state");
        } else if line.get("payload").is_object() && !kind.is_empty() {
            self.envelope(kind, line, out);
        } else if !kind.is_empty() {
            self.items.item(line, None, out);
        } else if is_old_header(line) {
            self.meta(line, out);
        } else {
            out.unknown("record without a type");
        }
    }

    fn finish(&mut self, out: &mut Out) {
        self.items.finish(out);
    }
}

impl Codex {
    fn envelope(&mut self, kind: &str, line: &Json, out: &mut Out) {
        let ts = time_of(line.get("timestamp"));
        let payload = line.get("payload");
        match kind {
            "session_meta" => self.meta(payload, out),
            "turn_context" => self.context(payload, ts, out),
            "response_item" => self.items.item(payload, ts, out),
            "event_msg" => self.event(line, payload, ts, out),
            "compacted" => {
                let text = payload.get("message").text();
                if !payload.get("replacement_history").list().is_empty() {
                    out.drop_one("replacement_history");
                }
                let colon = if text.is_empty() { "" } else { ":\n" };
                self.items.draft.push(notice(ts, format!("the conversation was compacted{colon}{text}")));
            }
            "world_state" | "inter_agent_communication_metadata" => out.drop_one(kind),
            _ => out.keep(&mut self.items.draft, kind, line),
        }
    }

    /// The first says what the session is; those behind it are of the sessions that it goes on with.
    fn meta(&mut self, meta: &Json, out: &mut Out) {
        if std::mem::replace(&mut self.has_meta, true) {
            return out.drop_one("further session_meta");
        }
        let session = &mut self.items.draft.session;
        let text = |name: &str| meta.get(name).text().to_owned();
        session.id = text("id");
        session.workspace = text("cwd");
        session.version = text("cli_version");
        session.branch = meta.at(&["git", "branch"]).text().to_owned();
        session.parent = text("forked_from_id");
        if session.parent.is_empty() {
            session.parent = text("parent_thread_id");
        }
        session.created = time_of(meta.get("timestamp"));
        for name in ["instructions", "base_instructions", "dynamic_tools"] {
            if !meta.get(name).is_null() {
                out.drop_one(name);
            }
        }
    }

    fn context(&mut self, context: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let draft = &mut self.items.draft;
        if draft.session.workspace.is_empty() {
            context.get("cwd").text().clone_into(&mut draft.session.workspace);
        }
        let model = context.get("model").text();
        let named = |name: &str| (name.to_owned(), context.get(name).clone());
        let settings: Vec<_> = SETTINGS.into_iter().map(named).filter(|(_, value)| !value.is_null()).collect();
        let is_new = settings != self.settings || (!model.is_empty() && model != draft.session.model);
        if !is_new {
            return out.drop_one("turn_context that changes nothing");
        }
        let mut changed = event(ts, Kind::Settings);
        changed.model = model.to_owned();
        changed.x.set("settings", &Json::Object(settings.clone()).to_value());
        draft.push(changed);
        if !model.is_empty() {
            model.clone_into(&mut draft.session.model);
        }
        self.settings = settings;
    }

    fn event(&mut self, line: &Json, payload: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let draft = &mut self.items.draft;
        match payload.get("type").text() {
            "token_count" => self.tokens(payload.get("info"), ts, out),
            "turn_aborted" => {
                let why = payload.get("reason").as_text().unwrap_or("interrupted");
                draft.push(notice(ts, format!("the turn was stopped: {why}")));
            }
            "thread_rolled_back" => {
                self.items.roll_back(ts, payload.get("num_turns").count().unwrap_or(1), out);
            }
            "context_compacted" => {
                draft.push(notice(ts, "the conversation was compacted"));
            }
            "error" | "stream_error" | "warning" => {
                let text = details(&[payload.get("message")]);
                draft.push(notice(ts, format!("{}: {text}", payload.get("type").text())));
            }
            "thread_name_updated" => {
                payload.get("thread_name").text().clone_into(&mut draft.session.title);
            }
            known if MIRRORS.contains(&known) => out.drop_one(&format!("event {known}")),
            other => {
                let what = format!("event {other}");
                out.keep(draft, &what, line);
            }
        }
    }

    /// Totals are told twice for a call, and what is called the last use with them: only what a total grows by is new.
    fn tokens(&mut self, info: &Json, ts: Option<Timestamp>, out: &mut Out) {
        let total = info.get("total_token_usage");
        let count = |name: &str| total.get(name).count().unwrap_or(0);
        let now = ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"].map(count);
        if !total.is_object() || now == self.totals {
            return out.drop_one("token_count that adds nothing");
        }
        // A total that shrinks begins again.
        let began_again = now.iter().zip(self.totals).any(|(now, before)| *now < before);
        let before = if began_again { [0; 4] } else { self.totals };
        let grown = |at: usize| Some(now[at] - before[at]);
        self.totals = now;
        if (0..now.len()).all(|at| grown(at) == Some(0)) {
            return out.drop_one("token_count that adds nothing");
        }
        let draft = &mut self.items.draft;
        let (input, cached, output, reasoning) = (grown(0), grown(1), grown(2), grown(3));
        let model = draft.session.model.clone();
        draft.push(usage(ts, Usage { model, input, cached, output, reasoning, ..Usage::default() }));
    }
}
