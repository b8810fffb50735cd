//! Rollouts of Codex, of both generations.

use super::read;
use session_core::interop::import::{ImportFormat, LossFate};

pub(super) fn line(kind: &str, payload: &str) -> String {
    format!("{{\"timestamp\":\"2026-01-02T03:04:05.5Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
}

pub(super) fn item(payload: &str) -> String {
    line("response_item", payload)
}

pub(super) const META: &str = r#"{"id":"t1","cwd":"/w","cli_version":"0.90","git":{"branch":"main"},"forked_from_id":"t0","timestamp":"2026-01-02T03:04:05Z"}"#;

#[test]
fn a_result_is_unwrapped_only_where_it_is_all_that_a_wrapper_is() {
    let output = |text: &str| {
        let text = serde_json::to_string(text).expect("a text is JSON");
        item(&format!(r#"{{"type":"function_call_output","call_id":"c1","output":{text}}}"#))
    };
    let call = item(r#"{"type":"function_call","name":"dig","arguments":"{}","call_id":"c1"}"#);
    for (wrapped, wanted) in [
        (r#"{"output":"dug","metadata":{"exit_code":0}}"#, "dug"),
        (r#"{"output":"dug","depth":2}"#, r#"{"output":"dug","depth":2}"#),
        (r#"{"metadata":{"exit_code":0}}"#, r#"{"metadata":{"exit_code":0}}"#),
        (r#"[{"type":"text","text":"dug"}]"#, "dug"),
        (r#"[{"type":"text","text":"dug"},{"type":"image"}]"#, r#"[{"type":"text","text":"dug"},{"type":"image"}]"#),
        (r#"[{"type":"stone","text":"dug"}]"#, r#"[{"type":"stone","text":"dug"}]"#),
        ("[]", "[]"),
    ] {
        let outcome = read(&[line("session_meta", META), call.clone(), output(wrapped)].concat());
        let lines = outcome.lines();
        assert_eq!(lines.last(), Some(&format!("tool: {wanted} <c1 dig>")), "{wrapped}: {lines:?}");
    }
}

#[test]
fn calls_join_the_message_until_a_result_comes_and_thoughts_go_to_what_is_said_next() {
    let file = [
        line("session_meta", META),
        line("session_meta", r#"{"id":"t0","cwd":"/elsewhere"}"#),
        line("turn_context", r#"{"model":"m1","effort":"high","cwd":"/w"}"#),
        item(
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n</environment_context>"}]}"#,
        ),
        item(r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"be brief"}]}"#),
        item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"plant"}]}"#),
        line("event_msg", r#"{"type":"user_message","message":"plant"}"#),
        item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}"#),
        item(
            r#"{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"digging"}]}"#,
        ),
        item(r#"{"type":"function_call","name":"dig","namespace":"garden","arguments":"{\"deep\":1}","call_id":"c1"}"#),
        item(r#"{"type":"custom_tool_call","name":"patch","input":"*** é","call_id":"c2"}"#),
        item(r#"{"type":"local_shell_call","action":{"command":["ls"]},"call_id":"c3"}"#),
        item(
            r#"{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"hit a stone\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.25}}"}"#,
        ),
        item(r#"{"type":"local_shell_call_output","call_id":"c3","output":{"content":"a","success":false}}"#),
        item(r#"{"type":"custom_tool_call_output","call_id":"c2","output":"[{\"type\":\"text\",\"text\":\"ok\"}]"}"#),
        item(r#"{"type":"function_call","name":"dig","arguments":"{\"deep\":","call_id":"c4"}"#),
        item(r#"{"type":"function_call_output","call_id":"c9","output":"nobody asked"}"#),
        line("turn_context", r#"{"model":"m1","effort":"high","cwd":"/w"}"#),
    ];
    let outcome = read(&file.concat());
    let expected = [
        r#"settings: m1 settings={"cwd":"/w","effort":"high"}"#,
        "user: <environment_context>\n</environment_context> injected=true",
        "system: be brief",
        "user: plant",
        r#"assistant: digging (thinks: hm) [c1 garden__dig {"deep":1}] [c2 patch {"input":"*** é"}] [c3 local_shell {"command":["ls"]}] phase="commentary""#,
        "tool: hit a stone <c1 garden__dig> 250 ms error=true",
        "tool: ok <c2 patch>",
        "tool: a <c3 local_shell> error=true",
        r#"assistant: [c4 dig {"deep":] odd_arguments=true"#,
        "tool: nobody asked <c9 > orphan=true",
    ];
    assert_eq!(outcome.lines(), expected);
    let session = outcome.only();
    let facts = [&session.id, &session.parent, &session.workspace, &session.branch, &session.version];
    assert_eq!(facts, ["t1", "t0", "/w", "main", "0.90"]);
    let dropped = [
        "1 further session_meta @2",
        "1 event user_message @7",
        "1 encrypted thought @8",
        "1 turn_context that changes nothing @18",
    ];
    assert_eq!(outcome.losses(LossFate::Dropped), dropped);
}

#[test]
fn totals_of_tokens_that_are_told_twice_count_once() {
    let tokens = |input: u32, output: u32| {
        let usage = format!(
            "{{\"input_tokens\":{input},\"cached_input_tokens\":1,\"output_tokens\":{output},\"reasoning_output_tokens\":0}}"
        );
        line(
            "event_msg",
            &format!(
                "{{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{usage},\"last_token_usage\":{usage}}}}}"
            ),
        )
    };
    let cut = line("event_msg", r#"{"type":"token_count","info":"[cut]"}"#);
    let file = [line("session_meta", META), tokens(10, 2), tokens(10, 2), tokens(25, 6), cut, tokens(3, 1)].concat();
    let outcome = read(&file);
    let expected = [
        "x.usage: cached=1 input=10 output=2 reasoning=0",
        "x.usage: cached=0 input=15 output=4 reasoning=0",
        "x.usage: cached=1 input=3 output=1 reasoning=0",
    ];
    assert_eq!(outcome.lines(), expected);
    assert_eq!(outcome.losses(LossFate::Dropped), ["2 token_count that adds nothing @3"]);
}

fn say(role: &str, kind: &str, text: &str) -> String {
    item(&format!(
        "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"{text}\"}}]}}"
    ))
}

fn rolled_back(turns: u64) -> String {
    line("event_msg", &format!("{{\"type\":\"thread_rolled_back\",\"num_turns\":{turns}}}"))
}

#[test]
fn turns_that_were_rolled_back_are_a_rollback_of_their_messages() {
    let file = [
        line("session_meta", META),
        say("user", "input_text", "one"),
        say("assistant", "output_text", "yes"),
        say("user", "input_text", "two"),
        item(r#"{"type":"function_call","name":"dig","arguments":"{}","call_id":"c1"}"#),
        item(r#"{"type":"function_call_output","call_id":"c1","output":"dug"}"#),
        line("event_msg", r#"{"type":"turn_aborted","reason":"interrupted"}"#),
        rolled_back(1),
        say("user", "input_text", "three"),
        line("event_msg", r#"{"type":"context_compacted"}"#),
        line("compacted", r#"{"message":"so far","replacement_history":[{}]}"#),
    ];
    let expected = [
        "user: one",
        "assistant: yes",
        "user: two",
        "assistant: [c1 dig {}]",
        "tool: dug <c1 dig>",
        "notice: the turn was stopped: interrupted",
        "rollback: 3",
        "user: three",
        "notice: the conversation was compacted",
        "notice: the conversation was compacted:\nso far",
    ];
    assert_eq!(read(&file.concat()).lines(), expected);
}

#[test]
fn a_command_that_a_person_ran_is_no_turn_of_its_own() {
    let ran = "<user_shell_command>\\n<command>\\nls\\n</command>\\n</user_shell_command>";
    let file = [
        line("session_meta", META),
        say("user", "input_text", "one"),
        say("assistant", "output_text", "yes"),
        say("user", "input_text", "two"),
        say("assistant", "output_text", "no"),
        say("user", "input_text", ran),
        rolled_back(1),
    ];
    let lines = read(&file.concat()).lines();
    let ran = "user: <user_shell_command>\n<command>\nls\n</command>\n</user_shell_command> injected=true";
    assert_eq!(lines[2..], ["user: two", "assistant: no", ran, "rollback: 3"]);
}

#[test]
fn a_thought_of_a_turn_that_was_rolled_back_goes_with_it() {
    let file = [
        line("session_meta", META),
        say("user", "input_text", "one"),
        item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}"#),
        line("event_msg", r#"{"type":"turn_aborted","reason":"interrupted"}"#),
        rolled_back(1),
        say("user", "input_text", "two"),
        say("assistant", "output_text", "yes"),
    ];
    let expected = [
        "user: one",
        "notice: the turn was stopped: interrupted",
        "assistant: (thinks: hm)",
        "rollback: 2",
        "user: two",
        "assistant: yes",
    ];
    assert_eq!(read(&file.concat()).lines(), expected);
}

#[test]
fn what_stands_before_the_first_prompt_is_never_rolled_back() {
    let begun = [
        line("session_meta", META),
        say("developer", "input_text", "be brief"),
        say("user", "input_text", "<environment_context>\\n</environment_context>"),
        item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}"#),
    ]
    .concat();
    let environment = "user: <environment_context>\n</environment_context> injected=true";
    let turn = [say("user", "input_text", "one"), say("assistant", "output_text", "yes")].concat();
    let first = ["system: be brief", environment, "user: one", "assistant: yes (thinks: hm)"];
    for (turns, dropped) in [(9, "rollback: 2"), (u64::MAX, "rollback: 2")] {
        let lines = read(&[begun.clone(), turn.clone(), rolled_back(turns)].concat()).lines();
        assert_eq!(lines, [&first[..], &[dropped]].concat());
    }
    // Where there is no turn, or none is named, nothing is taken: also not what waits for what is said next.
    for file in [[begun.clone(), rolled_back(1), turn.clone()], [begun.clone(), turn.clone(), rolled_back(0)]] {
        let outcome = read(&file.concat());
        assert_eq!(outcome.lines(), first);
        let told = outcome.losses(LossFate::Dropped);
        assert!(told[0].starts_with("1 thread_rolled_back that takes nothing"), "{told:?}");
    }
}

#[test]
fn the_first_generation_has_bare_items_and_no_times() {
    let file = concat!(
        r#"{"id":"t1","timestamp":"2025-08-01T00:00:00.000Z","instructions":"be kind","git":{"branch":"main"}}"#,
        "\n",
        r#"{"record_type":"state"}"#,
        "\n",
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"plant"}]}"#,
        "\n",
        r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}"#,
        "\n",
        r#"{"type":"function_call_output","call_id":"c1","output":"ok"}"#,
        "\n",
    );
    let outcome = read(file);
    assert_eq!(outcome.report.format, Some(ImportFormat::Codex));
    assert_eq!(outcome.lines(), ["user: plant", "assistant: [c1 shell {}]", "tool: ok <c1 shell>"]);
    assert!(outcome.only().events.iter().all(|event| event.ts.is_none()));
    assert_eq!(outcome.losses(LossFate::Dropped), ["1 instructions @1", "1 state @2"]);
}

#[test]
fn a_type_that_is_not_known_is_kept_and_a_record_without_one_is_refused() {
    let file = [
        line("session_meta", META),
        item(r#"{"type":"message","role":"user","content":[]}"#),
        item(r#"{"type":"dream","about":"oaks"}"#),
        line("event_msg", r#"{"type":"yawn"}"#),
        line("weather", r#"{"wind":3}"#),
        "{\"hello\":1}\n".into(),
    ];
    let outcome = read(&file.concat());
    assert_eq!(outcome.losses(LossFate::Kept), ["1 item dream @3", "1 event yawn @4", "1 weather @5"]);
    assert_eq!(outcome.losses(LossFate::Unknown), ["1 record without a type @6"]);
    assert_eq!(outcome.only().unknown.iter().filter(|byte| **byte == b'\n').count(), 3);
}
