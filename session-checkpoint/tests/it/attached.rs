//! The checkpoints as a session store is given them.

use crate::support::{Lab, rel};
use session_checkpoint::{Attached, Cancel, Checkpoints, ConflictPolicy, Error, Options, Request, Scope, TurnRef};
use session_core::checkpoint::{
    ChangesOf, CheckpointDepth, CheckpointFaultKind, CheckpointRef, Checkpointer, InterruptedRestore, LastRestore,
    OnConflict,
};
use session_disk::faults::{self, Fault};
use std::fs;
use std::num::NonZeroUsize;

fn attached(lab: &Lab) -> Attached {
    Attached::new(Options::new(&lab.workspace, &lab.store), Vec::new(), Cancel::new())
}

#[test]
fn a_restore_through_the_trait_is_planned_guarded_and_taken_back() {
    let lab = Lab::new();
    let mut own = attached(&lab);
    lab.write("oak", "planted");
    assert_eq!(own.take("plant", ChangesOf::Session).expect("a checkpoint"), 1);
    lab.write("oak", "felled");
    lab.write("birch", "new");
    assert_eq!(own.take("fell", ChangesOf::Session).expect("a checkpoint"), 2);
    assert_eq!(own.last_restore().expect("readable"), None);

    let plan = own.plan(CheckpointRef::Taken(1)).expect("a plan");
    assert_eq!((plan.writes, plan.deletes, plan.conflicts), (vec!["oak".into()], vec!["birch".into()], vec![]));
    let restored = own.restore(CheckpointRef::Taken(1), OnConflict::Stop).expect("a restore");
    assert_eq!((restored.checkpoint, restored.guard, restored.written, restored.deleted), (3, 1, 1, 1));
    assert_eq!((lab.read("oak").as_str(), lab.exists("birch")), ("planted", false));
    assert_eq!(
        own.last_restore().expect("readable"),
        Some(LastRestore { checkpoint: 3, guard: 1, restored: Some(CheckpointRef::Taken(1)) })
    );
    assert_eq!(own.interrupted().expect("readable"), None);

    own.restore(CheckpointRef::Guard(1), OnConflict::Stop).map(drop).expect("the way back");
    assert_eq!((lab.read("oak").as_str(), lab.exists("birch")), ("felled", true));
}

#[test]
fn a_restore_of_a_part_is_not_told_as_one_of_the_whole() {
    let mut lab = Lab::with(|options| options.threads = NonZeroUsize::new(1));
    for text in ["planted", "watered"] {
        lab.write("oak", text);
        lab.write("ash", text);
        lab.snapshot();
    }
    let whole = Some(CheckpointRef::Taken(1));
    let scope = |paths: &[&str], only_mine| Scope {
        paths: paths.iter().map(|path| rel(path)).collect(),
        only_mine,
        ..Scope::default()
    };
    let all = [
        (scope(&[], false), ConflictPolicy::Force, whole),
        (scope(&["oak"], false), ConflictPolicy::Force, None),
        (scope(&[], true), ConflictPolicy::Force, None),
        (scope(&[], false), ConflictPolicy::KeepMine, None),
    ];
    for (scope, policy, wanted) in all {
        let cancel = Cancel::new();
        let mut told = None;
        for at in 0.. {
            lab.write("oak", format!("again {at}"));
            let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &cancel).expect("a plan");
            let run = faults::with(Fault::Stop { at }, || lab.checkpoints.apply_restore(&plan, policy, &cancel));
            assert!(run.hit, "no operation interrupts it");
            told = attached(&lab).interrupted().expect("readable");
            if told.is_some() {
                break;
            }
        }
        assert_eq!(told, Some(InterruptedRestore { restoring: wanted }), "{scope:?} {policy:?}");
        lab.reopen();
        lab.checkpoints.resume_interrupted(&cancel).map(drop).expect("a restore");
        let last = attached(&lab).last_restore().expect("readable").expect("there is one");
        assert_eq!(last.restored, wanted, "{scope:?} {policy:?}");
    }
}

#[test]
fn a_session_inside_the_workspace_is_no_part_of_its_own_checkpoints() {
    let lab = Lab::new();
    let session = lab.path("sessions/demo");
    fs::create_dir_all(&session).expect("scratch");
    let mut own = Attached::new(Options::new(&lab.workspace, session.join("checkpoints")), Vec::new(), Cancel::new());
    lab.write("oak", "planted");
    lab.write("sessions/demo/history.jsonl", "one\n");
    own.take("", ChangesOf::Session).expect("a checkpoint");
    lab.write("oak", "felled");
    lab.write("sessions/demo/history.jsonl", "one\ntwo\n");
    own.take("", ChangesOf::Session).expect("a checkpoint");
    let plan = own.plan(CheckpointRef::Taken(1)).expect("a plan");
    assert_eq!((plan.writes, plan.conflicts), (vec!["oak".into()], vec![]));
    own.restore(CheckpointRef::Taken(1), OnConflict::Force).map(drop).expect("a restore");
    assert_eq!(lab.read("sessions/demo/history.jsonl"), "one\ntwo\n");
}

