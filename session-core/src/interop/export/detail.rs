//! How much of an event is shown: one rule for all formats.

use crate::{Content, Event, Kind, Role, counted, is_failure, prompt_of};

/// How much of a conversation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Everything.
    #[default]
    Full,
    /// Without reasoning, and of the results of tools only how large they are.
    Compact,
    /// Only what a person wrote.
    Prompts,
}

impl Detail {
    /// A stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Detail::Full => "full",
            Detail::Compact => "compact",
            Detail::Prompts => "prompts",
        }
    }

    /// What is shown of an event; `None` where that is nothing. The first line of a history is always kept: it says
    /// what the file is.
    pub(super) fn of(self, mut event: Event) -> Option<Event> {
        match (self, &mut event.message) {
            (Detail::Full, _) => Some(event),
            (Detail::Compact, _) => {
                compact(&mut event);
                Some(event)
            }
            (Detail::Prompts, Some(message)) => {
                message.content = prompt_of(message)?.into();
                Some(event)
            }
            (Detail::Prompts, None) => (event.kind == Kind::XSession).then_some(event),
        }
    }
}

fn compact(event: &mut Event) {
    let has_failed = is_failure(event);
    let Some(message) = &mut event.message else { return };
    message.reasoning_content = "".into();
    let text = message.content.text();
    if message.role != Role::Tool || text.is_empty() {
        return;
    }
    let lines = counted(text.lines().count() as u64, "line", "lines");
    message.content = Content::Text(format!("[left out: {lines}, {} bytes]", text.len()));
    if has_failed {
        // The text that said so is gone.
        event.x.set("error", &true.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, parse_time};

    fn event(message: Message) -> Event {
        Event::message(parse_time("2026-01-02T03:04:05Z").expect("it is well formed"), message)
    }

    fn shown(detail: Detail, message: Message) -> Option<Message> {
        detail.of(event(message)).and_then(|event| event.message).map(|message| *message)
    }

    #[test]
    fn each_detail_has_a_name_and_everything_is_what_is_shown_unless_asked() {
        assert_eq!(
            [Detail::Full, Detail::Compact, Detail::Prompts].map(Detail::as_str),
            ["full", "compact", "prompts"]
        );
        assert_eq!(Detail::default(), Detail::Full);
    }

    #[test]
    fn compact_has_neither_reasoning_nor_results() {
        let thinks = Message { reasoning_content: "hm".into(), ..Message::assistant("digging") };
        assert_eq!(shown(Detail::Compact, thinks), Some(Message::assistant("digging")));
        let result = |text: &str| Message::tool_result("c1", "Shell", text);
        assert_eq!(shown(Detail::Compact, result("a\nb\n")), Some(result("[left out: 2 lines, 4 bytes]")));
        assert_eq!(shown(Detail::Compact, result("")), Some(result("")));
        let failed = Detail::Compact.of(event(result("error: no spade"))).expect("it is kept");
        assert!(is_failure(&failed));
    }

    #[test]
    fn prompts_are_what_a_person_wrote() {
        let injected = "<system-reminder>be kind</system-reminder>";
        let user = |text: &str| shown(Detail::Prompts, Message::user(text));
        assert_eq!(user(&format!("{injected}\nplant")), Some(Message::user("plant")));
        assert_eq!(user(injected), None);
        assert_eq!(shown(Detail::Prompts, Message::assistant("digging")), None);
        assert_eq!(Detail::Prompts.of(Event::default()), None);
        let header = Event { kind: Kind::XSession, ..Event::default() };
        assert_eq!(Detail::Prompts.of(header.clone()), Some(header));
    }
}
