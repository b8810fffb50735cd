//! Searching a store of 600 MB as a whole process, against `rg -c` on the same files and as many threads.
//!
//! Lower case finds both cases here, which `rg` does not do; the lines with an upper-case letter do the same work.

use session_testing::{Histories, Shape, Table};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SESSION: &str = env!("CARGO_BIN_EXE_session");
const SESSIONS: u64 = 2_000;
const BYTES: usize = 300_000;
const ROUNDS: u32 = 9;

fn main() {
    let table = Table::new(
        &format!("search {SESSIONS} sessions, {} MB, against rg -c", SESSIONS as usize * BYTES / 1_000_000),
        ROUNDS,
    );
    let lines = [
        ("a rare word", "Zanzibar", &[][..], "<= 1.0"),
        ("a rare word, in both cases", "zanzibar", &[], ""),
        ("the newest 50 of a common word", "oak", &["--limit", "50"], "<= 0.2"),
        ("all of a common word", "oak", &[], "<= 4.5"),
        ("all of a common word, counted", "oak", &["-c"], ""),
    ];
    if !lines.iter().any(|(what, ..)| table.wants(what)) {
        return;
    }
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        return lines.iter().for_each(|(what, ..)| table.skipped(what, "rg is not installed"));
    }
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let store = scratch.path().join("store");
    fill(&store);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get).to_string();
    for (what, word, flags, goal) in lines {
        let rg = || run(scratch.path(), "rg", &["--no-config", "-c", "-j", &threads, word, "store"]);
        let search = || run(scratch.path(), SESSION, &[&["search", word][..], flags].concat());
        table.times_as_long(what, rg, search, goal);
    }
}

fn fill(store: &Path) {
    for session in 0..SESSIONS {
        let dir = store.join(format!("s{session:04}"));
        fs::create_dir_all(&dir).expect("there is room");
        fs::write(dir.join("history.jsonl"), Histories::of_bytes(session, Shape::Real, BYTES)).expect("there is room");
    }
}

fn run(root: &Path, program: &str, words: &[&str]) {
    let mut command = Command::new(program);
    command.args(words).current_dir(root).env("HOME", root);
    command.env("XDG_CACHE_HOME", root.join("cache")).env("KVIT_CODER_SESSIONS_DIR", root.join("store"));
    // What it prints is read, as a person or a file would.
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().expect("the program can be run");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{program}: {:?}", output.status);
}
