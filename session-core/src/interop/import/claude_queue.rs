//! Claude Code's messages that came while it worked.

use super::draft::Draft;
use super::events::{flag, mark, said_by_user};
use super::out::Out;
use super::value::Json;
use crate::{Message, Timestamp};
use std::collections::VecDeque;

/// Messages that wait.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<String>,
}

impl Queue {
    /// A `queue-operation` line. A message that is taken out in the middle of a turn was said to the model there, and is
    /// written down nowhere else.
    pub(super) fn take(&mut self, line: &Json, ts: Option<Timestamp>, draft: &mut Draft, out: &mut Out) {
        let text = line.get("content").text();
        match line.get("operation").text() {
            "enqueue" => self.waiting.push_back(text.to_owned()),
            "dequeue" => drop(self.waiting.pop_front()),
            "popAll" => {
                self.waiting.clear();
                out.drop_one("message that was taken back");
            }
            "remove" => {
                let named = self.waiting.iter().position(|waiting| waiting == text);
                let waited = self.waiting.remove(named.unwrap_or(0));
                let Some(text) = waited.or_else(|| Some(text.to_owned()).filter(|text| !text.is_empty())) else {
                    return out.drop_one("message that was taken from an empty queue");
                };
                let mut steered = said_by_user(ts, Message::user(text));
                mark(&mut steered, flag::STEERED);
                draft.push(steered);
            }
            _ => out.keep(draft, "queue-operation", line),
        }
    }
}
