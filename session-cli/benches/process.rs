//! The command line as whole processes: how long it takes to start, and what it takes against `jq` on the same history.

use session_testing::{Histories, Shape, Table};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SESSION: &str = env!("CARGO_BIN_EXE_session");
const MEGABYTES: usize = 50;

/// What a load does, as somebody would write it who has only `jq`.
const FOLD: &str = r#"reduce inputs as $e ([]; if $e.kind == "rollback" then .[:([length - $e.dropped, 0] | max)]
    elif $e.message then . + [$e.message] else . end)"#;

fn main() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let session = scratch.path().join("store/demo");
    fs::create_dir_all(&session).expect("there is room");
    let history = session.join("history.jsonl");
    fs::write(&history, Histories::of_bytes(7, Shape::Real, MEGABYTES << 20)).expect("there is room");
    fs::write(session.join("meta.json"), r#"{"name":"demo","created":"2026-01-02T03:04:05Z"}"#).expect("there is room");
    start(scratch.path());
    against_jq(scratch.path(), &history);
}

fn start(root: &Path) {
    let table = Table::new("start-up, against /bin/true", 31);
    for words in [&["--version"][..], &["path", "demo"]] {
        let what = format!("session {}", words.join(" "));
        if !table.wants(&what) {
            continue;
        }
        let (base, act) = table.alternate(|| run(root, "/bin/true", &[]), || run(root, SESSION, words));
        let (base, act) = (base.seconds() * 1e3, act.seconds() * 1e3);
        let note = format!("{act:.2} ms, at most {:.2}", 2.0 * base + 2.0);
        table.line(&what, act / (2.0 * base + 2.0), "<= 1", &note);
    }
}

fn against_jq(root: &Path, history: &Path) {
    let table = Table::new(&format!("a history of {MEGABYTES} MB, against jq"), 5);
    let (load, count) = ("load, faster than a fold in jq", "count in a list, faster than a fold in jq");
    if Command::new("jq").arg("--version").stdout(Stdio::null()).status().is_err() {
        return [load, count].iter().for_each(|what| table.skipped(what, "jq is not installed"));
    }
    let history = history.to_str().expect("a scratch directory has a plain name");
    let counted = format!("{FOLD} | length");
    table.times_as_fast(
        load,
        || run(root, "jq", &["-n", "-c", &format!("{FOLD} | .[]"), history]),
        || run(root, SESSION, &["load", "demo"]),
        ">= 4",
    );
    table.times_as_fast(
        count,
        || run(root, "jq", &["-n", &counted, history]),
        || run(root, SESSION, &["list", "--json"]),
        ">= 35",
    );
}

fn run(root: &Path, program: &str, words: &[&str]) {
    let mut command = Command::new(program);
    // There is no place for a cache: what is counted is counted anew.
    command.args(words).env("HOME", root).env("XDG_CACHE_HOME", "/dev/null/none");
    command.env("KVIT_CODER_SESSIONS_DIR", root.join("store"));
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.expect("the program can be run").success(), "{program} {words:?}");
}
