//! What a terminal is given: nothing that it would take for a command.

use crate::support::{Ran, SESSION, Scratch, json};
use crate::terminal::on_a_terminal;

/// An escape sequence, the one byte that begins one too, and a character that turns the text round.
const HOSTILE: &str = "\u{1b}[31mred\u{9b}32m\u{202e}evil";

fn hostile() -> Scratch {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks", "--title", HOSTILE, "--model", HOSTILE]);
    let message = serde_json::json!({ "role": "user", "content": HOSTILE });
    scratch.ok_with(&["append", "oaks"], &format!("{message}\n"));
    scratch.ok(&["settings", "oaks", "--model", HOSTILE]);
    scratch.ok(&["meta", "oaks", &format!("summary={HOSTILE}")]);
    // A name may not have control characters; that it reads backwards is not forbidden.
    scratch.ok(&["new", "birches\u{202e}"]);
    scratch
}

fn shown(scratch: &Scratch, words: &[&str], input: &str) -> String {
    let mut command = scratch.command(SESSION);
    // The colours are this program's own.
    command.args(["--color", "never"]).args(words);
    let ran = on_a_terminal(command, input);
    assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
    ran.stdout.replace("\r\n", "\n")
}

#[test]
fn no_verb_gives_a_terminal_what_steers_it() {
    let scratch = hostile();
    let line = serde_json::json!({ "role": "user", "content": HOSTILE }).to_string();
    let verbs: [(&[&str], &str); 18] = [
        (&["title", "oaks"], ""),
        (&["meta", "oaks"], ""),
        (&["meta", "oaks", "title"], ""),
        (&["meta", "oaks", "summary"], ""),
        (&["last-model", "oaks"], ""),
        (&["spill", "oaks"], HOSTILE),
        (&["load", "oaks"], ""),
        (&["load", "oaks", "--api"], ""),
        (&["events", "oaks"], ""),
        (&["events", "oaks", "-n", "3"], ""),
        (&["events", "oaks", "--raw"], ""),
        (&["events", "oaks", "--raw", "--reverse"], ""),
        (&["show", "oaks", "--raw"], ""),
        (&["show", "oaks", "--reference"], ""),
        (&["show", "oaks", "--json"], ""),
        (&["tail", "oaks", "--json"], ""),
        (&["search", "evil", "--json"], ""),
        (&["append", "oaks", "--json"], &line),
    ];
    for (words, input) in verbs {
        let shown = shown(&scratch, words, input);
        let bad = |c: &char| (c.is_control() && *c != '\n' && *c != '\t') || *c == '\u{202e}';
        assert_eq!(shown.chars().find(bad), None, "{words:?}: {shown:?}");
        let tells = words[0] == "append" || shown.contains("evil");
        assert!(tells, "{words:?}: {shown:?}");
    }
    for words in
        [&["path", "birches"][..], &["list", "--names-only", "--all"], &["search", "-l", "evil"], &["title", "oaks"]]
    {
        assert!(!shown(&scratch, words, "").contains('\u{202e}'), "{words:?}");
    }
}

#[test]
fn json_stays_json_on_a_terminal_and_says_the_same() {
    let scratch = hostile();
    for words in [
        &["load", "oaks"][..],
        &["events", "oaks"],
        &["events", "oaks", "--raw"],
        &["tail", "oaks", "--json"],
        &["title", "oaks", "--json"],
    ] {
        let in_a_pipe = scratch.ok(words);
        let (piped, shown) = (in_a_pipe.lines().map(json), shown(&scratch, words, ""));
        let shown = shown.lines().filter(|line| line.starts_with('{')).map(json);
        assert_eq!(shown.collect::<Vec<_>>(), piped.collect::<Vec<_>>(), "{words:?}");
    }
    assert_eq!(scratch.ok(&["meta", "oaks", "summary"]), format!("{HOSTILE}\n"), "a pipe gets it as it is");
    assert!(scratch.ok(&["load", "oaks"]).contains("\u{202e}evil"));
}

#[test]
fn what_completes_a_word_cannot_steer_the_terminal() {
    let scratch = hostile();
    scratch.ok(&["checkpoint", "create", "oaks", "--label", HOSTILE]);
    for words in [&["show", "oa"][..], &["checkpoint", "show", "oaks", ""]] {
        let mut command = scratch.command(SESSION);
        let output =
            command.env("COMPLETE", "fish").args(["--", "session"]).args(words).output().expect("it was built");
        let completed = Ran::of(&output).stdout;
        let bad = |c: &char| matches!(c, '\u{1b}' | '\u{9b}' | '\u{202e}');
        assert_eq!(completed.chars().find(bad), None, "{completed:?}");
        assert!(completed.contains("evil"), "{completed:?}");
    }
}
