//! Folders of events of OpenHands.

use super::read_with;
use session_core::interop::import::{ImportOptions, LossFate};

const STATE: &str = r#"{"id":"s1","agent":{"llm":{"model":"m1"},"kind":"Agent"},"workspace":{"working_dir":"/w"},"stats":{"usage_to_metrics":{"agent":{"model_name":"m1","accumulated_cost":0.5,"accumulated_token_usage":{"prompt_tokens":9,"completion_tokens":2,"cache_read_tokens":3,"reasoning_tokens":1}}}}}"#;

fn event(kind: &str, rest: &str) -> String {
    format!("{{\"id\":\"e\",\"timestamp\":\"2026-01-02T03:04:05.25\",\"source\":\"agent\",\"kind\":\"{kind}\",{rest}}}")
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
    let bytes: Vec<&[u8]> = files.iter().map(String::as_bytes).collect();
    let outcome = read_with(&bytes, ImportOptions::default()).expect("its format is known");
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
