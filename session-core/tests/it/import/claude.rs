//! Sessions of Claude Code.

use super::{created, read};
use session_core::TitleSource;
use session_core::interop::import::LossFate;

/// A line of the main conversation.
pub(super) fn of(kind: &str, id: &str, rest: &str) -> String {
    format!(
        "{{\"type\":\"{kind}\",\"uuid\":\"{id}\",\"sessionId\":\"s1\",\"cwd\":\"/w\",\"version\":\"2.1.4\",\"gitBranch\":\"main\",\
         \"isSidechain\":false,\"timestamp\":\"2026-01-02T03:04:0{}Z\",{rest}}}\n",
        id.len() % 10
    )
}

pub(super) fn user(id: &str, content: &str) -> String {
    of("user", id, &format!("\"message\":{{\"role\":\"user\",\"content\":{content}}}"))
}

pub(super) fn block(id: &str, message: &str, block: &str, output: u32) -> String {
    let message = format!(
        "\"message\":{{\"id\":\"{message}\",\"role\":\"assistant\",\"model\":\"m1\",\"content\":[{block}],\
         \"usage\":{{\"input_tokens\":10,\"cache_read_input_tokens\":5,\"cache_creation_input_tokens\":2,\"output_tokens\":{output}}}}}"
    );
    of("assistant", id, &message)
}

fn result(id: &str, call: &str, text: &str) -> String {
    user(id, &format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"{call}\",\"content\":\"{text}\"}}]"))
}

fn call(id: &str) -> String {
    format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Dig\",\"input\":{{\"z\":1,\"a\":\"é\"}}}}")
}

#[test]
fn a_snapshot_of_files_is_noted_by_their_names() {
    let snapshot = |files: &str| {
        format!(
            "{{\"type\":\"file-history-snapshot\",\"messageId\":\"m\",\"isSnapshotUpdate\":false,\
             \"snapshot\":{{\"messageId\":\"m\",\"trackedFileBackups\":{{{files}}},\"timestamp\":\"2026-01-02T03:04:05Z\"}}}}\n"
        )
    };
    let file = [user("a", "\"plant\""), snapshot("\"oak.rs\":{},\"birch.rs\":{}"), snapshot("")].concat();
    let outcome = read(&file);
    let lines = outcome.lines();
    assert!(lines.iter().any(|line| line.starts_with("x.note") && line.contains("oak.rs\\nbirch.rs")), "{lines:?}");
    assert_eq!(outcome.losses(LossFate::Dropped), ["1 file-history-snapshot without a file @3"]);
}

#[test]
fn blocks_of_one_message_are_joined_whatever_stands_between_them_and_usage_counts_once() {
    let file = [
        user("a", "\"plant three oaks\""),
        block("b", "r1", "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"x\"}", 1),
        block("c", "r1", "{\"type\":\"text\",\"text\":\"digging\"}", 1),
        block("d", "r1", &call("c1"), 1),
        result("e", "c1", "first"),
        block("f", "r1", &call("c2"), 8),
        result("g", "c2", "second"),
        block("h", "r2", "{\"type\":\"text\",\"text\":\"done\"}", 3),
    ];
    let outcome = read(&file.concat());
    let expected = [
        "user: plant three oaks",
        "settings: m1",
        r#"assistant: digging (thinks: hm) [c1 Dig {"z":1,"a":"é"}] [c2 Dig {"z":1,"a":"é"}]"#,
        "tool: first <c1 Dig>",
        "tool: second <c2 Dig>",
        r#"x.usage: cached=5 input=17 model="m1" output=8 response="r1""#,
        "assistant: done",
        r#"x.usage: cached=5 input=17 model="m1" output=3 response="r2""#,
    ];
    assert_eq!(outcome.lines(), expected);
    assert_eq!(outcome.losses(LossFate::Dropped), ["1 signature of a thought @2"]);
    let session = outcome.only();
    let facts = [&session.id, &session.workspace, &session.branch, &session.model, &session.version];
    assert_eq!(facts, ["s1", "/w", "main", "m1", "2.1.4"]);
    assert_eq!(created(session), "2026-01-02T03:04:01Z");
}

