//! The messages of a conversation, as a chat completions endpoint takes them.

use super::{End, Entry, Export, Head};
use crate::json::push_string;
use crate::{Content, Effect, Image, Kind, Message, Role, ToolCall, api_view, counted};

/// The body of a request, `{"model":…,"messages":[…]}`: the repaired view ([`api_view`]) with the members that such
/// endpoints know, one message a line.
///
/// A tool's message always has a content, and so has every other one that makes no calls. Reasoning stays in
/// `reasoning_content`. A picture of ours is a file that is not here: a note stands in its place. The messages are held
/// until the end, since only then it is known which calls have no result.
#[derive(Debug, Clone, Default)]
pub struct OpenAi {
    model: String,
    messages: Vec<Message>,
}

impl OpenAi {
    /// The exporter of one conversation.
    pub fn new() -> Self {
        OpenAi::default()
    }
}

impl Export for OpenAi {
    fn begin(&mut self, head: &Head, _: &mut Vec<u8>) {
        self.model.clone_from(&head.meta.model);
    }

    fn entry(&mut self, entry: &Entry, _: &mut Vec<u8>) {
        let event = &entry.event;
        if event.kind == Kind::Settings && !event.model.is_empty() {
            self.model.clone_from(&event.model);
        }
        if let (Some(message), Effect::Adds, Some(true)) = (&event.message, event.effect(), entry.live) {
            self.messages.push((**message).clone());
        }
    }

    fn end(&mut self, _: &End, out: &mut Vec<u8>) {
        out.push(b'{');
        if !self.model.is_empty() {
            member(out, "model", &self.model);
            out.push(b',');
        }
        out.extend_from_slice(b"\"messages\":[");
        for (number, message) in api_view(&self.messages).messages.iter().enumerate() {
            out.extend_from_slice(if number == 0 { b"\n" } else { b",\n" });
            push_message(out, message);
        }
        out.extend_from_slice(b"\n]}\n");
    }
}

fn push_message(out: &mut Vec<u8>, message: &Message) {
    out.push(b'{');
    member(out, "role", message.role.as_str());
    if !message.content.is_empty() || !message.images.is_empty() || needs_content(message) {
        out.extend_from_slice(b",\"content\":");
        push_content(out, message);
    }
    for (name, text) in [
        ("reasoning_content", &*message.reasoning_content),
        ("name", &message.name),
        ("tool_call_id", &message.tool_call_id),
    ] {
        if !text.is_empty() {
            out.push(b',');
            member(out, name, text);
        }
    }
    for (number, call) in message.tool_calls.iter().enumerate() {
        out.extend_from_slice(if number == 0 { b",\"tool_calls\":[" } else { b"," });
        push_call(out, call);
    }
    out.extend_from_slice(if message.tool_calls.is_empty() { b"}" } else { b"]}" });
}

fn needs_content(message: &Message) -> bool {
    message.role != Role::Assistant || message.tool_calls.is_empty() || matches!(message.content, Content::Parts(_))
}

fn push_content(out: &mut Vec<u8>, message: &Message) {
    match &message.content {
        Content::Parts(parts) if message.images.is_empty() => out.extend_from_slice(parts.as_json().as_bytes()),
        content => {
            let notes = message.images.iter().map(note);
            let text = std::iter::once(content.text().into_owned()).filter(|text| !text.is_empty()).chain(notes);
            push_string(out, &text.collect::<Vec<_>>().join("\n"));
        }
    }
}

fn push_call(out: &mut Vec<u8>, call: &ToolCall) {
    out.push(b'{');
    member(out, "id", &call.id);
    out.push(b',');
    member(out, "type", if call.call_type.is_empty() { "function" } else { &call.call_type });
    out.extend_from_slice(b",\"function\":{");
    member(out, "name", &call.name);
    out.push(b',');
    member(out, "arguments", &call.arguments);
    out.extend_from_slice(b"}}");
}

