//! What only other programs put into a repository: commits of other repositories in a tree, tags of anything.

use crate::support::{Lab, rel};
use session_checkpoint::{
    Cancel, ConflictPolicy, DiffOptions, KeepReason, Mode, Reader, Retention, TurnRef, TurnState, VerifyDepth,
};

/// Puts a commit of another repository under a path into a turn made by stock git, the third.
fn with_gitlink(path: &str) -> Lab {
    let mut lab = Lab::new();
    for text in ["planted", "watered"] {
        lab.write("oak", text);
        lab.snapshot();
    }
    let theirs = lab.git(&["rev-parse", "turn-1"]);
    lab.git(&["read-tree", "turn-1"]);
    lab.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},{path}", theirs.trim())]);
    let tree = lab.git(&["write-tree"]);
    let commit = lab.git(&["commit-tree", "-p", "turn-2", "-m", "by hand", tree.trim()]);
    lab.git(&["tag", "turn-3", commit.trim()]);
    lab
}

fn changed(reader: &Reader, from: u32, to: u32) -> Vec<String> {
    let changes = reader.changes(TurnRef::Turn(from), TurnRef::Turn(to)).expect("two turns");
    changes.iter().map(|change| change.path.to_string()).collect()
}

#[test]
fn c13_a_commit_of_another_repository_in_a_turn_is_listed_and_neither_damage_nor_a_file() {
    let lab = with_gitlink("bed/roses");
    let reader = lab.checkpoints.reader().expect("a store");
    let states: Vec<_> = reader.turns().expect("a list").iter().map(|turn| turn.state).collect();
    assert_eq!(states, [TurnState::Good; 3]);
    let verified = reader.verify(VerifyDepth::Contents).expect("an answer");
    assert!(verified.is_whole(), "{verified:?}");
    let files = reader.files(TurnRef::Turn(3)).expect("a turn");
    let told: Vec<_> = files.iter().map(|file| (file.path.to_string(), file.mode)).collect();
    assert_eq!(told, [("bed/roses".to_owned(), Mode::Gitlink), ("oak".to_owned(), Mode::File)]);
    assert_eq!(reader.read(TurnRef::Turn(3), &rel("bed/roses")).expect("a turn"), None);
    assert_eq!(changed(&reader, 2, 3), ["bed/roses", "oak"]);
    let mut asked = Vec::new();
    let found = reader.find_files(&mut |bytes| {
        asked.push(bytes.to_vec());
        true
    });
    let oak = |n| (TurnRef::Turn(n), rel("oak"));
    assert_eq!(found.expect("readable"), [oak(1), oak(2)]);
    assert_eq!(asked, [b"planted", b"watered"]);
}

#[test]
fn c13_a_commit_of_another_repository_differs_as_git_shows_it() {
    let lab = with_gitlink("bed/roses");
    let reader = lab.checkpoints.reader().expect("a store");
    for (from, to) in [(2, 3), (3, 2)] {
        let diffs = reader.diff(TurnRef::Turn(from), TurnRef::Turn(to), &DiffOptions::default()).expect("two turns");
        let ours: String = diffs.iter().map(|diff| String::from_utf8_lossy(&diff.text).into_owned()).collect();
        let args = ["diff", "--no-renames", "--full-index", &format!("turn-{from}"), &format!("turn-{to}")];
        assert_eq!(ours, lab.git(&args));
        assert!(ours.contains("160000") && ours.contains("Subproject commit "), "{ours}");
    }
}

#[test]
fn c13_a_restore_leaves_alone_what_stands_where_a_commit_of_another_repository_was() {
    let mut lab = with_gitlink("bed/roses");
    lab.write("bed/roses/red", "mine");
    lab.snapshot();
    let restored = lab.try_restore(TurnRef::Turn(3), ConflictPolicy::Force).expect("a restore");
    assert!(
        restored
            .kept
            .iter()
            .any(|kept| (kept.path.to_string().as_str(), kept.reason) == ("bed/roses", KeepReason::ReservedName)),
        "{restored:?}"
    );
    assert_eq!((lab.read("oak"), lab.path("bed/roses").is_dir()), ("planted".to_owned(), true));
    let retention = Retention { keep_last: Some(3), ..Retention::default() };
    let pruned = lab.checkpoints.prune(retention, &Cancel::new()).expect("what it lacks is nobody's object");
    assert_eq!((pruned.turns, pruned.protected), (vec![1, 2], vec![]));
    let verified = lab.checkpoints.reader().expect("a store").verify(VerifyDepth::Contents).expect("an answer");
    assert!(verified.is_whole(), "{verified:?}");
}

#[test]
fn a_tag_of_no_commit_is_a_broken_turn_and_takes_nothing_from_the_others() {
    let mut lab = Lab::new();
    lab.write("oak", "planted");
    lab.snapshot();
    lab.git(&["tag", "turn-2", "turn-1^{tree}"]);
    lab.git(&["tag", "turn-3", "turn-1:oak"]);
    lab.git(&["tag", "-a", "-m", "of a tag", "inner", "turn-1"]);
    lab.git(&["tag", "-a", "-m", "of a tag", "turn-4", "inner"]);
    let reader = lab.checkpoints.reader().expect("a store");
    let states: Vec<_> = reader.turns().expect("a list").iter().map(|turn| turn.state).collect();
    assert_eq!(states, [TurnState::Good, TurnState::Broken, TurnState::Broken, TurnState::Good]);
    for turn in [2, 3] {
        let told = reader.files(TurnRef::Turn(turn)).expect_err("it is none").to_string();
        assert_eq!(told, format!("checkpoint turn-{turn} is broken"));
    }
    lab.write("oak", "felled");
    assert_eq!(lab.snapshot().turn, 5);
    lab.restore(4);
    assert_eq!(lab.read("oak"), "planted");
}