#[test]
fn what_the_program_put_there_is_flagged_and_its_errors_are_notices() {
    let file = [
        of("user", "a", r#""isMeta":true,"message":{"role":"user","content":"caveat"}"#),
        user("b", "\"<command-name>/clear</command-name>\""),
        user("c", "\"<bash-stdout>3</bash-stdout>\""),
        of("user", "d", r#""isCompactSummary":true,"message":{"role":"user","content":"so far"}"#),
        user("e", r#"[{"type":"text","text":"[Request interrupted by user]"}]"#),
        user("f", "\"plant\""),
        of(
            "assistant",
            "g",
            r#""isApiErrorMessage":true,"message":{"id":"x","model":"<synthetic>","content":"overloaded"}"#,
        ),
        of("system", "h", r#""subtype":"turn_duration","durationMs":1250"#),
        of("system", "i", r#""subtype":"compact_boundary""#),
        of("system", "j", r#""subtype":"tea_time","tea":"green""#),
        of("progress", "k", r#""data":{}"#),
        "{\"type\":\"custom-title\",\"sessionId\":\"s1\",\"customTitle\":\"Oaks\"}\n".into(),
        "{\"type\":\"ai-title\",\"sessionId\":\"s1\",\"aiTitle\":\"Trees\"}\n".into(),
        "{\"type\":\"summary\",\"summary\":\"Another\",\"leafUuid\":\"elsewhere\"}\n".into(),
    ];
    let outcome = read(&file.concat());
    let expected = [
        "user: caveat injected=true",
        "user: <command-name>/clear</command-name> injected=true",
        "user: <bash-stdout>3</bash-stdout> injected=true",
        "user: so far injected=true",
        "user: [Request interrupted by user] injected=true interrupted=true",
        "user: plant",
        "notice: overloaded",
        "notice: the turn took 1.250 s duration_ms=1250",
        "notice: the conversation was compacted",
    ];
    assert_eq!(outcome.lines(), expected);
    let session = outcome.only();
    assert_eq!((session.title.as_str(), session.title_by), ("Oaks", TitleSource::User));
    assert_eq!(session.first_prompt(), "plant");
    assert_eq!(outcome.losses(LossFate::Kept), ["1 system tea_time @10"]);
    assert!(String::from_utf8_lossy(&session.unknown).contains("\"tea\":\"green\""));
    assert!(!outcome.report.is_complete() && !outcome.report.has_unknown());
}

#[test]
fn a_message_taken_out_of_the_queue_in_mid_turn_was_steering() {
    let queue = |operation: &str, content: &str| {
        format!(
            "{{\"type\":\"queue-operation\",\"operation\":\"{operation}\",\"timestamp\":\"2026-01-02T03:04:09Z\",\
             \"sessionId\":\"s1\"{content}}}\n"
        )
    };
    let file = [
        user("a", "\"plant\""),
        queue("enqueue", ",\"content\":\"birches\""),
        queue("enqueue", ",\"content\":\"and water\""),
        queue("remove", ""),
        queue("dequeue", ""),
        user("b", "\"and water\""),
        queue("enqueue", ",\"content\":\"never mind\""),
        queue("popAll", ""),
        queue("remove", ""),
        queue("shuffle", ",\"content\":\"seeds\""),
    ];
    let outcome = read(&file.concat());
    assert_eq!(outcome.lines(), ["user: plant", "user: birches steered=true", "user: and water"]);
    let dropped = ["1 message that was taken back @8", "1 message that was taken from an empty queue @9"];
    assert_eq!(outcome.losses(LossFate::Dropped), dropped);
    assert_eq!(outcome.losses(LossFate::Kept), ["1 queue-operation @10"]);
    assert!(String::from_utf8_lossy(&outcome.only().unknown).contains("seeds"));
}

#[test]
fn what_the_assistant_says_is_a_text_or_blocks_and_the_lines_of_one_message_are_joined() {
    let plain = r#""message":{"id":"r1","role":"assistant","model":"m1","content":"digging"}"#;
    let block = block("c", "r1", r#"{"type":"text","text":"done"}"#, 8);
    let outcome = read(&[user("a", "\"plant\""), of("assistant", "b", plain), block].concat());
    let usage = r#"x.usage: cached=5 input=17 model="m1" output=8 response="r1""#;
    assert_eq!(outcome.lines(), ["user: plant", "settings: m1", "assistant: digging\n\ndone", usage]);
    assert_eq!(outcome.all_losses(), [""; 0]);
}

#[test]
fn a_line_that_stands_twice_and_lines_of_sub_agents_are_left_out() {
    let side = user("c", "\"look\"").replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1\"");
    let outcome = read(&[user("a", "\"plant\""), user("a", "\"plant\""), side.clone()].concat());
    assert_eq!(outcome.lines(), ["user: plant"]);
    assert_eq!(outcome.losses(LossFate::Dropped), ["1 line that stands twice @2", "1 line of a sub-agent @3"]);
    // The sub-agent's own file is its session.
    let own = read(&side);
    assert_eq!((own.only().id.as_str(), own.only().parent.as_str()), ("a1", "s1"));
    assert_eq!(own.lines(), ["user: look"]);
}

#[test]
fn errors_durations_and_texts_behind_results_are_kept() {
    let file = [
        user("a", "\"plant\""),
        block("b", "r1", &call("c1"), 1),
        of(
            "user",
            "c",
            r#""toolUseResult":{"durationMs":70},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"text","text":"no"},{"type":"text","text":"spade"}]},{"type":"text","text":"buy one"}]}"#,
        ),
    ];
    let lines = read(&file.concat()).lines();
    assert_eq!(lines[3], "tool: no\nspade <c1 Dig> 70 ms error=true");
    assert_eq!(lines[5], "user: buy one");
}

#[test]
fn pictures_become_files_and_a_note() {
    let image = r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}},{"type":"text","text":"what is it"},{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"%%"}}]"#;
    let outcome = read(&user("a", image));
    let note = "user: [image: image/png, 5 bytes, sha256:2cf24dba5fb0a30e…]\nwhat is it\n[image: image/svg+xml]";
    assert_eq!(outcome.lines(), [note]);
    let session = outcome.only();
    assert_eq!(
        (session.files[0].name.as_str(), &session.files[0].bytes[..]),
        ("import-2cf24dba5fb0a30e.png", &b"hello"[..])
    );
    let image = &session.events[0].message.as_ref().expect("it has a message").images[0];
    assert_eq!((image.path.as_str(), image.size), ("tmp/import-2cf24dba5fb0a30e.png", 5));
    assert_eq!(outcome.losses(LossFate::Dropped), ["1 image that is not base64 @1"]);
}

/// A line that stands behind another one of the conversation.
fn behind(parent: &str, line: &str) -> String {
    line.replacen('{', &format!("{{\"parentUuid\":\"{parent}\","), 1)
}

fn says(id: &str, text: &str) -> String {
    of("assistant", id, &format!("\"message\":{{\"id\":\"r-{id}\",\"role\":\"assistant\",\"content\":\"{text}\"}}"))
}

#[test]
fn a_prompt_that_was_written_anew_takes_back_the_one_before_and_what_followed_it() {
    let file = [
        user("u1", "\"plant\""),
        behind("u1", &says("a1", "what")),
        behind("a1", &user("u2", "\"birches\"")),
        behind("u2", &block("a2", "r2", &call("c1"), 1)),
        behind("a2", &result("t2", "c1", "dug")),
        behind("t2", &user("u3", "\"deeper\"")),
        // Both went back to where the birches were asked for.
        behind("a1", &user("u4", "\"oaks\"")),
        behind("u4", &says("a4", "three")),
        behind("a1", &user("u5", "\"pines\"")),
        behind("u5", &says("a5", "four")),
    ];
    let outcome = read(&file.concat());
    let expected = [
        "user: plant",
        "assistant: what",
        "user: birches",
        "settings: m1",
        r#"assistant: [c1 Dig {"z":1,"a":"é"}]"#,
        "tool: dug <c1 Dig>",
        r#"x.usage: cached=5 input=17 model="m1" output=1 response="r2""#,
        "user: deeper",
        "rollback: 4",
        "user: oaks",
        "assistant: three",
        "rollback: 2",
        "user: pines",
        "assistant: four",
    ];
    assert_eq!(outcome.lines(), expected);
    assert_eq!(outcome.all_losses(), ["repaired: 2 prompt that was written anew: the one before is taken back @7"]);
    assert!(outcome.report.is_complete());
}

#[test]
fn what_comes_late_for_a_message_that_was_taken_back_is_taken_back_with_it() {
    let file = [
        user("u1", "\"plant\""),
        behind("u1", &says("a1", "what")),
        behind("a1", &user("u2", "\"birches\"")),
        behind("u2", &block("a2", "r2", &call("c1"), 1)),
        behind("a1", &user("u3", "\"oaks\"")),
        behind("a2", &block("b2", "r2", &call("c2"), 1)),
        behind("b2", &result("t2", "c2", "dug")),
    ];
    let expected = [
        "user: plant",
        "assistant: what",
        "user: birches",
        "settings: m1",
        r#"assistant: [c1 Dig {"z":1,"a":"é"}] [c2 Dig {"z":1,"a":"é"}]"#,
        "tool: dug <c2 Dig>",
        r#"x.usage: cached=5 input=17 model="m1" output=1 response="r2""#,
        "rollback: 3",
        "user: oaks",
    ];
    assert_eq!(read(&file.concat()).lines(), expected);
}

#[test]
fn only_prompts_behind_one_message_of_the_file_are_written_anew() {
    let meta = of("user", "x", r#""isMeta":true,"message":{"role":"user","content":"caveat"}"#);
    let side = user("x", "\"look\"").replace("\"isSidechain\":false", "\"isSidechain\":true");
    for second in [
        // Results of calls that ran at the same time, and what a person said beside one.
        behind("a1", &result("x", "c1", "dug")),
        behind("a1", &result("x", "c1", "dug").replace("}]}", "},{\"type\":\"text\",\"text\":\"oaks\"}]}")),
        // What the program wrote.
        behind("a1", &meta),
        behind("a1", &user("x", "\"<task-notification>done</task-notification>\"")),
        behind("a1", &user("x", "\"[Request interrupted by user]\"")),
        behind("a1", &side),
        // The same line once more.
        behind("a1", &user("u2", "\"birches\"")),
        // Where a chain is broken.
        user("x", "\"oaks\""),
        behind("u2", &user("x", "\"oaks\"")),
    ] {
        let begun = [
            user("u1", "\"plant\""),
            behind("u1", &block("a1", "r1", &call("c1"), 1)),
            behind("a1", &user("u2", "\"birches\"")),
        ];
        for file in [[begun.concat(), second.clone()], [second.clone(), begun.concat()]] {
            let lines = read(&file.concat()).lines();
            assert!(!lines.iter().any(|line| line.starts_with("rollback")), "{second}: {lines:?}");
        }
    }
    let lost = [behind("gone", &user("u1", "\"plant\"")), behind("gone", &user("u2", "\"oaks\""))];
    assert_eq!(read(&lost.concat()).lines(), ["user: plant", "user: oaks"]);
}

#[test]
fn messages_that_wait_at_the_end_of_the_file_are_told() {
    let queue = |operation: &str, text: &str| {
        format!(
            "{{\"type\":\"queue-operation\",\"operation\":\"{operation}\",\"sessionId\":\"s1\",\"content\":\"{text}\"}}\n"
        )
    };
    let file = [
        user("a", "\"plant\""),
        queue("enqueue", "oaks"),
        queue("enqueue", "birches"),
        queue("enqueue", "pines"),
        queue("dequeue", ""),
        user("b", "\"oaks\""),
    ];
    let outcome = read(&file.concat());
    assert_eq!(outcome.lines(), ["user: plant", "user: oaks"]);
    assert_eq!(outcome.all_losses(), ["dropped: 2 message that was never delivered @3"]);
}