#[test]
fn what_was_edited_by_hand_stops_a_restore_and_is_named() {
    let lab = Lab::new();
    let mut own = attached(&lab);
    lab.write("oak", "planted");
    own.take("", ChangesOf::Session).expect("a checkpoint");
    lab.write("oak", "felled");
    own.take("", ChangesOf::Session).expect("a checkpoint");
    lab.write("oak", "by hand");
    let plan = own.plan(CheckpointRef::Taken(1)).expect("a plan");
    assert_eq!((plan.conflicts[0].path.as_str(), plan.conflicts[0].why.as_str()), ("oak", "edited since"));
    let refused = own.restore(CheckpointRef::Taken(1), OnConflict::Stop).expect_err("it is in conflict");
    assert!(matches!(refused.downcast_ref(), Some(Error::Conflicts { .. })), "{refused}");
    assert_eq!(lab.read("oak"), "by hand");
    own.restore(CheckpointRef::Taken(1), OnConflict::Force).map(drop).expect("it is forced");
    assert_eq!(lab.read("oak"), "planted");
}

#[test]
fn what_others_changed_between_two_turns_is_in_conflict_although_a_checkpoint_has_it() {
    let lab = Lab::new();
    let mut own = attached(&lab);
    lab.write("oak", "planted");
    own.take("", ChangesOf::Others).expect("a checkpoint");
    lab.write("oak", "watered");
    own.take("", ChangesOf::Session).expect("a checkpoint");
    lab.write("birch", "by hand");
    own.take("", ChangesOf::Others).expect("a checkpoint");
    lab.write("oak", "felled");
    own.take("", ChangesOf::Session).expect("a checkpoint");
    // Also where all were taken in one millisecond.
    let turns = lab.store.join("turns.jsonl");
    let mut lines: Vec<serde_json::Value> = fs::read_to_string(&turns)
        .expect("it is there")
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    let first = lines[0]["time_ms"].clone();
    for is_of_one_moment in [false, true] {
        if is_of_one_moment {
            lines.iter_mut().for_each(|line| line["time_ms"] = first.clone());
            fs::write(&turns, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).expect("scratch");
        }
        let plan = own.plan(CheckpointRef::Taken(2)).expect("a plan");
        assert_eq!((plan.writes, plan.deletes), (vec!["oak".into()], vec!["birch".into()]));
        let conflicts: Vec<_> = plan.conflicts.iter().map(|note| (note.path.as_str(), note.why.as_str())).collect();
        assert_eq!(conflicts, [("birch", "changed by others before checkpoint 3")], "{is_of_one_moment}");
        assert_eq!(own.plan(CheckpointRef::Taken(3)).expect("a plan").conflicts, []);
    }
}

#[test]
fn c30_what_a_fork_shares_is_its_own_and_what_it_has_restored_since_is_no_others_any_more() {
    let lab = Lab::new();
    let mut first = attached(&lab);
    lab.write("oak", "planted");
    first.take("", ChangesOf::Others).expect("a checkpoint");
    lab.write("oak", "watered");
    first.take("", ChangesOf::Session).expect("a checkpoint");
    let to = lab.dir.path().join("fork/checkpoints");
    first.share(&to, None).expect("a fork");
    let others = vec![lab.store.clone()];
    let mut fork = Attached::new(Options::new(&lab.workspace, &to), others, Cancel::new());
    assert_eq!(fork.plan(CheckpointRef::Taken(1)).expect("a plan").shared, [], "both turns are shared");
    lab.write("oak", "felled");
    first.take("", ChangesOf::Session).expect("a checkpoint");
    assert_eq!(fork.plan(CheckpointRef::Taken(1)).expect("a plan").shared[0].checkpoint, 3);
    fork.restore(CheckpointRef::Taken(2), OnConflict::Force).map(drop).expect("it is forced");
    assert_eq!(fork.plan(CheckpointRef::Taken(1)).expect("a plan").shared, []);
}

