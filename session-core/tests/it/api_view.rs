//! The conversation as a model endpoint takes it: calls and results in pairs, and a list of what was done for it.

use session_core::{
    Conversation, Event, Fields, Limits, MISSING_RESULT, Message, Repair, Timestamp, ToolCall, api_view,
};

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), call_type: "function".into(), name: "Shell".into(), ..ToolCall::default() }
}

fn asks(ids: &[&str]) -> Message {
    Message { tool_calls: ids.iter().map(|id| call(id)).collect(), ..Message::assistant("digging") }
}

fn answers(id: &str) -> Message {
    Message::tool_result(id, "Shell", "3 holes")
}

fn stands_in(id: &str) -> Message {
    let mut extra = Fields::new();
    extra.set("x", &serde_json::json!({"synthetic": true}));
    Message { extra, ..Message::tool_result(id, "Shell", MISSING_RESULT) }
}

fn added(message: usize, call_id: &str) -> Repair {
    Repair::AddedResult { message, call_id: call_id.into() }
}

fn left_out(message: usize, call_id: &str) -> Repair {
    Repair::LeftOutResult { message, call_id: call_id.into() }
}

/// Asserts what the view for an endpoint makes of a conversation, which itself stays as it was.
fn viewed(messages: &[Message], wanted: &[Message], repairs: &[Repair]) {
    let view = api_view(messages);
    assert_eq!((view.messages.as_slice(), view.repairs.as_slice()), (wanted, repairs));
}

fn user() -> Message {
    Message::user("plant three oaks")
}

#[test]
fn h11_a_call_without_a_result_gets_one_that_says_so() {
    viewed(&[user(), asks(&["c1"])], &[user(), asks(&["c1"]), stands_in("c1")], &[added(1, "c1")]);
    viewed(
        &[asks(&["c1", "c2"]), answers("c2"), user()],
        &[asks(&["c1", "c2"]), answers("c2"), stands_in("c1"), user()],
        &[added(0, "c1")],
    );
    let mut history = Vec::new();
    for message in [user(), asks(&["c1"]), answers("c1")] {
        Event::message(Timestamp::default(), message).encode(&mut history);
    }
    Event::rollback(Timestamp::default(), 1).encode(&mut history);
    let rolled_back = Conversation::read(&history[..], Limits::default()).expect("a slice has no read errors");
    viewed(&rolled_back.messages, &[user(), asks(&["c1"]), stands_in("c1")], &[added(1, "c1")]);
}

#[test]
fn h11_a_result_without_a_call_is_left_out() {
    viewed(
        &[user(), answers("c1"), asks(&["c1"])],
        &[user(), asks(&["c1"]), stands_in("c1")],
        &[left_out(1, "c1"), added(2, "c1")],
    );
    viewed(&[asks(&["c1"]), answers("c1"), answers("c1")], &[asks(&["c1"]), answers("c1")], &[left_out(2, "c1")]);
    viewed(
        &[asks(&["c1"]), user(), answers("c1")],
        &[asks(&["c1"]), stands_in("c1"), user()],
        &[added(0, "c1"), left_out(2, "c1")],
    );
}

#[test]
fn h11_an_id_that_is_used_again_is_a_call_of_its_own() {
    let paired = [asks(&["c1"]), answers("c1"), asks(&["c1"]), answers("c1")];
    viewed(&paired, &paired, &[]);
    viewed(
        &[asks(&["c1", "c1"]), answers("c1")],
        &[asks(&["c1", "c1"]), answers("c1"), stands_in("c1")],
        &[added(0, "c1")],
    );
}
