//! Pruning spilled output: what the live conversation mentions stays.

use crate::scratch::{Scratch, at_second, name, touch, user};
use session_disk::faults::{self, Fault};
use session_store::{Protection, SpillPlan, Store};
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

fn planned(store: &Store) -> SpillPlan {
    store.plan_prune_spills(&name("demo")).expect("it can be read")
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
    let entry = store.prune_spills(&plan).expect("nothing forbids it").expect("there was something");
    assert_eq!(standing(&scratch), ["live.txt", "new.txt"]);
    assert_eq!(store.trash_list().expect("it can be read"), std::slice::from_ref(&entry));
    assert_eq!(store.prune_spills(&planned(&store)).expect("nothing forbids it"), None);
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
    assert_eq!(store.prune_spills(&stale).expect("it can be read"), None);
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
            let run = faults::with(fault(at), || store.prune_spills(&plan));
            let what = format!("{:?} of {:?}", fault(at), run.ops);
            store.prune_spills(&planned(&store)).unwrap_or_else(|error| panic!("{what}: {error}"));
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
