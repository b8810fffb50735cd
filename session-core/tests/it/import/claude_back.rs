//! Where a person went back in a session of Claude Code, and where not.

use super::claude::{block, call, of, result, user};
use super::read;

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
