//! What a terminal is given: nothing that it would take for a command, and long texts through a pager.

use crate::support::{Ran, SESSION, Scratch, eventually, json};
use crate::terminal::{on_a_terminal, start_on_a_terminal};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::Path;

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

/// A session that is longer than a terminal is high.
fn long() -> Scratch {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks"]);
    let text = (1..=100).map(|n| format!("oak {n}")).collect::<Vec<_>>().join("\n");
    scratch.ok_with(&["append", "oaks"], &format!("{}\n", serde_json::json!({ "role": "user", "content": text })));
    scratch
}

#[test]
fn what_no_pager_has_shown_is_printed() {
    let scratch = long();
    for pager in ["/etc/passwd", "/no/such/pager", "false", "exit 1", "kill -9 $$"] {
        let mut command = scratch.command(SESSION);
        command.args(["show", "oaks", "--full"]).env("PAGER", pager);
        let ran = on_a_terminal(command, "");
        assert!(ran.code == 0 && ran.stdout.contains("oak 100"), "{pager}: {ran:?}");
    }
    // One that has taken something has shown what it wanted to show.
    for pager in ["head -n 3 && exit 1", "cat > /dev/null; exit 2"] {
        let mut command = scratch.command(SESSION);
        command.args(["show", "oaks", "--full"]).env("PAGER", pager);
        let ran = on_a_terminal(command, "");
        assert!(ran.code == 0 && !ran.stdout.contains("oak 100"), "{pager}: {ran:?}");
    }
}

#[test]
fn an_interrupted_pager_is_waited_for_and_gets_its_signals_as_it_would_from_a_shell() {
    let scratch = long();
    let pager = "cat > /dev/null; grep SigIgn /proc/self/status > ignored; touch ready; \
                 while [ ! -e go ]; do sleep 0.01; done; echo the end";
    let mut command = scratch.command(SESSION);
    command.args(["show", "oaks", "--full"]).env("PAGER", pager);
    let paged = start_on_a_terminal(command, "");
    let at = |name: &str| scratch.work().join(name);
    eventually("the pager", || at("ready").exists());
    // The pager's own business; this program's end would leave it alone with the terminal.
    kill(Pid::from_raw(i32::try_from(paged.child.id()).expect("small")), Signal::SIGINT).expect("it is our child");
    fs::write(at("go"), "").expect("it is ours");
    let ran = paged.end();
    assert!(ran.code == 0 && ran.stdout.contains("the end"), "{ran:?}");
    assert!(!ignores_interrupts(&at("ignored")), "less is left with Ctrl-C too");
}

fn ignores_interrupts(status: &Path) -> bool {
    let line = fs::read_to_string(status).expect("the pager wrote it");
    let mask = u64::from_str_radix(line.split_whitespace().nth(1).expect("a mask"), 16).expect("in base 16");
    mask & (1 << (Signal::SIGINT as i32 - 1)) != 0
}
