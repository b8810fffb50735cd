//! What a snapshot sees: every edit, however well hidden, and nothing that is none.

use crate::support::{Lab, write};
use nix::sys::stat::UtimensatFlags;
use nix::sys::time::TimeSpec;
use session_checkpoint::{SkipReason, TurnRef};
use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn set_mtime(path: &Path, s: i64, ns: i64) {
    let time = TimeSpec::new(s, ns);
    nix::sys::stat::utimensat(nix::fcntl::AT_FDCWD, path, &time, &time, UtimensatFlags::NoFollowSymlink)
        .expect("scratch");
}

fn content(lab: &Lab, turn: u32, path: &str) -> String {
    lab.git(&["show", &format!("turn-{turn}:{path}")])
}

#[test]
fn ck01_an_edit_of_the_same_size_is_seen_however_it_is_hidden() {
    let mut lab = Lab::new();
    lab.write("f", "00000");
    lab.write("other", "x");
    lab.snapshot();
    for n in 1..=60_u32 {
        let text = format!("{n:05}");
        let path = lab.path("f");
        let meta = fs::metadata(&path).expect("it is there");
        match n % 4 {
            // In the same tick as the snapshot before, with the time put back, by a rename, in place.
            0 => fs::write(&path, &text).expect("scratch"),
            1 => {
                fs::write(&path, &text).expect("scratch");
                set_mtime(&path, meta.mtime(), meta.mtime_nsec());
            }
            2 => {
                fs::write(lab.path("g"), &text).expect("scratch");
                set_mtime(&lab.path("g"), meta.mtime(), meta.mtime_nsec());
                fs::rename(lab.path("g"), &path).expect("scratch");
            }
            _ => {
                let file = fs::OpenOptions::new().write(true).open(&path).expect("scratch");
                file.write_all_at(text.as_bytes(), 0).expect("scratch");
                set_mtime(&path, meta.mtime(), meta.mtime_nsec());
            }
        }
        let turn = lab.snapshot();
        let blob = lab.checkpoints.reader().expect("a store").read(TurnRef::Turn(turn.turn), &crate::support::rel("f"));
        assert_eq!(blob.expect("a turn").expect("it is there").bytes, text.as_bytes(), "edit {n}");
    }
}

#[test]
fn c02_a_same_size_edit_within_the_second_of_the_snapshot_is_seen() {
    let mut lab = Lab::new();
    // Whole seconds, as some file systems have them: the margin must cover them.
    lab.write("f", "one");
    let now = fs::metadata(lab.path("f")).expect("it is there").mtime();
    set_mtime(&lab.path("f"), now, 0);
    lab.snapshot();
    fs::write(lab.path("f"), "two").expect("scratch");
    set_mtime(&lab.path("f"), now, 0);
    let turn = lab.snapshot();
    assert_eq!(content(&lab, turn.turn, "f"), "two");
}

#[test]
fn ck02_a_file_that_changes_while_it_is_read_is_stored_or_told_and_right_next_time() {
    let mut lab = Lab::new();
    let path = lab.path("busy");
    let size = 4 << 20;
    write(&path, vec![b'a'; size]);
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (stop, path) = (Arc::clone(&stop), path.clone());
        std::thread::spawn(move || {
            let file = fs::OpenOptions::new().write(true).open(path).expect("scratch");
            let mut letter = b'b';
            while !stop.load(Ordering::Relaxed) {
                file.write_all_at(&vec![letter; 64 << 10], u64::from(letter) << 14).expect("scratch");
                letter = if letter == b'z' { b'a' } else { letter + 1 };
            }
        })
    };
    for _ in 0..5 {
        let turn = lab.snapshot();
        let told = turn.skipped.iter().any(|skipped| skipped.reason == SkipReason::Unstable);
        let blob =
            lab.checkpoints.reader().expect("a store").read(TurnRef::Turn(turn.turn), &crate::support::rel("busy"));
        assert!(told || blob.expect("a turn").is_some(), "the file is silently missing");
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().expect("the writer ends");
    let turn = lab.snapshot();
    let blob = lab.checkpoints.reader().expect("a store").read(TurnRef::Turn(turn.turn), &crate::support::rel("busy"));
    assert!(turn.skipped.is_empty());
    assert_eq!(blob.expect("a turn").expect("it is there").bytes, fs::read(&path).expect("it is there"));
}

