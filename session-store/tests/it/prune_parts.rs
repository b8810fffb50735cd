//! Pruning parts of sessions: spilled output that the live conversation does not mention, what is left of processes that
//! ended, checkpoints.

use crate::scratch::{Scratch, at_second, name, picture, touch, user};
use session_core::SessionName;
use session_disk::faults::{self, Fault};
use session_store::{PartPlan, Protection, PrunePart, Store, StoreError};
use std::fs;

/// One output that a live message mentions, one that only a rolled-back one does, one that none does, one that is new.
fn spilled() -> Scratch {
    let scratch = Scratch::new();
    let rollback = "{\"ts\":\"2026-01-02T03:04:09Z\",\"kind\":\"rollback\",\"dropped\":1}\n".to_owned();
    let lines = [user(1, "all of it is in tmp/live.txt"), user(2, "see tmp/dropped.txt"), rollback];
    for file in ["live", "dropped", "nobodys", "new"] {
        let path = scratch.put(format!("demo/tmp/{file}.txt"), file);
        touch(&path, at_second(1_000));
    }
    scratch.session("demo", &lines);
    touch(&scratch.path("demo/tmp/new.txt"), at_second(40_000_000_000));
    scratch
}

fn planned(store: &Store) -> PartPlan {
    store.plan_prune_part(&name("demo"), PrunePart::Tmp).expect("it can be read")
}

