//! Plans of those who only look: the same as those of the writer, and nothing is written for them.

use crate::support::{Lab, fingerprint};
use session_checkpoint::{
    Cancel, Checkpoints, ConflictPolicy, Error, Options, Request, Retention, Scope, Secrets, TurnRef,
};

fn three_turns() -> Lab {
    let mut lab = Lab::new();
    for text in ["1", "2", "3"] {
        lab.write("a", text);
        lab.write(format!("made-{text}"), text);
        lab.snapshot();
    }
    lab.restore(1);
    lab.write("a", "by hand");
    lab
}

#[test]
fn a_reader_plans_what_the_writer_plans_and_writes_nothing() {
    let mut lab = three_turns();
    let (scope, cancel) = (Scope::default(), Cancel::new());
    let before = fingerprint(&lab.store);
    let reader = lab.checkpoints.reader().expect("a store");
    let options = lab.checkpoints.options().clone();
    let restore = reader.plan_restore(TurnRef::Turn(2), &options, &scope, &cancel).expect("a plan");
    let undo = reader.plan_undo(&options, &cancel).expect("a plan");
    let retention = Retention { keep_last: Some(1), ..Retention::default() };
    let prune = reader.plan_prune(retention, &cancel).expect("a plan");
    assert_eq!(fingerprint(&lab.store), before);
    assert_eq!(
        restore,
        lab.checkpoints.plan_restore(TurnRef::Turn(2), &scope, &cancel).expect("a plan").into_summary()
    );
    assert_eq!(undo, lab.checkpoints.plan_undo(&cancel).expect("a plan").into_summary());
    assert_eq!(prune, lab.checkpoints.plan_prune(retention, &cancel).expect("a plan"));
    assert!(!restore.conflicts.is_empty() && !prune.turns.is_empty());
}

#[test]
fn a_reader_refuses_what_the_writer_refuses() {
    let lab = three_turns();
    let reader = lab.checkpoints.reader().expect("a store");
    let plan = |workspace: &std::path::Path| {
        let options = Options::new(workspace, &lab.store);
        reader.plan_restore(TurnRef::Turn(1), &options, &Scope::default(), &Cancel::new())
    };
    assert!(matches!(plan(std::path::Path::new("/")), Err(Error::RefusedWorkspace { .. })));
    assert!(matches!(plan(&lab.dir.path().join("session")), Err(Error::OtherWorkspace { .. })));
}

#[test]
fn a_store_whose_workspace_is_gone_is_pruned_all_the_same() {
    let lab = three_turns();
    std::fs::remove_dir_all(&lab.workspace).expect("scratch");
    let (mut checkpoints, report) = Checkpoints::open_store(&lab.store).expect("a store");
    assert!(report.other_workspace);
    checkpoints.pin(2).expect("there is a turn 2");
    let retention = Retention { keep_last: Some(1), ..Retention::default() };
    let pruned = checkpoints.prune(retention, &Cancel::new()).expect("a prune");
    assert_eq!((pruned.turns, pruned.protected), (vec![3], vec![1, 2]));
    assert!(matches!(Checkpoints::open_store(lab.dir.path()), Err(Error::NoStore { .. })));
}

#[test]
fn the_rules_of_the_newest_turn_are_kept() {
    let mut lab = Lab::with(|options| {
        options.excludes = vec!["target/".to_owned()];
        options.honor_gitignore = false;
        options.secrets = Secrets::Capture;
        options.max_file_bytes = 77;
    });
    let mut options = Options::new(&lab.workspace, &lab.store);
    let reader = lab.checkpoints.reader().expect("a store");
    assert!(!reader.keep_rules(&mut options).expect("a store"), "no turn says");
    lab.snapshot();
    assert!(reader.keep_rules(&mut options).expect("a store"));
    assert_eq!(options.excludes, ["target/"]);
    assert_eq!((options.honor_gitignore, options.secrets, options.max_file_bytes), (false, Secrets::Capture, 77));
}

#[test]
fn a_plan_for_a_turn_of_another_store_is_what_is_then_done_and_writes_nothing() {
    let mut lab = three_turns();
    let other = lab.dir.path().join("other/checkpoints");
    let (mut theirs, _) = Checkpoints::open(Options::new(&lab.workspace, &other)).expect("a store");
    lab.write("a", "theirs");
    lab.write("only-there", "x");
    theirs.snapshot(&Request::next("theirs"), &Cancel::new()).expect("a snapshot");
    lab.remove("only-there");
    lab.write("a", "ours");
    lab.snapshot();
    lab.write("later", "x");
    lab.write("a", "by hand");
    let options = lab.checkpoints.options().clone();
    let (scope, cancel) = (Scope::default(), Cancel::new());
    let before = [&lab.store, &other, &lab.workspace].map(|dir| fingerprint(dir));
    let (ours, reader) = (lab.checkpoints.reader().expect("a store"), theirs.reader().expect("a store"));
    let planned = ours.plan_restore_of(&reader, TurnRef::Turn(1), &options, &scope, &cancel).expect("a plan");
    assert_eq!([&lab.store, &other, &lab.workspace].map(|dir| fingerprint(dir)), before);
    let none = ours.plan_restore_of(&reader, TurnRef::Turn(2), &options, &scope, &cancel);
    assert!(matches!(&none, Err(Error::NoTurn { turn }) if turn == "turn-2"), "it is ours and not theirs: {none:?}");

    // What stands against it is judged by the newest turn of this store.
    let conflicts: Vec<_> = planned.conflicts.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(conflicts, ["a", "later"]);
    let paths = |list: &[session_checkpoint::Planned]| list.iter().map(|one| one.path.to_string()).collect::<Vec<_>>();
    assert_eq!((paths(&planned.writes), paths(&planned.deletes)), (vec!["only-there".to_owned()], vec![]));
    let plan = theirs.plan_restore(TurnRef::Turn(1), &scope, &cancel).expect("a plan");
    let restored = theirs.apply_restore(&plan, ConflictPolicy::Force, &cancel).expect("a restore");
    assert_eq!((restored.restored, restored.deleted), (2, 1));
    assert_eq!((lab.read("a"), lab.exists("later")), ("theirs".to_owned(), false));
    let after = ours.plan_restore_of(&reader, TurnRef::Turn(1), &options, &scope, &cancel).expect("a plan");
    assert!(after.is_empty(), "{after:?}");
}
