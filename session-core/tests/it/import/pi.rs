//! Sessions of pi.

use super::read;
use session_core::interop::import::{ImportOptions, LossFate};

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05Z","cwd":"/w","parentSession":"s0"}"#;

fn file(entries: &[&str]) -> String {
    [HEADER].iter().chain(entries).map(|entry| format!("{entry}\n")).collect()
}

#[test]
fn the_branch_of_the_last_entry_counts_and_the_others_are_told() {
    let file = file(&[
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"plant"}]}}"#,
        r#"{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"oaks"}],"model":"m1"}}"#,
        r#"{"type":"message","id":"c","parentId":"a","message":{"role":"assistant","content":[{"type":"text","text":"birches"}],"model":"m1"}}"#,
        r#"{"type":"label","id":"d","parentId":"c","targetId":"c","label":"good"}"#,
        r#"{"type":"session_info","id":"e","parentId":"d","name":"Trees"}"#,
    ]);
    let outcome = read(&file);
    let expected = ["user: plant", "settings: m1", "assistant: birches", r#"x.note: text="good" topic="bookmark""#];
    assert_eq!(outcome.lines(), expected);
    assert_eq!(outcome.losses(LossFate::Dropped), ["1 entry of another branch @3"]);
    let session = outcome.only();
    assert_eq!([&session.title, &session.parent, &session.version], ["Trees", "s0", "3"]);
}

#[test]
fn where_a_parent_is_missing_or_loops_the_order_of_the_file_is_taken() {
    for parent in ["nowhere", "b"] {
        let file = file(&[
            r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"plant"}}"#,
            &format!(
                r#"{{"type":"message","id":"b","parentId":"{parent}","message":{{"role":"user","content":"water"}}}}"#
            ),
        ]);
        let outcome = read(&file);
        assert_eq!(outcome.lines(), ["user: plant", "user: water"]);
        assert_eq!(outcome.losses(LossFate::Repaired).len(), 1, "{:?}", outcome.report);
    }
}

#[test]
fn messages_of_every_role_money_and_settings() {
    let file = file(&[
        r#"{"type":"message","message":{"role":"user","content":"plant"}}"#,
        r#"{"type":"model_change","modelId":"m1"}"#,
        r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#,
        r#"{"type":"message","message":{"role":"assistant","model":"m1","responseId":"r1","content":[{"type":"thinking","thinking":"hm"},{"type":"toolCall","id":"c1","name":"dig","arguments":{"deep":1.50}}],"usage":{"input":3,"output":4,"cacheRead":5,"cacheWrite":6,"cost":{"total":0.25}},"stopReason":"toolUse"}}"#,
        r#"{"type":"message","message":{"role":"toolResult","toolCallId":"c1","toolName":"dig","content":[{"type":"text","text":"dug"}],"isError":true}}"#,
        r#"{"type":"message","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":2,"fullOutputPath":"/tmp/x"}}"#,
        r#"{"type":"message","message":{"role":"bashExecution","command":"true","output":"","exitCode":0}}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[],"stopReason":"aborted"}}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"half"},{"type":"toolCall","id":"c2","name":"dig","arguments":"{\"de"}],"stopReason":"aborted"}}"#,
        r#"{"type":"custom_message","content":"context"}"#,
        r#"{"type":"compaction","summary":"so far"}"#,
        r#"{"type":"custom","customType":"state"}"#,
    ]);
    let outcome = read(&file);
    let expected = [
        "user: plant",
        "settings: m1",
        r#"settings: settings={"thinking_level":"high"}"#,
        r#"assistant: (thinks: hm) [c1 dig {"deep":1.50}]"#,
        "tool: dug <c1 dig> error=true",
        r#"x.usage: cached=5 cost=0.25 input=14 model="m1" output=4 response="r1""#,
        "user: Ran `ls`\n```\na\n```\n\nIt ended with exit code 2\n\nAll of the output is in /tmp/x",
        "user: Ran `true`\n(no output)",
        "assistant: half interrupted=true",
        "user: context injected=true",
        "notice: the conversation was compacted:\nso far",
    ];
    assert_eq!(outcome.lines(), expected);
    let cut = "1 call that was cut off @10";
    let dropped = ["1 empty message of a response that was stopped @9", cut, "1 custom entry of an extension @13"];
    assert_eq!(outcome.losses(LossFate::Dropped), dropped);
}

#[test]
fn with_repair_a_call_that_was_cut_off_gets_a_result() {
    let file = file(&[
        r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"dig","arguments":{}}],"stopReason":"aborted"}}"#,
        r#"{"type":"message","message":{"role":"user","content":"again"}}"#,
    ]);
    assert_eq!(read(&file).only().messages(), 2);
    let options = ImportOptions { repair: true, ..ImportOptions::default() };
    let repaired = super::read_with(&[file.as_bytes()], options).expect("its format is known");
    assert_eq!(repaired.lines()[1], "tool: [no result was recorded] <c1 dig> synthetic=true");
}