fn standing(scratch: &Scratch) -> Vec<String> {
    let entries = fs::read_dir(scratch.path("demo/tmp")).expect("it is there");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("it is there").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

const ALL: [&str; 4] = ["dropped.txt", "live.txt", "new.txt", "nobodys.txt"];

#[test]
fn t02_outputs_that_a_live_message_mentions_stay_and_the_others_come_back_from_the_trash() {
    let scratch = spilled();
    let store = scratch.store();
    let plan = planned(&store);
    assert_eq!(plan.doomed.iter().collect::<Vec<_>>(), ["dropped.txt", "nobodys.txt"]);
    assert_eq!((plan.kept, plan.protections.len()), (2, 0));
    let entry = store.prune_part(&plan).expect("nothing forbids it").expect("there was something");
    assert_eq!(standing(&scratch), ["live.txt", "new.txt"]);
    assert_eq!(store.trash_list().expect("it can be read"), std::slice::from_ref(&entry));
    assert_eq!(store.prune_part(&planned(&store)).expect("nothing forbids it"), None);
    store.restore_from_trash(&entry.id).expect("the session stands");
    assert_eq!(standing(&scratch), ALL);
    assert_eq!(store.trash_list().expect("it can be read"), []);
}

#[test]
fn t02_nothing_goes_where_a_line_cannot_be_read_or_the_session_is_pinned() {
    let scratch = spilled();
    let store = scratch.store();
    let stale = planned(&store);
    store.open(&name("demo")).and_then(|session| session.pin()).expect("nothing forbids it");
    assert_eq!(planned(&store).protections.iter().map(Protection::as_str).collect::<Vec<_>>(), ["pinned"]);
    assert_eq!(store.prune_part(&stale).expect("it can be read"), None);
    scratch.session("demo", &[user(1, "tmp/live.txt"), "no event\n".to_owned()]);
    assert!(planned(&store).protections.iter().any(|one| one.as_str() == "damaged"));
    assert_eq!(standing(&scratch), ALL);
}

#[test]
fn t02_pruning_outputs_that_breaks_off_anywhere_loses_none_and_is_repeated() {
    for fault in [|at| Fault::Fail { at }, |at| Fault::Full { at }, |at| Fault::Stop { at }] as [fn(u64) -> Fault; 3] {
        for at in 0..200 {
            let scratch = spilled();
            let store = scratch.store();
            let plan = planned(&store);
            let run = faults::with(fault(at), || store.prune_part(&plan));
            let what = format!("{:?} of {:?}", fault(at), run.ops);
            store.prune_part(&planned(&store)).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(standing(&scratch), ["live.txt", "new.txt"], "{what}");
            for entry in store.trash_list().expect("it can be read") {
                store.restore_from_trash(&entry.id).expect("the session stands");
            }
            assert_eq!(standing(&scratch), ALL, "{what}");
            if !run.hit {
                assert!(at > 6);
                break;
            }
        }
    }
}

/// Two processes that have ended, one that has the highest number, and a checkpoint store.
fn ended() -> Scratch {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant")]);
    for id in ["bg1", "bg2", "bg3"] {
        let record = format!(
            "{{\"id\":\"{id}\",\"command\":\"dig\",\"cwd\":\".\",\"pid\":1,\"started\":\"2026-01-02T03:04:05Z\",\"ended\":\"2026-01-02T03:04:06Z\",\"state\":\"exited\",\"exit_code\":0}}"
        );
        scratch.put(format!("demo/proc/{id}.json"), record);
        scratch.put(format!("demo/proc/{id}.log"), format!("{id} digs\n"));
    }
    scratch.put("demo/checkpoints/HEAD", "ref: refs/heads/none\n");
    scratch
}

fn plan(scratch: &Scratch, part: PrunePart) -> PartPlan {
    scratch.store().plan_prune_part(&name("demo"), part).expect("it can be read")
}

/// The files of the session, but for the locks that pruning leaves. A directory's time says when something went.
fn below(scratch: &Scratch) -> Vec<String> {
    let is_kept = |line: &String| line.contains(" 100600 ") && !line.contains("lock");
    picture(&scratch.path("demo")).into_iter().filter(is_kept).collect()
}

#[test]
fn processes_that_have_ended_go_to_the_trash_and_come_back() {
    let scratch = ended();
    let store = scratch.store();
    let before = below(&scratch);
    let planned = plan(&scratch, PrunePart::Proc);
    // The highest number would be given again.
    assert_eq!(planned.doomed.iter().collect::<Vec<_>>(), ["bg1", "bg2"]);
    assert_eq!(planned.kept, 1);
    let entry = store.prune_part(&planned).expect("nothing forbids it").expect("there was something");
    assert_eq!(entry.why, "pruned: 2 processes that have ended");
    let left = store.registry(&name("demo")).and_then(|registry| Ok(registry.list()?)).expect("it can be read");
    assert_eq!(left.processes.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["bg3"]);
    assert!(!scratch.path("demo/proc/bg1.log").exists());
    store.restore_from_trash(&entry.id).expect("the session stands");
    assert_eq!(below(&scratch), before);
    assert_eq!(store.trash_list().expect("it can be read"), []);
}

#[test]
fn checkpoints_go_as_a_whole_unless_a_rewind_needs_them_or_somebody_keeps_them() {
    let scratch = ended();
    let store = scratch.store();
    let before = below(&scratch);
    let mut kept = plan(&scratch, PrunePart::Checkpoints);
    kept.keep(Protection::PinnedCheckpoint { turn: 2 });
    assert_eq!((kept.doomed.len(), kept.kept), (0, 1));
    assert_eq!(store.prune_part(&kept).expect("it can be read"), None);
    let record = scratch.put("demo/.rewind", "{}");
    let codes = |plan: &PartPlan| plan.protections.iter().map(Protection::as_str).collect::<Vec<_>>();
    assert_eq!(codes(&plan(&scratch, PrunePart::Checkpoints)), ["rewind"]);
    fs::remove_file(record).expect("it was written");
    let entry = store
        .prune_part(&plan(&scratch, PrunePart::Checkpoints))
        .expect("nothing forbids it")
        .expect("there was something");
    assert!(!scratch.path("demo/checkpoints").exists());
    store.restore_from_trash(&entry.id).expect("the session stands");
    assert_eq!(below(&scratch), before);
}

#[test]
fn a_file_whose_place_is_taken_keeps_the_whole_entry_in_the_trash() {
    let scratch = spilled();
    let store = scratch.store();
    let entry = store.prune_part(&planned(&store)).expect("nothing forbids it").expect("there was something");
    let taken = scratch.put("demo/tmp/nobodys.txt", "another");
    let refused = store.restore_from_trash(&entry.id);
    assert!(matches!(&refused, Err(StoreError::InTheWay { path }) if *path == taken), "{refused:?}");
    assert_eq!(standing(&scratch), ["live.txt", "new.txt", "nobodys.txt"]);
    fs::remove_file(taken).expect("it was written");
    assert_eq!(
        store.restore_from_trash(&entry.id).expect("the session stands"),
        SessionName::new("demo").expect("it is one")
    );
    assert_eq!(standing(&scratch), ALL);
}

#[test]
fn pruning_processes_and_checkpoints_that_breaks_off_anywhere_loses_nothing_and_is_repeated() {
    for part in [PrunePart::Proc, PrunePart::Checkpoints] {
        for fault in [|at| Fault::Fail { at }, |at| Fault::Stop { at }] as [fn(u64) -> Fault; 2] {
            for at in 0..200 {
                let scratch = ended();
                let (store, before) = (scratch.store(), below(&scratch));
                let planned = plan(&scratch, part);
                let run = faults::with(fault(at), || store.prune_part(&planned));
                let what = format!("{:?} of {:?}", fault(at), run.ops);
                store.prune_part(&plan(&scratch, part)).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(plan(&scratch, part).doomed.is_empty(), "{what}");
                for entry in store.trash_list().expect("it can be read") {
                    store.restore_from_trash(&entry.id).unwrap_or_else(|error| panic!("{what}: {error}"));
                }
                assert_eq!(below(&scratch), before, "{what}");
                if !run.hit {
                    assert!(at > 6);
                    break;
                }
            }
        }
    }
}
