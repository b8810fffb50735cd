//! The straight road: snapshot, list, compare, read, restore, undo.

use crate::support::{Lab, rel};
use session_checkpoint::{ChangeKind, TurnRef};

#[test]
fn turns_are_read_by_stock_git() {
    let mut lab = Lab::new();
    lab.write("src/x", "one\n");
    lab.write("README", "hello\n");
    let first = lab.snapshot();
    lab.write("src/x", "two\n");
    let second = lab.snapshot();
    let third = lab.snapshot();
    assert_eq!((first.turn, second.turn, third.turn), (1, 2, 3));
    assert_eq!(second.tree, third.tree);
    assert_eq!(lab.git(&["show", "turn-1:src/x"]), "one\n");
    assert_eq!(lab.git(&["show", "turn-3:src/x"]), "two\n");
    assert_eq!(lab.git(&["diff", "--name-status", "turn-1", "turn-2"]), "M\tsrc/x\n");
    assert_eq!(lab.git(&["log", "--format=%s"]).lines().count(), 3);
    lab.fsck();
}

#[test]
fn restore_and_undo_go_there_and_back() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.write("d/b", "2");
    lab.chmod("d/b", 0o755);
    lab.link("d/b", "l");
    lab.snapshot();
    let before = lab.state();
    lab.write("a", "changed");
    lab.remove("d");
    lab.write("new/deep/file", "x");
    lab.remove("l");
    lab.snapshot();
    let after = lab.state();
    let restored = lab.restored(1);
    assert_eq!((restored.restored, restored.deleted), (3, 1));
    assert_eq!(lab.state(), before);
    lab.undo();
    assert_eq!(lab.state(), after);
    lab.undo();
    assert_eq!(lab.state(), before);
    lab.fsck();
}

#[test]
fn changes_and_contents_are_told() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.write("b", "1");
    lab.snapshot();
    lab.write("a", "2");
    lab.remove("b");
    lab.write("c", "3");
    let second = lab.snapshot();
    let seen: Vec<_> = second.changed.iter().map(|change| (change.path.to_string(), change.kind)).collect();
    let expected = [("a", ChangeKind::Modified), ("b", ChangeKind::Deleted), ("c", ChangeKind::Added)];
    assert_eq!(seen, expected.map(|(path, kind)| (path.to_owned(), kind)));
    let reader = lab.checkpoints.reader().expect("a store");
    assert_eq!(reader.changes(TurnRef::Turn(1), TurnRef::Latest).expect("two turns"), second.changed);
    let blob = reader.read(TurnRef::Turn(1), &rel("b")).expect("a turn").expect("it is there");
    assert_eq!(blob.bytes, b"1");
    assert_eq!(reader.read(TurnRef::Turn(2), &rel("b")).expect("a turn"), None);
    let turns = reader.turns().expect("a list");
    assert_eq!(turns.iter().map(|turn| turn.changed_n).collect::<Vec<_>>(), [2, 3]);
}
