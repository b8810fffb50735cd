//! Differences as text: what `git apply` makes of them is the judge.

use crate::support::{Lab, git_command, rel, state, write};
use session_checkpoint::{Cancel, DiffOptions, NoText, TurnRef};
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

#[test]
fn the_diff_of_two_turns_applied_to_the_first_is_the_second() {
    let mut lab = Lab::new();
    let lines = |from: u32, to: u32| (from..to).map(|n| format!("line {n}\n")).collect::<String>();
    lab.write("long", lines(0, 100));
    lab.write("gone", "x\n");
    lab.write("no newline", "a\nb");
    lab.write("mode", "x\n");
    lab.write("both", "x\n");
    lab.write("crlf", "a\r\nb\r\n");
    lab.write(OsStr::from_bytes(b"odd\n\"\xff"), "old\n");
    lab.link("long", "link");
    lab.write("becomes/dir", "x\n");
    lab.snapshot();
    lab.write("long", lines(0, 50) + "new\n" + &lines(52, 100));
    lab.remove("gone");
    lab.write("no newline", "a\nb\nc");
    lab.chmod("mode", 0o755);
    lab.write("both", "y\n");
    lab.chmod("both", 0o755);
    lab.write("crlf", "a\r\nB\r\n");
    lab.write(OsStr::from_bytes(b"odd\n\"\xff"), "new\n");
    lab.remove("link");
    lab.link("gone", "link");
    lab.write("made/here", "x\n");
    lab.write("empty", "");
    lab.snapshot();
    let reader = lab.checkpoints.reader().expect("a store");
    let diffs = reader.diff(TurnRef::Turn(1), TurnRef::Turn(2), &DiffOptions::default()).expect("two turns");
    let patch: Vec<u8> = diffs.iter().flat_map(|diff| diff.text.clone()).collect();
    let second = lab.state();
    lab.restore(1);
    let mut git = git_command(lab.dir.path())
        .current_dir(&lab.workspace)
        .args(["apply", "--unsafe-paths", "--whitespace=nowarn", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("git runs");
    git.stdin.take().expect("piped").write_all(&patch).expect("git reads");
    let output = git.wait_with_output().expect("git ends");
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(&patch)
    );
    assert_eq!(lab.state(), second);
}

#[test]
fn binary_and_large_files_have_headers_and_a_reason() {
    let mut lab = Lab::new();
    lab.write("bin", b"\0\x01");
    lab.write("large", "x".repeat(1000));
    lab.write("small", "a\n");
    lab.snapshot();
    lab.write("bin", b"\0\x02");
    lab.write("large", "y".repeat(1000));
    lab.write("small", "b\n");
    lab.snapshot();
    let reader = lab.checkpoints.reader().expect("a store");
    let options = DiffOptions { max_file_bytes: 500, ..DiffOptions::default() };
    let diffs = reader.diff(TurnRef::Turn(1), TurnRef::Turn(2), &options).expect("two turns");
    let reasons: Vec<_> = diffs.iter().map(|diff| (diff.no_text, diff.added, diff.removed)).collect();
    assert_eq!(reasons, [(Some(NoText::Binary), 0, 0), (Some(NoText::TooLarge), 0, 0), (None, 1, 1)]);
    let cut = DiffOptions { max_total_bytes: 1, paths: vec![rel("large"), rel("small")], ..DiffOptions::default() };
    let diffs = reader.diff(TurnRef::Turn(1), TurnRef::Turn(2), &cut).expect("two turns");
    assert_eq!(diffs.iter().map(|diff| diff.no_text).collect::<Vec<_>>(), [None, Some(NoText::Cut)]);
}

#[test]
fn the_workspace_is_compared_without_writing_anything() {
    let mut lab = Lab::new();
    lab.write("a", "1\n");
    lab.write("d/b", "1\n");
    lab.link("a", "l");
    lab.snapshot();
    write(&lab.path("a"), "2\n");
    lab.remove("d");
    lab.remove("l");
    lab.link("d", "l");
    lab.write("new", "n\n");
    let before = crate::support::fingerprint(&lab.store);
    let reader = lab.checkpoints.reader().expect("a store");
    let options = lab.checkpoints.options();
    let cancel = Cancel::new();
    let changes = reader.disk_changes(TurnRef::Latest, options, &cancel).expect("readable");
    assert_eq!(changes.iter().map(|change| change.path.to_string()).collect::<Vec<_>>(), ["a", "d/b", "l", "new"]);
    let diffs = reader.disk_diff(TurnRef::Latest, options, &DiffOptions::default(), &cancel).expect("readable");
    assert!(String::from_utf8_lossy(&diffs[0].text).ends_with("@@ -1 +1 @@\n-1\n+2\n"), "{:?}", diffs[0]);
    assert_eq!(crate::support::fingerprint(&lab.store), before);
    lab.snapshot();
    assert_eq!(reader.changes(TurnRef::Turn(1), TurnRef::Latest).expect("two turns"), changes);
}

#[test]
fn reading_needs_no_permission_to_write() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    let copy = lab.dir.path().join("copy");
    let status = std::process::Command::new("cp").arg("-a").args([&lab.store, &copy]).status().expect("cp runs");
    assert!(status.success());
    for dir in [copy.clone(), copy.join("repo.git"), copy.join("repo.git/objects/pack")] {
        crate::support::chmod(&dir, 0o500);
    }
    let before = state(&copy);
    let reader = session_checkpoint::Reader::open(&copy).expect("a store");
    assert_eq!(reader.turns().expect("a list").len(), 1);
    assert!(reader.read(TurnRef::Latest, &rel("a")).expect("a turn").is_some());
    reader.usage().expect("readable");
    reader.verify(session_checkpoint::VerifyDepth::Contents).expect("an answer");
    assert_eq!(state(&copy), before);
    for dir in [copy.clone(), copy.join("repo.git"), copy.join("repo.git/objects/pack")] {
        crate::support::chmod(&dir, 0o700);
    }
    fs::remove_dir_all(copy).expect("scratch");
}
