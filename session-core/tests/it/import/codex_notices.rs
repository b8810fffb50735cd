//! What a rollout of Codex says besides messages: notices, titles, thoughts that end it.

use super::codex::{META, item, line};
use super::read;
use session_core::format_time;

/// What one line behind the header gives: its events, and what was lost.
fn told(second: &str) -> (Vec<String>, Vec<String>) {
    let outcome = read(&[line("session_meta", META), second.to_owned()].concat());
    (outcome.lines(), outcome.all_losses())
}

#[test]
fn what_the_endpoint_did_by_itself_is_a_notice() {
    for (payload, notice, losses) in [
        (
            r#"{"type":"web_search_call","action":{"type":"search","query":"oaks","queries":["oaks"],"url":null}}"#,
            "searched the web: oaks",
            &[][..],
        ),
        (
            r#"{"type":"web_search_call","action":{"type":"search","queries":["oaks","birches"]}}"#,
            "searched the web: oaks, birches",
            &[],
        ),
        (r#"{"type":"web_search_call","status":"completed"}"#, "searched the web", &[]),
        (
            r#"{"type":"web_search_call","action":{"type":"open_page","url":"https://garden.example/oak"}}"#,
            "opened a page: https://garden.example/oak",
            &[],
        ),
        (
            r#"{"type":"web_search_call","action":{"type":"find_in_page","url":"https://garden.example","pattern":"acorn"}}"#,
            "searched a page: https://garden.example for acorn",
            &[],
        ),
        (
            r#"{"type":"web_search_call","action":{"type":"find_in_page","pattern":"acorn"}}"#,
            "searched a page for acorn",
            &[],
        ),
        (r#"{"type":"web_search_call","action":{"type":"open_page","url":null}}"#, "opened a page", &[]),
        (
            r#"{"type":"image_generation_call","revised_prompt":"an oak","result":"aGVsbG8="}"#,
            "made a picture: an oak",
            &["dropped: 1 picture that was made @2"],
        ),
        (r#"{"type":"image_generation_call","revised_prompt":null}"#, "made a picture", &[]),
        (
            r#"{"type":"agent_message","author":"head","recipient":"gardener","content":[{"type":"input_text","text":"water"},{"type":"encrypted_content","encrypted_content":"x"},{"type":"input_text","text":"the oaks"}]}"#,
            "head to gardener: water\nthe oaks",
            &["dropped: 1 part encrypted_content @2"],
        ),
        (
            r#"{"type":"ghost_snapshot","ghost_commit":{"id":"0a1b2c","parent":"ffff"}}"#,
            "a snapshot of the workspace was taken: 0a1b2c",
            &[],
        ),
        (r#"{"type":"ghost_snapshot"}"#, "a snapshot of the workspace was taken", &[]),
        (
            r#"{"type":"compaction","encrypted_content":"x"}"#,
            "the conversation was compacted",
            &["dropped: 1 encrypted summary @2"],
        ),
        (r#"{"type":"compaction_summary"}"#, "the conversation was compacted", &[]),
    ] {
        let losses = losses.iter().map(|loss: &&str| (*loss).to_owned()).collect();
        assert_eq!(told(&item(payload)), (vec![format!("notice: {notice}")], losses), "{payload}");
    }
}

#[test]
fn errors_and_warnings_are_notices_with_what_they_say() {
    for kind in ["error", "stream_error", "warning"] {
        for (rest, text) in [
            (r#","message":"the well is dry","codex_error_info":"other""#, "the well is dry"),
            (r#","message":"""#, "no details"),
            (r#","message":null"#, "no details"),
            ("", "no details"),
        ] {
            let event = line("event_msg", &format!("{{\"type\":\"{kind}\"{rest}}}"));
            assert_eq!(told(&event), (vec![format!("notice: {kind}: {text}")], Vec::new()), "{event}");
        }
    }
}

#[test]
fn the_last_name_of_a_thread_is_its_title_and_the_first_context_its_workspace_where_the_header_has_none() {
    let named = |name: &str| {
        line(
            "event_msg",
            &format!("{{\"type\":\"thread_name_updated\",\"thread_id\":\"t1\",\"thread_name\":\"{name}\"}}"),
        )
    };
    let context = |cwd: &str| line("turn_context", &format!("{{\"model\":\"m1\",\"cwd\":\"{cwd}\"}}"));
    for (header, workspace) in [(META, "/w"), (r#"{"id":"t1"}"#, "/garden")] {
        let file =
            [line("session_meta", header), context("/garden"), named("Oaks"), context("/shed"), named("Old oaks")];
        let outcome = read(&file.concat());
        let settings = [r#"settings: m1 settings={"cwd":"/garden"}"#, r#"settings: m1 settings={"cwd":"/shed"}"#];
        assert_eq!(outcome.lines(), settings);
        assert_eq!([&outcome.only().title, &outcome.only().workspace], ["Old oaks", workspace]);
        assert_eq!(outcome.all_losses(), [""; 0]);
    }
}

#[test]
fn totals_of_tokens_that_fall_to_nothing_begin_again() {
    let tokens = |input: u32, output: u32| {
        let total = format!("{{\"total_token_usage\":{{\"input_tokens\":{input},\"output_tokens\":{output}}}}}");
        line("event_msg", &format!("{{\"type\":\"token_count\",\"info\":{total}}}"))
    };
    let outcome = read(&[line("session_meta", META), tokens(10, 2), tokens(0, 0), tokens(10, 2)].concat());
    let usage = "x.usage: cached=0 input=10 output=2 reasoning=0";
    assert_eq!(outcome.lines(), [usage, usage]);
    assert_eq!(outcome.all_losses(), ["dropped: 1 token_count that adds nothing @3"]);
}

#[test]
fn a_thought_that_nothing_follows_is_a_message_of_its_time() {
    let thought = item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"oaks or birches"}]}"#);
    let asked = item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"plant"}]}"#);
    let outcome = read(&[line("session_meta", META), asked, thought.clone(), thought].concat());
    let lines = outcome.lines();
    assert_eq!(lines, ["user: plant", "assistant: (thinks: oaks or birches\n\noaks or birches)"]);
    let ts = outcome.only().events[1].ts.as_ref().map(format_time);
    assert_eq!(ts.as_deref(), Some("2026-01-02T03:04:05.5Z"));
    assert_eq!(outcome.all_losses(), [""; 0]);
}

#[test]
fn a_search_for_tools_is_a_call_and_what_it_finds_its_result() {
    let call = item(r#"{"type":"tool_search_call","call_id":"c1","execution":"local","arguments":{"query":"dig"}}"#);
    let tools = r#"[{"type":"function","name":"dig","tools":[{"deep":1.50}]}]"#;
    for (found, text) in [(tools, tools), (r#"[{"type":"text","text":"no tool digs"}]"#, "no tool digs"), ("[]", "")] {
        let found = item(&format!("{{\"type\":\"tool_search_output\",\"call_id\":\"c1\",\"tools\":{found}}}"));
        let outcome = read(&[line("session_meta", META), call.clone(), found].concat());
        let result = format!("tool: {text}").trim_end().to_owned() + " <c1 tool_search>";
        assert_eq!(outcome.lines(), [r#"assistant: [c1 tool_search {"query":"dig"}]"#, &result]);
        assert_eq!(outcome.all_losses(), [""; 0]);
    }
}