#[test]
fn an_entry_whose_parent_is_the_session_itself_is_a_first_one() {
    let outcome = read(&file(&[
        r#"{"type":"message","id":"a","parentId":"s1","message":{"role":"user","content":"plant"}}"#,
        r#"{"type":"message","id":"b","parentId":"s1","message":{"role":"user","content":"plant oaks"}}"#,
        r#"{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":"water"}}"#,
    ]));
    assert_eq!(outcome.lines(), ["user: plant oaks", "user: water"]);
    assert_eq!(outcome.all_losses(), ["dropped: 1 entry of another branch @2"]);
}

#[test]
fn what_is_no_turn_of_the_conversation_is_told_as_what_it_is() {
    let shell = |rest: &str| format!(r#"{{"type":"message","message":{{"role":"bashExecution",{rest}}}}}"#);
    for (entry, told) in [
        (r#"{"type":"message","message":{"role":"system","content":"be brief"}}"#, "system: be brief"),
        (r#"{"type":"message","message":{"role":"custom","content":"it rains"}}"#, "user: it rains injected=true"),
        (r#"{"type":"message","message":{"role":"hookMessage","content":"it rains"}}"#, "user: it rains injected=true"),
        (
            r#"{"type":"message","message":{"role":"branchSummary","summary":"birches failed","fromId":"a"}}"#,
            "user: birches failed injected=true",
        ),
        (
            r#"{"type":"message","message":{"role":"compactionSummary","summary":"oaks grow"}}"#,
            "user: oaks grow injected=true",
        ),
        (
            r#"{"type":"branch_summary","fromId":"a","summary":"birches failed"}"#,
            "notice: another branch was left:\nbirches failed",
        ),
        (r#"{"type":"branch_summary","fromId":"a"}"#, "notice: another branch was left"),
        (r#"{"type":"compaction"}"#, "notice: the conversation was compacted"),
        (
            &shell(r#""command":"ls","output":"oak","exitCode":0,"excludeFromContext":true"#),
            "notice: Ran `ls`\n```\noak\n```",
        ),
        (
            &shell(r#""command":"ls","output":"oak","exitCode":0,"excludeFromContext":false"#),
            "user: Ran `ls`\n```\noak\n```",
        ),
        (
            &shell(r#""command":"dig","output":"````","exitCode":130,"cancelled":true"#),
            "user: Ran `dig`\n`````\n````\n`````\n\n(it was stopped)",
        ),
    ] {
        let outcome = read(&file(&[entry]));
        assert_eq!(outcome.lines(), [told], "{entry}");
        assert_eq!(outcome.all_losses(), [""; 0], "{entry}");
    }
}

#[test]
fn a_response_that_failed_or_was_stopped_says_so_and_keeps_what_it_said() {
    let of = |rest: &str| format!(r#"{{"type":"message","message":{{"role":"assistant","model":"m1",{rest}}}}}"#);
    let empty = "dropped: 1 empty message of a response that was stopped @2";
    for (rest, lines, losses) in [
        (r#""content":"done","stopReason":"stop""#, &["settings: m1", "assistant: done"][..], &[][..]),
        (r#""content":"half","stopReason":"aborted""#, &["settings: m1", "assistant: half interrupted=true"], &[]),
        (
            r#""content":"half","stopReason":"aborted","errorMessage":"Request was aborted""#,
            &["settings: m1", "assistant: half interrupted=true"],
            &[],
        ),
        (
            r#""content":[{"type":"text","text":"half"}],"stopReason":"error","errorMessage":"no net","usage":{"input":3,"output":1}"#,
            &[
                "settings: m1",
                "assistant: half error=true",
                "notice: error: no net",
                r#"x.usage: input=3 model="m1" output=1"#,
            ],
            &[],
        ),
        (r#""content":"","stopReason":"error","errorMessage":"no net""#, &["notice: error: no net"], &[empty]),
        (r#""content":[],"stopReason":"error","errorMessage":"no net""#, &["notice: error: no net"], &[empty]),
        (
            r#""content":[{"type":"thinking","thinking":"hm","thinkingSignature":"x"},{"type":"text","text":"done"}]"#,
            &["settings: m1", "assistant: done (thinks: hm)"],
            &["dropped: 1 signature of a thought @2"],
        ),
    ] {
        let outcome = read(&file(&[&of(rest)]));
        assert_eq!(outcome.lines(), lines, "{rest}");
        assert_eq!(outcome.all_losses(), losses, "{rest}");
    }
    // One that says nothing, and whose end is all that is known, leaves no session.
    let nothing = read(&file(&[&of(r#""content":"","stopReason":"aborted""#)]));
    assert_eq!((nothing.sessions.len(), nothing.all_losses()), (0, vec![empty.to_owned()]));
}
