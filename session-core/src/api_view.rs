//! The conversation as a model endpoint takes it.

use crate::{Fields, Message, Role};
use serde_json::json;

/// What stands in for the result of a call that has none.
pub const MISSING_RESULT: &str = "[no result: the call was interrupted]";

/// A conversation in which every call has exactly one result after it and every result a call before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ApiView {
    /// The messages.
    pub messages: Vec<Message>,
    /// What was changed, in order.
    pub repairs: Vec<Repair>,
}

/// A change that made a conversation acceptable. `message` counts the live messages from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// A call of message `message` had no result: one that says so follows, marked with the member
    /// `x.synthetic: true`.
    AddedResult {
        /// The message that asks for the call.
        message: usize,
        /// The call.
        call_id: Box<str>,
    },
    /// Message `message` is a result for a call that nobody asked for, or for one that has its result: left out.
    LeftOutResult {
        /// The message.
        message: usize,
        /// The call that it names.
        call_id: Box<str>,
    },
}

/// Repairs a live conversation for model endpoints, which refuse a call without a result and a result without a call.
///
/// Nothing else changes: the order of messages, their texts and their unknown members stay. A result belongs to a call
/// when it follows the message that asks for it before the next message that is no result.
///
/// ```
/// use session_core::{Message, Repair, ToolCall, api_view};
/// let call = ToolCall { id: "c1".into(), call_type: "function".into(), name: "Shell".into(), ..ToolCall::default() };
/// let asks = Message { tool_calls: [call].into(), ..Message::assistant("digging") };
/// let view = api_view(&[Message::user("dig"), asks, Message::user("stop")]);
/// assert_eq!(view.messages.len(), 4);
/// assert_eq!(view.repairs, [Repair::AddedResult { message: 1, call_id: "c1".into() }]);
/// ```
pub fn api_view(messages: &[Message]) -> ApiView {
    let mut view = ApiView::default();
    let mut open: Vec<OpenCall<'_>> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        if message.role == Role::Tool {
            let answered = open.iter().position(|call| *call.id == *message.tool_call_id);
            match answered {
                Some(call) => {
                    open.remove(call);
                    view.messages.push(message.clone());
                }
                None => {
                    view.repairs.push(Repair::LeftOutResult { message: number, call_id: message.tool_call_id.clone() });
                }
            }
            continue;
        }
        view.close(&mut open);
        view.messages.push(message.clone());
        if message.role == Role::Assistant {
            open.extend(message.tool_calls.iter().map(|call| OpenCall {
                message: number,
                id: &call.id,
                tool: &call.name,
            }));
        }
    }
    view.close(&mut open);
    view
}

struct OpenCall<'a> {
    message: usize,
    id: &'a str,
    tool: &'a str,
}

impl ApiView {
    /// Gives every open call a result that says that there is none.
    fn close(&mut self, open: &mut Vec<OpenCall<'_>>) {
        for call in open.drain(..) {
            let mut extra = Fields::new();
            extra.set("x", &json!({ "synthetic": true }));
            self.messages.push(Message { extra, ..Message::tool_result(call.id, call.tool, MISSING_RESULT) });
            self.repairs.push(Repair::AddedResult { message: call.message, call_id: call.id.into() });
        }
    }
}
