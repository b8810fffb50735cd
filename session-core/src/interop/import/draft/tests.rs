//! Calls find their results, whatever the order of the file.

use super::*;

fn result(draft: &mut Draft, id: &str, text: &str) {
    draft.result(None, id, Message::new(Role::Tool, text), |_| {});
}

/// `role text` or `tool id text`, then the names of what is in `x`.
fn lines(draft: Draft, repair: bool) -> Vec<String> {
    let line = |event: Event| {
        let x: Vec<&str> = event.x.iter().map(|(name, _)| name).collect();
        let said = event.message.map_or(format!("{} {}", event.kind, event.dropped), |message| {
            let ids: Vec<&str> = message.tool_calls.iter().map(|call| &*call.id).collect();
            format!("{} {}{} {}", message.role, ids.join(","), message.tool_call_id, message.content.text())
        });
        format!("{said} {}", x.join(",")).trim_end().to_owned()
    };
    draft.finish(repair).events.into_iter().map(line).collect()
}

#[test]
fn results_stand_behind_their_message_in_the_order_of_its_calls() {
    let mut draft = Draft::default();
    let asks = draft.push(said(None, Message::assistant("dig")));
    draft.call_with(asks, "a", "Shell", &Json::Null);
    draft.call_with(asks, "b", "Shell", &Json::Null);
    draft.push(said(None, Message::user("faster")));
    result(&mut draft, "b", "second");
    result(&mut draft, "a", "first");
    assert_eq!(lines(draft, false), ["assistant a,b dig", "tool a first", "tool b second", "user  faster"]);
}

#[test]
fn a_repeated_id_is_paired_with_the_nearest_open_call_and_made_unique() {
    let mut draft = Draft::default();
    for text in ["one", "two"] {
        let asks = draft.push(said(None, Message::assistant(text)));
        draft.call_with(asks, "c", "Shell", &Json::Null);
    }
    result(&mut draft, "c", "of two");
    result(&mut draft, "c", "of one");
    result(&mut draft, "c", "of nobody");
    let expected = [
        "assistant c one",
        "tool c of one",
        "assistant c#2 two call_ids",
        "tool c#2 of two call_id",
        "tool c of nobody orphan",
    ];
    assert_eq!(lines(draft, false), expected);
}

#[test]
fn a_result_without_an_id_belongs_to_the_oldest_call_of_its_tool() {
    let mut draft = Draft::default();
    let asks = draft.push(said(None, Message::assistant("")));
    draft.call_with(asks, "", "Read", &Json::Null);
    draft.call_with(asks, "", "Shell", &Json::Null);
    let named = Message { name: "Shell".into(), ..Message::new(Role::Tool, "of the shell") };
    draft.result_in_order(None, named, |_| {});
    draft.result_in_order(None, Message::new(Role::Tool, "of the other"), |_| {});
    draft.result_in_order(None, Message::new(Role::Tool, "of nobody"), |_| {});
    let expected =
        ["assistant call-1,call-2", "tool call-1 of the other", "tool call-2 of the shell", "tool  of nobody orphan"];
    assert_eq!(lines(draft, false), expected);
}

fn roll_back(draft: &mut Draft, turns: u64) {
    if let Some(from) = draft.last_turns(turns) {
        draft.take_back(None, from);
    }
}

#[test]
fn any_number_of_calls_may_have_one_id_or_none() {
    // With a look at all calls for each, none of this would end.
    for id in ["call_0", ""] {
        let (mut draft, many) = (Draft::default(), 100_000);
        let asks = draft.push(said(None, Message::assistant("dig")));
        (0..many).for_each(|_| draft.call_with(asks, id, "Dig", &Json::Null));
        for n in 0..many {
            let tool = if n % 2 == 0 { "Dig" } else { "" };
            let message = Message { name: tool.into(), ..Message::new(Role::Tool, n.to_string()) };
            match id {
                "" => draft.result_in_order(None, message, |_| {}),
                id => draft.result(None, id, message, |_| {}),
            }
        }
        let results = draft.finish(false).events.into_iter().skip(1).filter_map(|event| event.message);
        assert!(results.map(|message| message.content.text().into_owned()).eq((0..many).map(|n| n.to_string())));
    }
}

#[test]
fn a_rollback_counts_the_messages_of_the_turns_that_it_takes() {
    let mut draft = Draft::default();
    draft.push(said(None, Message::user("one")));
    draft.push(said(None, Message::user("two")));
    draft.push(said(None, Message::user("<system-reminder>be kind</system-reminder>")));
    let asks = draft.push(said(None, Message::assistant("dig")));
    draft.call_with(asks, "a", "Shell", &Json::Null);
    result(&mut draft, "a", "dug");
    roll_back(&mut draft, 1);
    result(&mut draft, "a", "late");
    roll_back(&mut draft, 1);
    roll_back(&mut draft, 1);
    let rollbacks: Vec<String> = lines(draft, true).into_iter().filter(|line| line.starts_with("roll")).collect();
    assert_eq!(rollbacks, ["rollback 4", "rollback 2"]);
}

#[test]
fn with_repair_a_call_without_a_result_gets_one_that_says_so() {
    let mut draft = Draft::default();
    let asks = draft.push(said(None, Message::assistant("dig")));
    draft.call_with(asks, "a", "Shell", &Json::Null);
    draft.push(said(None, Message::user("stop")));
    let expected = ["assistant a dig", "tool a [no result was recorded] synthetic", "user  stop"];
    assert_eq!(lines(draft, true), expected);
}