#[test]
fn c22_shared_checkpoints_stand_without_the_first_and_what_was_dropped_is_passed_over() {
    let mut lab = Lab::new();
    for text in ["1", "2", "3"] {
        lab.write("oak", text);
        lab.checkpoints.snapshot(&Request::next(text), &Cancel::new()).expect("a snapshot");
    }
    let to = lab.dir.path().join("fork/checkpoints");
    assert_eq!(attached(&lab).share(&to, Some(2)).expect("a fork"), 2);
    let none = lab.dir.path().join("none/checkpoints");
    assert_eq!(attached(&lab).share(&none, Some(0)).expect("nothing to share"), 0);
    assert!(!none.exists());
    fs::remove_dir_all(&lab.store).expect("scratch");
    let mut own = Attached::new(Options::new(&lab.workspace, &to), Vec::new(), Cancel::new());
    own.restore(CheckpointRef::Taken(1), OnConflict::Force).map(drop).expect("a restore");
    assert_eq!(lab.read("oak"), "1");
    lab.checkpoints = Checkpoints::open(Options::new(&lab.workspace, &to)).expect("a store").0;
    lab.store = to;
    lab.fsck();
}

#[test]
fn c05_another_directory_at_the_place_of_the_workspace_is_neither_captured_nor_restored_into() {
    let lab = Lab::new();
    let mut own = attached(&lab);
    lab.write("oak", "planted");
    own.take("", ChangesOf::Session).expect("a checkpoint");
    fs::rename(&lab.workspace, lab.dir.path().join("moved")).expect("scratch");
    fs::create_dir(&lab.workspace).expect("scratch");
    lab.write("oak", "another garden's");
    let refused = [
        own.take("", ChangesOf::Session).map(drop),
        own.restore(CheckpointRef::Taken(1), OnConflict::Force).map(drop),
        own.resume().map(drop),
        own.go_back(OnConflict::Force).map(drop),
    ];
    for refused in refused {
        let error = refused.expect_err("it is another one");
        let told = error.downcast_ref();
        assert!(matches!(told, Some(Error::OtherWorkspace { recorded, .. }) if *recorded == lab.workspace), "{error}");
    }
    assert_eq!(lab.read("oak"), "another garden's");
    assert_eq!(lab.checkpoints.reader().expect("a store").turns().expect("a list").len(), 1);
}

#[test]
fn a_plan_names_directories_external_files_and_what_stands_in_the_way_in_words() {
    let mut lab = Lab::new();
    let conf = lab.dir.path().canonicalize().expect("it exists").join("garden.conf");
    fs::write(&conf, "old").expect("scratch");
    lab.checkpoints.track_external(&conf).expect("it can be tracked");
    lab.write("pond", "a file");
    lab.write("logs", "a file");
    fs::create_dir(lab.path("nursery")).expect("scratch");
    let mut own = attached(&lab);
    own.take("", ChangesOf::Session).expect("a checkpoint");
    fs::write(&conf, "new").expect("scratch");
    lab.remove("pond");
    nix::unistd::mkfifo(&lab.path("pond"), nix::sys::stat::Mode::S_IRWXU).expect("scratch");
    lab.remove("nursery");
    fs::create_dir(lab.path("shed")).expect("scratch");
    own.take("", ChangesOf::Session).expect("a checkpoint");
    let plan = own.plan(CheckpointRef::Taken(1)).expect("a plan");
    let conf = conf.to_str().expect("text").to_owned();
    assert_eq!((plan.writes, plan.deletes), (vec![conf, "nursery/".into()], vec!["shed/".to_owned()]));
    let conflicts: Vec<_> = plan.conflicts.iter().map(|note| (note.path.as_str(), note.why.as_str())).collect();
    assert_eq!(conflicts, [("pond", "not storable: special")]);
}

#[test]
fn a_file_that_only_a_guard_holds_is_found_and_a_damaged_guard_is_told() {
    let lab = Lab::new();
    let mut own = attached(&lab);
    for text in ["planted", "watered"] {
        lab.write("oak", text);
        own.take("", ChangesOf::Session).expect("a checkpoint");
    }
    lab.write("oak", "by hand");
    lab.link("by hand", "link");
    own.restore(CheckpointRef::Taken(1), OnConflict::Force).map(drop).expect("it is forced");
    let found = own.find_files(&mut |bytes| bytes == b"by hand").expect("readable");
    let found: Vec<_> = found.iter().map(|file| (file.checkpoint, file.path.as_str())).collect();
    assert_eq!(found, [(CheckpointRef::Guard(1), "oak")], "what a link says is no content");
    for depth in [CheckpointDepth::Links, CheckpointDepth::Contents] {
        assert_eq!(own.examine(depth).expect("readable").faults, []);
    }
    fs::write(lab.repo().join("refs/checkpoint/safety/1"), "").expect("scratch");
    for (depth, what) in [
        (CheckpointDepth::Links, "its reference names no object"),
        (CheckpointDepth::Contents, "1 of its objects are missing or damaged"),
    ] {
        let health = own.examine(depth).expect("readable");
        let told: Vec<_> = health.faults.iter().map(|one| (one.checkpoint, one.kind, one.what.as_str())).collect();
        assert_eq!(told, [(Some(CheckpointRef::Guard(1)), CheckpointFaultKind::Damaged, what)]);
    }
}