/// `"name":"text"`
fn member(out: &mut Vec<u8>, name: &str, text: &str) {
    push_string(out, name);
    out.push(b':');
    push_string(out, text);
}

/// What stands for a picture: `[image: image/png, 640×480, 360165 bytes, tmp/oak.png]`.
pub(super) fn note(image: &Image) -> String {
    let mut parts = vec![image.media_type.clone()];
    if image.width > 0 && image.height > 0 {
        parts.push(format!("{}×{}", image.width, image.height));
    }
    if let Some(size) = u64::try_from(image.size).ok().filter(|size| *size > 0) {
        parts.push(counted(size, "byte", "bytes"));
    }
    parts.push(image.path.clone());
    parts.retain(|part| !part.is_empty());
    format!("[image: {}]", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Fields, Meta, Parts, parse_time};

    fn body(messages: impl IntoIterator<Item = Message>) -> String {
        let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
        let (mut exporter, mut out) = (OpenAi::new(), Vec::new());
        for (number, message) in (1..).zip(messages) {
            exporter.entry(&Entry { number, live: Some(true), event: Event::message(ts, message) }, &mut out);
        }
        exporter.end(&End::default(), &mut out);
        String::from_utf8(out).expect("JSON is text")
    }

    #[test]
    fn only_what_endpoints_know_is_written() {
        let mut extra = Fields::new();
        extra.set("cache", &true.into());
        let call = ToolCall { id: "c1".into(), name: "Shell".into(), arguments: "{}".into(), ..ToolCall::default() };
        let asks = Message { tool_calls: [call].into(), extra, ..Message::assistant("") };
        let answers = Message::tool_result("c1", "Shell", "");
        assert_eq!(
            body([asks, answers, Message::user("")]),
            "{\"messages\":[\n\
             {\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"Shell\",\"arguments\":\"{}\"}}]},\n\
             {\"role\":\"tool\",\"content\":\"\",\"name\":\"Shell\",\"tool_call_id\":\"c1\"},\n\
             {\"role\":\"user\",\"content\":\"\"}\n]}\n"
        );
    }

    #[test]
    fn parts_stay_and_a_picture_leaves_a_note() {
        let parts = Parts::new(r#"[{"type":"text","text":"an oak"}]"#).expect("it is a list");
        let with_parts = Message { content: Content::Parts(parts), ..Message::user("") };
        let image = Image {
            media_type: "image/png".into(),
            width: 2,
            height: 3,
            size: 1,
            path: "oak.png".into(),
            ..Image::default()
        };
        let with_image = Message { images: [image].into(), ..Message::user("look") };
        assert_eq!(
            body([with_parts, with_image]),
            "{\"messages\":[\n{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"an oak\"}]},\n\
             {\"role\":\"user\",\"content\":\"look\\n[image: image/png, 2×3, 1 byte, oak.png]\"}\n]}\n"
        );
    }

    #[test]
    fn the_model_of_a_body_is_the_last_that_was_set_or_that_of_the_session() {
        let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
        for (session, set, wanted) in [
            ("", &[][..], ""),
            ("oak-1", &[], r#""model":"oak-1","#),
            ("oak-1", &["oak-2", "oak-3"], r#""model":"oak-3","#),
            ("", &["oak-2", ""], r#""model":"oak-2","#),
        ] {
            let (mut exporter, mut out) = (OpenAi::new(), Vec::new());
            exporter.begin(&Head::of(Meta { model: session.into(), ..Meta::default() }), &mut out);
            for (number, model) in (1..).zip(set) {
                let event = Event::settings(ts, *model, false, Vec::new());
                exporter.entry(&Entry { number, live: None, event }, &mut out);
            }
            exporter.end(&End::default(), &mut out);
            let body = String::from_utf8(out).expect("JSON is text");
            assert_eq!(body, format!("{{{wanted}\"messages\":[\n]}}\n"));
        }
    }
}
