//! What Claude Code says about a session besides the conversation: its system lines, and its titles.

use super::claude::{of, user};
use super::read;
use session_core::TitleSource;

#[test]
fn an_error_of_the_endpoint_is_told_in_the_best_words_that_the_line_has() {
    for (line, told) in [
        (r#""error":{"formatted":"529 The gate is shut","message":"shut"}"#, "529 The gate is shut"),
        (r#""error":{"formatted":"","message":"shut","status":529}"#, "shut"),
        (r#""error":{"status":429,"error":{"code":"spades","message":"no spade is left"}}"#, "no spade is left"),
        (
            r#""error":{"status":401,"error":{"type":"error","error":{"type":"key","message":"no such key"}},"type":"key"}"#,
            "no such key",
        ),
        (r#""error":"the fence is down""#, "the fence is down"),
        (r#""error":{"cause":{"code":"FenceIsDown","path":"https://garden.example"}}"#, "FenceIsDown"),
        (r#""cause":{"code":"FenceIsDown","errno":0},"error":{}"#, "FenceIsDown"),
        (r#""error":{"status":529,"headers":{},"type":null}"#, "status 529"),
        (r#""error":{"headers":{}},"retryAttempt":1"#, "no details"),
        (r#""retryAttempt":1"#, "no details"),
    ] {
        for subtype in ["api_error", "error"] {
            let line = of("system", "b", &format!("\"subtype\":\"{subtype}\",{line}"));
            let outcome = read(&[user("a", "\"plant\""), line.clone()].concat());
            assert_eq!(outcome.lines(), ["user: plant", &format!("notice: error of the endpoint: {told}")], "{line}");
            assert_eq!(outcome.all_losses(), [""; 0], "{line}");
        }
    }
}

#[test]
fn commands_failed_hooks_and_refusals_are_notices() {
    for (line, told) in [
        (
            r#""subtype":"local_command","content":"<command-name>/water</command-name>""#,
            "<command-name>/water</command-name>",
        ),
        (r#""subtype":"stop_hook_summary","hookCount":1,"hookErrors":["no \"rake\""]"#, "hooks failed: no \"rake\""),
        (
            r#""subtype":"stop_hook_summary","hookErrors":["no rake",{"code":3}]"#,
            r#"hooks failed: no rake, {"code":3}"#,
        ),
        (
            r#""subtype":"api_refusal","content":"refusal","apiRefusalExplanation":"Ivy is poisonous.""#,
            "api_refusal: refusal: Ivy is poisonous.",
        ),
        (
            r#""subtype":"model_refusal_fallback","content":"m2 goes on","apiRefusalExplanation":null"#,
            "model_refusal_fallback: m2 goes on",
        ),
        (r#""subtype":"informational","content":"It rains.""#, "informational: It rains."),
        (r#""subtype":"microcompact_boundary","content":"pruned""#, "microcompact_boundary: pruned"),
        (r#""subtype":"microcompact_boundary","content":null"#, "microcompact_boundary"),
    ] {
        let outcome = read(&[user("a", "\"plant\""), of("system", "b", line)].concat());
        assert_eq!(outcome.lines(), ["user: plant", &format!("notice: {told}")], "{line}");
        assert_eq!(outcome.all_losses(), [""; 0], "{line}");
    }
}

#[test]
fn system_lines_that_say_nothing_of_the_conversation_are_counted_and_leave_no_notice() {
    for (line, dropped) in [
        (r#""subtype":"stop_hook_summary","hookErrors":[]"#, "stop_hook_summary without an error"),
        (r#""subtype":"stop_hook_summary","hookCount":1"#, "stop_hook_summary without an error"),
        (r#""subtype":"turn_duration""#, "turn_duration"),
        (r#""subtype":"session_start","content":null"#, "system session_start"),
        (r#""subtype":"init","tools":[]"#, "system init"),
        (r#""subtype":"away_summary","content":"You planted oaks.""#, "system away_summary"),
        (r#""subtype":"bridge_status","content":"up""#, "system bridge_status"),
    ] {
        let outcome = read(&[user("a", "\"plant\""), of("system", "b", line)].concat());
        assert_eq!(outcome.lines(), ["user: plant"], "{line}");
        assert_eq!(outcome.all_losses(), [format!("dropped: 1 {dropped} @2")], "{line}");
        assert!(outcome.report.is_complete(), "{line}");
    }
}

#[test]
fn a_title_of_a_persons_goes_before_one_of_the_programs_and_that_before_a_summary() {
    let summary =
        |leaf: &str, text: &str| format!("{{\"type\":\"summary\",\"summary\":\"{text}\",\"leafUuid\":\"{leaf}\"}}\n");
    let made = |text: &str| format!("{{\"type\":\"ai-title\",\"sessionId\":\"s1\",\"aiTitle\":\"{text}\"}}\n");
    let given = |text: &str| format!("{{\"type\":\"custom-title\",\"sessionId\":\"s1\",\"customTitle\":\"{text}\"}}\n");
    let other = "dropped: 1 summary of another session @3";
    let (auto, by_user) = (TitleSource::Auto, TitleSource::User);
    for (first, second, title, by, losses) in [
        (summary("a", "Oaks"), String::new(), "Oaks", auto, &[][..]),
        (summary("a", "Oaks"), summary("a", "Old oaks"), "Old oaks", auto, &[]),
        (summary("a", "Oaks"), summary("elsewhere", "Ivy"), "Oaks", auto, &[other]),
        (summary("elsewhere", "Ivy"), summary("a", "Oaks"), "Oaks", auto, &[other]),
        (summary("a", "Oaks"), made("Trees"), "Trees", auto, &[]),
        (made("Trees"), summary("a", "Oaks"), "Trees", auto, &[]),
        (made("Trees"), made("Old trees"), "Old trees", auto, &[]),
        (given("Grove"), summary("a", "Oaks"), "Grove", by_user, &[]),
        (given("Grove"), made("Trees"), "Grove", by_user, &[]),
        (made("Trees"), given("Grove"), "Grove", by_user, &[]),
        (made("Trees"), given(""), "Trees", auto, &[]),
    ] {
        let outcome = read(&[first.as_str(), &user("a", "\"plant\""), &second].concat());
        let session = outcome.only();
        assert_eq!((session.title.as_str(), session.title_by), (title, by), "{first}{second}");
        assert_eq!(outcome.all_losses(), losses, "{first}{second}");
        assert_eq!(outcome.lines(), ["user: plant"], "{first}{second}");
    }
}
