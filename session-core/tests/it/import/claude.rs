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

pub(super) fn result(id: &str, call: &str, text: &str) -> String {
    user(id, &format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"{call}\",\"content\":\"{text}\"}}]"))
}

pub(super) fn call(id: &str) -> String {
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
