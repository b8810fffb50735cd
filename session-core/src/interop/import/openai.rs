//! Chats as OpenAI's endpoint takes them, wherever a program has put the list.

use super::Importer;
use super::content::{Said, join};
use super::draft::Draft;
use super::events::{said, said_by_user, sum, usage};
use super::out::Out;
use super::time::time_of;
use super::value::Json;
use super::values::Value;
use crate::{Event, Role, Usage};

/// Where the list of messages may be, the likeliest first.
const CONTAINERS: [&str; 8] =
    ["messages", "traj", "history", "conversation", "conversations", "trajectory", "input", "prompt"];

/// Roles that a message may have.
const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// Members of a message that are read.
const READ: [&str; 14] = [
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "tool_call_ids",
    "function_call",
    "reasoning",
    "reasoning_content",
    "thinking_blocks",
    "reasoning_details",
    "timestamp",
    "refusal",
    "id",
];

/// Members beside the messages that are read.
const BESIDE: [&str; 10] =
    ["id", "session_id", "conversation_id", "model", "title", "created", "created_at", "timestamp", "cost", "response"];

/// Whether a record is a message, a list of messages, or something that holds one.
pub(super) fn tells(record: &Json) -> bool {
    is_message(record) || is_conversation(record) || container(record).is_some()
}

/// A message has a role that there is, and something to say.
fn is_message(record: &Json) -> bool {
    let says = ["content", "tool_calls", "function_call"].iter().any(|name| has(record, name));
    ROLES.contains(&record.get("role").text()) && says && !has(record, "type") && !has(record, "kind")
}

fn has(record: &Json, name: &str) -> bool {
    record.members().iter().any(|(member, _)| member == name)
}

fn is_conversation(list: &Json) -> bool {
    list.list().first().is_some_and(is_message)
}

/// The list in an object: one conversation, or several.
fn container(record: &Json) -> Option<(&'static str, &[Json])> {
    let holds = |name: &&&str| {
        let list = record.get(name);
        is_conversation(list) || list.list().first().is_some_and(|inner| is_conversation(inner) || nested(inner))
    };
    let name = CONTAINERS.iter().find(holds)?;
    Some((name, record.get(name).list()))
}

/// Whether an element of a container is a container itself.
fn nested(record: &Json) -> bool {
    record.is_object() && CONTAINERS.iter().any(|name| is_conversation(record.get(name)))
}

/// Reads any number of sessions.
#[derive(Default)]
pub(super) struct OpenAi {
    draft: Draft,
    /// The array that the messages of the draft are elements of.
    array: Option<u64>,
}

impl Importer for OpenAi {
    fn take(&mut self, value: Value, out: &mut Out) {
        if value.array != self.array {
            self.close(out);
            self.array = value.array;
        }
        let record = &value.json;
        if is_conversation(record) {
            self.close(out);
            record.list().iter().for_each(|message| self.message(message, out));
            self.close(out);
        } else if container(record).is_some() {
            self.close(out);
            self.contained(record, out);
            self.close(out);
        } else {
            self.message(record, out);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        self.close(out);
    }
}

impl OpenAi {
    fn close(&mut self, out: &mut Out) {
        out.finish(std::mem::take(&mut self.draft));
    }

    /// An object that holds one conversation or several, and says more about it.
    fn contained(&mut self, record: &Json, out: &mut Out) {
        let Some((name, list)) = container(record) else { return };
        if !list.first().is_some_and(is_message) {
            for inner in list {
                match inner {
                    Json::List(messages) => messages.iter().for_each(|message| self.message(message, out)),
                    object if nested(object) => self.contained(object, out),
                    _ => out.unknown("element that is no conversation"),
                }
                self.close(out);
            }
            for (member, _) in record.members().iter().filter(|(member, _)| member != name) {
                out.drop_one(&format!("{member} beside the conversations"));
            }
            return;
        }
        self.facts(record);
        list.iter().for_each(|message| self.message(message, out));
        let mut read = vec![name];
        read.extend(BESIDE);
        if let Some(choice) = record.at(&["response", "choices"]).list().first() {
            let answer = choice.get("message");
            if list.last().is_none_or(|last| last != answer) && answer.is_object() {
                self.message(answer, out);
            }
        } else {
            read.pop();
        }
        self.cost(record);
        for (member, _) in record.members() {
            if !read.contains(&member.as_str()) {
                out.drop_one(&format!("{member} beside the messages"));
            }
        }
    }

