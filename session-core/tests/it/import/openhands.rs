//! Folders of events of OpenHands.

use super::{Outcome, read_with};
use session_core::interop::import::{ImportOptions, LossFate};

const STATE: &str = r#"{"id":"s1","agent":{"llm":{"model":"m1"},"kind":"Agent"},"workspace":{"working_dir":"/w"},"stats":{"usage_to_metrics":{"agent":{"model_name":"m1","accumulated_cost":0.5,"accumulated_token_usage":{"prompt_tokens":9,"completion_tokens":2,"cache_read_tokens":3,"reasoning_tokens":1}}}}}"#;

fn event(kind: &str, rest: &str) -> String {
    format!("{{\"id\":\"e\",\"timestamp\":\"2026-01-02T03:04:05.25\",\"source\":\"agent\",\"kind\":\"{kind}\",{rest}}}")
}

/// What a folder of these files gives.
fn folder(files: &[String]) -> Outcome {
    let bytes: Vec<&[u8]> = files.iter().map(String::as_bytes).collect();
    read_with(&bytes, ImportOptions::default()).expect("its format is known")
}

#[test]
fn events_of_one_response_are_one_message_and_the_cost_is_that_of_the_state() {
    let action = |call: &str, thought: &str| {
        event(
            "ActionEvent",
            &format!(
                "\"thought\":[{{\"type\":\"text\",\"text\":\"{thought}\"}}],\"reasoning_content\":null,\"llm_response_id\":\"r1\",\
                 \"tool_name\":\"dig\",\"tool_call_id\":\"{call}\",\"tool_call\":{{\"id\":\"{call}\",\"name\":\"dig\",\"arguments\":\"{{}}\"}}"
            ),
        )
    };
    let prompt = event("SystemPromptEvent", r#""system_prompt":{"type":"text","text":"be brief"},"tools":[{}]"#);
    let files = [
        STATE.to_owned(),
        prompt.clone(),
        event(
            "MessageEvent",
            r#""llm_message":{"role":"user","content":[{"type":"text","text":"plant"}]},"extended_content":[{"type":"text","text":"oaks"}]"#,
        ),
        action("c1", "dig"),
        action("c2", ""),
        event(
            "ObservationEvent",
            r#""tool_name":"dig","tool_call_id":"c2","observation":{"content":[{"type":"text","text":"two"}],"is_error":false}"#,
        ),
        event("AgentErrorEvent", r#""tool_name":"dig","tool_call_id":"c1","error":"no spade""#),
        prompt,
        event("MessageEvent", r#""llm_message":{"role":"assistant","content":[{"type":"text","text":"done"}]}"#),
        event("PauseEvent", r#""x":1"#),
        event("DreamEvent", r#""x":1"#),
    ];
    let outcome = folder(&files);
    let expected = [
        "settings: m1",
        "system: be brief",
        "user: plant\noaks",
        "assistant: dig [c1 dig {}] [c2 dig {}]",
        "tool: no spade <c1 dig> error=true",
        "tool: two <c2 dig>",
        "assistant: done",
        "notice: the conversation was paused",
        r#"x.usage: cached=3 cost=0.5 input=9 model="m1" output=2 reasoning=1"#,
    ];
    assert_eq!(outcome.lines(), expected);
    assert_eq!(outcome.only().workspace, "/w");
    let kept: Vec<_> = outcome.report.losses.iter().filter(|loss| loss.fate == LossFate::Kept).collect();
    assert_eq!((kept[0].what.as_str(), kept[0].file.as_str()), ("DreamEvent", "file-10"));
}

#[test]
fn what_was_refused_condensed_or_failed_is_told_with_its_reason() {
    for (kind, rest, told) in [
        (
            "UserRejectObservation",
            r#""tool_name":"dig","tool_call_id":"c1","rejection_reason":"not under the oak""#,
            "tool: rejected: not under the oak <c1 dig> error=true",
        ),
        ("UserRejectObservation", r#""tool_name":"dig","tool_call_id":"c1""#, "tool: rejected <c1 dig> error=true"),
        (
            "AgentErrorEvent",
            r#""tool_name":"dig","tool_call_id":"c1","error":"no spade""#,
            "tool: no spade <c1 dig> error=true",
        ),
        (
            "Condensation",
            r#""summary":"oaks grow","forgotten_event_ids":["e"]"#,
            "notice: the conversation was condensed: oaks grow",
        ),
        ("Condensation", r#""summary":null,"forgotten_event_ids":["e"]"#, "notice: the conversation was condensed"),
        ("CondensationSummaryEvent", r#""summary":"oaks grow""#, "notice: the conversation was condensed: oaks grow"),
        ("ConversationErrorEvent", r#""code":"Drought","detail":"no rain""#, "notice: error: Drought: no rain"),
        ("ConversationErrorEvent", r#""code":"Drought","detail":"""#, "notice: error: Drought"),
        ("ConversationErrorEvent", r#""detail":"no rain""#, "notice: error: no rain"),
        ("ConversationErrorEvent", r#""code":null"#, "notice: error: no details"),
    ] {
        let call = event(
            "ActionEvent",
            r#""llm_response_id":"r1","reasoning_content":"hm","thought":[],"tool_call":{"id":"c1","name":"dig","arguments":"{}"}"#,
        );
        let outcome = folder(&[call, event(kind, rest)]);
        assert_eq!(outcome.lines(), ["assistant: (thinks: hm) [c1 dig {}]", told], "{kind} {rest}");
        assert_eq!(outcome.all_losses(), [""; 0], "{kind} {rest}");
    }
}

#[test]
fn a_thought_is_read_in_whichever_member_it_stands() {
    for (thought, told) in [
        (r#""reasoning_content":"wet soil""#, " (thinks: wet soil)"),
        (
            r#""reasoning_content":null,"thinking_blocks":[{"thinking":"wet"},{"data":"x"},{"thinking":"soil"}]"#,
            " (thinks: wet\n\nsoil)",
        ),
        (r#""reasoning_content":"wet soil","thinking_blocks":[{"thinking":"wet soil"}]"#, " (thinks: wet soil)"),
        (r#""reasoning_content":"""#, ""),
    ] {
        let said = r#""role":"assistant","content":[{"type":"text","text":"done"}]"#;
        let message = event("MessageEvent", &format!("\"llm_message\":{{{said},{thought}}}"));
        let action = event("ActionEvent", &format!("\"thought\":[],\"tool_call\":{{\"name\":\"dig\"}},{thought}"));
        let outcome = folder(&[message, action]);
        let expected = [format!("assistant: done{told}"), format!("assistant:{told} [call-1 dig {{}}]")];
        assert_eq!(outcome.lines(), expected, "{thought}");
        assert_eq!(outcome.all_losses(), [""; 0], "{thought}");
    }
}

#[test]
fn events_about_the_program_are_counted_and_a_role_that_is_none_is_refused() {
    let said = |role: &str| event("MessageEvent", &format!("\"llm_message\":{{{role}\"content\":\"plant\"}}"));
    let asked = said(r#""role":"user","#);
    for (second, loss) in [
        (event("ConversationStateUpdateEvent", r#""key":"stats""#), "dropped: 1 ConversationStateUpdateEvent @1"),
        (event("CondensationRequest", r#""x":1"#), "dropped: 1 CondensationRequest @1"),
        (event("LLMCompletionLogEvent", r#""x":1"#), "dropped: 1 LLMCompletionLogEvent @1"),
        (event("TokenEvent", r#""x":1"#), "dropped: 1 TokenEvent @1"),
        (event("StreamingDeltaEvent", r#""x":1"#), "dropped: 1 StreamingDeltaEvent @1"),
        (said(r#""role":"gardener","#), "unknown: 1 role gardener @1"),
        (said(""), "unknown: 1 role that is missing @1"),
        (r#"{"id":"e"}"#.to_owned(), "unknown: 1 record without a kind @1"),
    ] {
        let outcome = folder(&[asked.clone(), second.clone()]);
        assert_eq!(outcome.lines(), ["user: plant"], "{second}");
        assert_eq!(outcome.all_losses(), [loss], "{second}");
        assert_eq!(outcome.report.losses[0].file, "file-1", "{second}");
        assert_eq!(outcome.report.has_unknown(), loss.starts_with("unknown"), "{second}");
    }
    let prompted = folder(&[said(r#""role":"system","#)]);
    assert_eq!((prompted.lines(), prompted.all_losses()), (vec!["system: plant".to_owned()], vec![]));
}
