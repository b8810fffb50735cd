//! Claude Code's messages that came while it worked.

use super::draft::Draft;
use super::events::{flag, mark, said_by_user};
use super::out::Out;
use super::value::Json;
use crate::{Message, Timestamp};
use std::collections::VecDeque;

/// Messages that wait, with their lines.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<(u64, String)>,
}

impl Queue {
    /// A `queue-operation` line. A message that is taken out in the middle of a turn was said to the model there, and is
    /// written down nowhere else.
    pub(super) fn take(&mut self, line: &Json, ts: Option<Timestamp>, draft: &mut Draft, out: &mut Out) {
        let text = line.get("content").text();
        match line.get("operation").text() {
            "enqueue" => self.waiting.push_back((out.line, text.to_owned())),
            "dequeue" => drop(self.waiting.pop_front()),
            "popAll" => {
                self.waiting.clear();
                out.drop_one("message that was taken back");
            }
            "remove" => {
                let named = self.waiting.iter().position(|(_, waiting)| waiting == text);
                let waited = self.waiting.remove(named.unwrap_or(0)).map(|(_, text)| text);
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

    /// Nothing more comes: no model was ever told what still waits.
    pub(super) fn finish(&mut self, out: &mut Out) {
        for (line, _) in self.waiting.drain(..) {
            out.line = line;
            out.drop_one("message that was never delivered");
        }
    }
}