    fn facts(&mut self, record: &Json) {
        let session = &mut self.draft.session;
        let first = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| record.get(name).as_text());
            found.find(|text| !text.is_empty()).unwrap_or_default().to_owned()
        };
        session.id = first(&["session_id", "conversation_id", "id"]);
        session.title = first(&["title"]);
        session.created = ["created_at", "created", "timestamp"].iter().find_map(|name| time_of(record.get(name)));
        let model = [record.get("model"), record.at(&["response", "model"])].into_iter().find_map(Json::as_text);
        self.draft.model(None, model.unwrap_or_default());
    }

    /// What the logged answer cost.
    fn cost(&mut self, record: &Json) {
        let counts = record.at(&["response", "usage"]);
        let count = |path: &[&str]| counts.at(path).count();
        let cost = record.get("cost").number();
        if !counts.is_object() && cost.is_none() {
            return;
        }
        let usage_of = Usage {
            model: self.draft.session.model.clone(),
            response: record.at(&["response", "id"]).text().to_owned(),
            input: sum(&[count(&["prompt_tokens"])]),
            cached: count(&["prompt_tokens_details", "cached_tokens"]),
            output: count(&["completion_tokens"]),
            reasoning: count(&["completion_tokens_details", "reasoning_tokens"]),
            cost,
        };
        self.draft.push(usage(None, usage_of));
    }

    fn message(&mut self, message: &Json, out: &mut Out) {
        let role = match message.get("role").text() {
            "system" | "developer" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            _ if !message.is_object() => return out.unknown("element that is no message"),
            "" => return out.unknown("message without a role"),
            other => return out.unknown(&format!("role {}", other.chars().take(40).collect::<String>())),
        };
        for (member, _) in message.members() {
            if !READ.contains(&member.as_str()) {
                out.drop_one(&format!("{member} of a message"));
            }
        }
        let ts = time_of(message.get("timestamp"));
        let content = self.content(message.get("content"), out);
        let mut told = content.message(role.clone());
        told.name = message.get("name").text().into();
        match role {
            Role::Tool => {
                let ids =
                    [message.get("tool_call_id"), message.get("tool_call_ids").list().first().unwrap_or(&Json::Null)];
                match ids.into_iter().find_map(Json::as_text).filter(|id| !id.is_empty()) {
                    Some(id) => self.draft.result(ts, id, told, |_: &mut Event| {}),
                    None => self.draft.result_in_order(ts, told, |_: &mut Event| {}),
                }
            }
            Role::Assistant => {
                told.reasoning_content = reasoning(message).into();
                let refusal = message.get("refusal").text();
                let text = join(&told.content.text(), refusal, "\n");
                told.content = text.into();
                let entry = self.draft.push(said(ts, told));
                self.calls(entry, message);
            }
            Role::User => {
                self.draft.push(said_by_user(ts, told));
            }
            Role::System | Role::Missing | Role::Other(_) => {
                self.draft.push(said(ts, told));
            }
        }
    }

    /// A part of a type that an endpoint does not have belongs to another format.
    fn content(&mut self, content: &Json, out: &mut Out) -> Said {
        const FOREIGN: [&str; 4] = ["tool_use", "tool_result", "toolCall", "thinking"];
        for part in content.list() {
            let kind = part.get("type").text();
            if FOREIGN.contains(&kind) {
                out.unknown(&format!("part {kind}"));
            }
        }
        Said::read(content, &mut self.draft, out)
    }

    fn calls(&mut self, entry: usize, message: &Json) {
        let old = message.get("function_call");
        let calls = message.get("tool_calls").list().iter();
        let calls = calls.map(|call| (call.get("id").text(), call.get("function"), call));
        for (id, function, whole) in calls.chain(old.is_object().then_some(("", old, old))) {
            let custom = whole.get("custom");
            // What a custom tool takes is a text, and no JSON.
            let input = Json::Object(vec![("input".into(), custom.get("input").clone())]);
            let (function, arguments) = match (function, custom) {
                (Json::Object(_), _) => (function, function.get("arguments")),
                (_, Json::Object(_)) => (custom, &input),
                // Some programs leave the object around the name out.
                _ => (whole, whole.get("arguments")),
            };
            self.draft.call_with(entry, id, function.get("name").text(), arguments);
        }
    }
}

/// The reasoning of a message, in whichever member it stands.
fn reasoning(message: &Json) -> String {
    let plain = ["reasoning_content", "reasoning"].iter().map(|name| message.get(name).text());
    if let Some(text) = plain.into_iter().find(|text| !text.is_empty()) {
        return text.to_owned();
    }
    let blocks = ["thinking_blocks", "reasoning_details"].iter().flat_map(|name| message.get(name).list());
    let text = |block: &Json| {
        let texts = ["thinking", "text", "summary"].map(|name| block.get(name).text().to_owned());
        texts.into_iter().find(|text| !text.is_empty())
    };
    blocks.filter_map(text).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_what_holds_them_are_told_from_everything_else() {
        for (record, is_told) in [
            (r#"{"role":"user","content":"a"}"#, true),
            (r#"[{"role":"user","content":"a"}]"#, true),
            (r#"{"traj":[{"role":"user","content":"a"}],"reward":0}"#, true),
            (r#"{"conversations":[[{"role":"user","content":"a"}]]}"#, true),
            (r#"{"type":"message","role":"user","content":"a"}"#, false),
            (r#"{"type":"message","message":{"role":"user","content":"a"}}"#, false),
            (r#"{"role":"user"}"#, false),
            (r#"{"role":"narrator","content":"a"}"#, false),
            (r#"{"messages":[]}"#, false),
            (r#"{"messages":[{"type":"user","content":"a"}]}"#, false),
        ] {
            assert_eq!(tells(&Json::parse(record).expect("it is JSON")), is_told, "{record}");
        }
    }
}