#[test]
fn ck03_touching_a_file_makes_no_new_tree_and_no_new_pack() {
    let mut lab = Lab::new();
    lab.write("a/f", "x");
    let one = lab.snapshot();
    let packs = lab.checkpoints.reader().expect("a store").usage().expect("readable").packs;
    set_mtime(&lab.path("a/f"), 1_000_000_000, 5);
    let two = lab.snapshot();
    assert_eq!((one.tree, two.changed.len()), (two.tree, 0));
    assert_eq!(lab.checkpoints.reader().expect("a store").usage().expect("readable").packs, packs);
}

#[test]
fn ck04_the_exec_bit_is_a_change_and_comes_back() {
    let mut lab = Lab::new();
    lab.write("run", "#!/bin/sh\n");
    lab.write("b", "x");
    lab.chmod("b", 0o755);
    lab.snapshot();
    lab.chmod("run", 0o755);
    lab.chmod("b", 0o644);
    let two = lab.snapshot();
    assert_eq!(two.changed.len(), 2);
    lab.restore(1);
    assert_eq!((lab.mode("run"), lab.mode("b")), (0o644, 0o755));
    lab.restore(2);
    assert_eq!((lab.mode("run"), lab.mode("b")), (0o755, 0o644));
}

#[test]
fn ck23_names_of_any_bytes_lengths_and_depths_come_back() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let mut lab = Lab::new();
    let names: [&[u8]; 9] = [
        b"not-utf8-\xff\xfe",
        b"new\nline",
        b"tab\tand \"quotes\"\\",
        b"Case",
        b"case",
        "nfc-\u{e9}".as_bytes(),
        "nfd-e\u{301}".as_bytes(),
        b"-rf",
        b" lead and trail ",
    ];
    for name in names {
        lab.write(OsStr::from_bytes(name), name);
    }
    lab.write("x".repeat(255), "long");
    lab.write(format!("{}leaf", "d/".repeat(200)), "deep");
    let first = lab.snapshot();
    assert!(first.skipped.is_empty() && first.complete, "{:?}", first.skipped);
    let before = lab.state();
    for name in names {
        fs::remove_file(lab.path(OsStr::from_bytes(name))).expect("scratch");
    }
    lab.remove(&"x".repeat(255));
    lab.remove("d");
    lab.snapshot();
    lab.restore(1);
    assert_eq!(lab.state(), before);
    lab.fsck();
}

#[test]
fn ck23_names_that_git_keeps_for_itself_are_left_out_and_told() {
    let mut lab = Lab::new();
    lab.write("sub/.GIT/config", "not ours");
    lab.write("git~1", "x");
    lab.write("sub/.git./x", "x");
    lab.write("fine", "x");
    let turn = lab.snapshot();
    assert_eq!(lab.paths(1), ["fine"]);
    let told: Vec<String> = turn.skipped.iter().map(|skipped| skipped.path.to_string()).collect();
    assert_eq!(told, ["git~1", "sub/.git."]);
    assert_eq!(turn.nested.iter().map(ToString::to_string).collect::<Vec<_>>(), ["sub/.GIT"]);
    lab.fsck();
}

#[test]
fn ck36_a_flat_directory_of_fifty_thousand_files_is_one_tree() {
    let mut lab = Lab::with(|options| options.durability = session_checkpoint::Durability::None);
    fs::create_dir(lab.path("flat")).expect("scratch");
    for n in 0..50_000 {
        fs::write(lab.path(format!("flat/{n:05}")), "").expect("scratch");
    }
    let one = lab.snapshot();
    assert_eq!(one.files, 50_000);
    fs::write(lab.path("flat/25000"), "changed").expect("scratch");
    let two = lab.snapshot();
    assert_eq!(two.changed.len(), 1);
    assert_eq!(lab.git(&["ls-tree", "-r", "--name-only", "turn-2"]).lines().count(), 50_000);
}

#[test]
fn ck11_without_a_limit_on_its_size_a_file_is_stored_whole() {
    let mut lab = Lab::with(|options| options.max_file_bytes = u64::MAX);
    lab.write("oak", "three rings");
    lab.snapshot();
    assert_eq!(content(&lab, 1, "oak"), "three rings");
    lab.remove("oak");
    lab.restore(1);
    assert_eq!(lab.read("oak"), "three rings");
}

#[test]
fn c19_an_empty_workspace_is_a_turn_and_can_be_restored() {
    let mut lab = Lab::new();
    lab.snapshot();
    lab.write("a", "1");
    lab.snapshot();
    lab.restore(1);
    assert!(lab.state().is_empty());
    lab.fsck();
}
