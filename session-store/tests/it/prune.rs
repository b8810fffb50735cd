//! Pruning: what goes, what stays and why, and that nothing is lost.

use crate::scratch::{Scratch, Sleeper, loaded, name, user};
use session_core::{Timestamp, parse_time};
use session_disk::faults::{self, Fault};
use session_proc::Start;
use session_store::{
    Compaction, Deletion, Empties, NewFork, Protection, PrunePlan, PruneReason, PruneRules, Store, StoreError,
};
use std::fs;
use std::num::{NonZeroU64, NonZeroUsize};

fn time(text: &str) -> Timestamp {
    parse_time(text).expect("it is well formed")
}

/// A message of a day of 2026.
fn said(month: u32, day: u32) -> String {
    user(1, "plant three oaks").replace("2026-01-02", &format!("2026-{month:02}-{day:02}"))
}

/// One session of January, one of February, one of March.
fn garden() -> (Scratch, Store) {
    let scratch = Scratch::new();
    for (session, month) in [("january", 1), ("february", 2), ("march", 3)] {
        scratch.session(session, &[said(month, 1)]);
    }
    let store = scratch.store().with_clock(|| time("2026-04-01T00:00:00Z"));
    (scratch, store)
}

fn before(text: &str) -> PruneRules {
    PruneRules { older_than: Some(time(text)), ..PruneRules::default() }
}

fn planned(store: &Store, rules: &PruneRules) -> PrunePlan {
    store.plan_prune(rules).expect("it can be read")
}

fn doomed(plan: &PrunePlan) -> Vec<&str> {
    plan.doomed.iter().map(|doomed| doomed.name.as_str()).collect()
}

fn kept(plan: &PrunePlan) -> Vec<(&str, Vec<&str>)> {
    let codes = |protections: &[Protection]| protections.iter().map(Protection::as_str).collect();
    let mut kept: Vec<_> = plan.kept.iter().map(|kept| (kept.name.as_str(), codes(&kept.protections))).collect();
    kept.sort();
    kept
}

fn compact(store: &Store, from: &str, to: &str) {
    let session = store.open(&name(from)).expect("it is there");
    let lock = session.lock().expect("nobody has it");
    let compaction = Compaction { name: Some(name(to)), summary: "Three oaks stand.".to_owned() };
    store.compact(&session, &lock, &compaction, None).map(drop).expect("nothing forbids it");
}

fn standing(store: &Store) -> Vec<String> {
    store.names().expect("it can be read").iter().map(ToString::to_string).collect()
}

#[test]
fn r01_nothing_goes_without_a_rule_and_every_rule_that_is_set_must_hold() {
    let (scratch, store) = garden();
    scratch.dir(scratch.path("nothing"));
    scratch.put("nothing/meta.json", "{\"created\":\"2026-01-01T00:00:00Z\"}");
    let plan = |rules: &PruneRules| planned(&store, rules).doomed.iter().map(|one| one.name.to_string()).collect();
    let none: Vec<String> = plan(&PruneRules::default());
    assert_eq!(none, Vec::<String>::new());
    let old: Vec<String> = plan(&before("2026-02-15T00:00:00Z"));
    assert_eq!(old, ["nothing", "january", "february"]);
    let keep = |n| PruneRules { keep_newest: NonZeroUsize::new(n), ..PruneRules::default() };
    let beyond: Vec<String> = plan(&keep(2));
    assert_eq!(beyond, ["nothing", "january"]);
    let both: Vec<String> = plan(&PruneRules { empty: true, ..before("2026-02-15T00:00:00Z") });
    assert_eq!(both, ["nothing"]);
    scratch.put("march/tmp/much.txt", vec![7; 300_000]);
    let large: Vec<String> = plan(&PruneRules { larger_than_bytes: NonZeroU64::new(200_000), ..PruneRules::default() });
    assert_eq!(large, ["march"]);
    scratch.put("february/meta.json", "{\"workspace\":\"/nowhere/at/all\"}");
    scratch.put("march/meta.json", "{\"workspace\":\"/\"}");
    let gone = planned(&store, &PruneRules { workspace_gone: true, ..PruneRules::default() });
    assert_eq!(doomed(&gone), ["february"]);
    let workspace = "/nowhere/at/all".to_owned();
    assert_eq!(gone.doomed[0].reasons, [PruneReason::WorkspaceGone { workspace }]);
}

#[test]
fn r01_what_is_pruned_is_in_the_trash_with_its_reason_and_comes_back() {
    let (_scratch, store) = garden();
    let plan = planned(&store, &before("2026-01-15T00:00:00Z"));
    assert_eq!(standing(&store), ["february", "january", "march"]);
    let pruned = store.prune(&plan).expect("it can be read");
    assert_eq!((pruned.trashed.len(), pruned.failed.len()), (1, 0));
    assert_eq!(pruned.trashed[0].why, "pruned: last used 2026-01-01T03:04:01Z");
    assert_eq!(standing(&store), ["february", "march"]);
    store.restore_from_trash(&pruned.trashed[0].id).expect("its name is free");
    assert_eq!(loaded(&store, "january").len(), 1);
}

#[test]
fn r01_a_clock_that_is_wrong_by_a_year_takes_nothing_that_it_cannot_judge() {
    let (scratch, _) = garden();
    // Slow by a year: everything is of a time that has not come yet.
    let slow = scratch.store().with_clock(|| time("2025-04-01T00:00:00Z"));
    let plan = planned(&slow, &before("2025-03-01T00:00:00Z"));
    assert_eq!(doomed(&plan), [""; 0]);
    let ahead = vec!["time-ahead"];
    assert_eq!(kept(&plan), [("february", ahead.clone()), ("january", ahead.clone()), ("march", ahead)]);
    let refused = slow.plan_prune(&before("2026-04-01T00:00:00Z"));
    assert!(matches!(refused, Err(StoreError::PruneTime { .. })));
    // Written by a clock that was fast by a year.
    let right = scratch.store().with_clock(|| time("2026-04-01T00:00:00Z"));
    scratch.session("fast", &[said(3, 1).replace("2026-", "2027-")]);
    assert_eq!(kept(&planned(&right, &before("2026-01-15T00:00:00Z"))), [("fast", vec!["time-ahead"])]);
}

#[test]
fn r01_a_session_that_is_live_pinned_or_damaged_stays_with_the_reason() {
    let (scratch, store) = garden();
    let turn = Sleeper::start();
    scratch.put("january/proc/turn.pid", format!("{}\n", turn.pid()));
    store.open(&name("february")).and_then(|session| session.pin()).expect("nothing forbids it");
    scratch.put("march/history.jsonl", said(3, 1) + "no event\n");
    scratch.session("newest", &[said(3, 31)]);
    let store = store.with_clock(|| time("2100-01-01T00:00:00Z"));
    let plan = planned(&store, &before("2099-01-01T00:00:00Z"));
    assert_eq!(doomed(&plan), ["newest"]);
    let wanted = [("february", vec!["pinned"]), ("january", vec!["live-turn"]), ("march", vec!["damaged"])];
    assert_eq!(kept(&plan), wanted);
}

#[test]
fn r01_a_session_whose_process_runs_stays_and_the_process_runs_on() {
    let (scratch, store) = garden();
    let registry = store.registry(&name("january")).expect("it is there");
    let start = Start::new("exec sleep 600", scratch.outside());
    let plan = planned(&store, &before("2026-01-15T00:00:00Z"));
    let started = registry.start(&start).expect("there is a shell");
    assert_eq!(kept(&planned(&store, &before("2026-01-15T00:00:00Z"))), [("january", vec!["processes"])]);
    // The plan is from before.
    let pruned = store.prune(&plan).expect("it can be read");
    assert!(matches!(&pruned.failed[..], [(_, StoreError::PruneChanged { .. })]), "{:?}", pruned.failed);
    let states = registry.list().expect("it can be read").processes;
    assert!(states.iter().all(|status| !status.state.is_final()), "{started:?}");
    store.trash(&name("january"), "", Deletion::Careful).expect("it stops the process");
}

#[test]
fn r01_members_of_a_chain_and_fork_bases_stay_as_long_as_the_others_do() {
    let (_scratch, store) = garden();
    let forked = store.fork(&name("january"), &NewFork { name: Some(name("fork")), ..NewFork::default() }, None);
    forked.expect("nothing forbids it");
    compact(&store, "february", "next");
    let pin = |session: &str| store.open(&name(session)).expect("it is there");
    pin("fork").pin().and_then(|_| pin("next").pin()).expect("nothing forbids it");
    let later = store.clone().with_clock(|| time("2100-01-01T00:00:00Z"));
    let rules = before("2099-01-01T00:00:00Z");
    let plan = planned(&later, &rules);
    assert_eq!(doomed(&plan), ["march"]);
    let pinned = vec!["pinned"];
    let wanted =
        [("february", vec!["chain"]), ("fork", pinned.clone()), ("january", vec!["fork-base"]), ("next", pinned)];
    assert_eq!(kept(&plan), wanted);
    // Once all of it may go, all of it goes, and what comes first goes first.
    pin("fork").unpin().and_then(|_| pin("next").unpin()).expect("nothing forbids it");
    let plan = planned(&later, &rules);
    let place = |session: &str| doomed(&plan).iter().position(|one| *one == session);
    assert_eq!(plan.doomed.len(), 5);
    assert!(place("january") < place("fork") && place("february") < place("next"));
    let pruned = later.prune(&plan).expect("it can be read");
    assert_eq!((pruned.trashed.len(), pruned.failed.len()), (5, 0), "{:?}", pruned.failed);
}

#[test]
fn r02_a_twin_that_took_the_name_or_a_session_that_was_used_since_stays() {
    let (scratch, store) = garden();
    let plan = planned(&store, &before("2026-02-15T00:00:00Z"));
    assert_eq!(doomed(&plan), ["january", "february"]);
    fs::rename(scratch.path("january"), scratch.outside().join("real")).expect("it is ours");
    scratch.session("january", &[said(1, 1)]);
    store.open(&name("february")).and_then(|session| session.notice("here again")).expect("there is room");
    let pruned = store.prune(&plan).expect("it can be read");
    assert_eq!(pruned.trashed, []);
    assert!(pruned.failed.iter().all(|(_, error)| matches!(error, StoreError::PruneChanged { .. })));
    assert_eq!(standing(&store), ["february", "january", "march"]);
}

#[test]
fn r02_of_two_with_one_prefix_only_the_empty_one_goes() {
    let (scratch, store) = garden();
    scratch.put("march-2/meta.json", "{\"created\":\"2026-01-01T00:00:00Z\"}");
    let plan = planned(&store, &PruneRules { empty: true, ..PruneRules::default() });
    assert_eq!(doomed(&plan), ["march-2"]);
    store.prune(&plan).map(drop).expect("it can be read");
    assert_eq!(standing(&store), ["february", "january", "march"]);
    assert_eq!(loaded(&store, "march").len(), 1);
}

#[test]
fn h20_a_member_in_the_middle_of_a_chain_is_only_deleted_by_force() {
    let (_scratch, store) = garden();
    for (from, to) in [("january", "b"), ("b", "c")] {
        compact(&store, from, to);
    }
    for refused in
        [store.delete(&name("b"), Deletion::Careful), store.trash(&name("b"), "", Deletion::Careful).map(drop)]
    {
        assert!(matches!(refused, Err(StoreError::InChain { before, next, .. })
            if before.as_str() == "january" && next.as_str() == "c"));
    }
    assert_eq!(store.open(&name("january")).expect("the chain is whole").name(), "c");
    let entry = store.trash(&name("b"), "", Deletion::Forced).expect("it is forced");
    assert_eq!(store.open(&name("january")).expect("it is there").dangling_successor(), Some("b"));
    store.restore_from_trash(&entry.id).expect("its name is free");
    // From the beginning nothing is cut off.
    for member in ["january", "b", "c"] {
        store.delete(&name(member), Deletion::Careful).expect("nobody goes on as it");
    }
}

#[test]
fn r01_pruning_that_breaks_off_anywhere_loses_nothing_and_is_repeated() {
    for fault in [|at| Fault::Fail { at }, |at| Fault::Full { at }, |at| Fault::Stop { at }] as [fn(u64) -> Fault; 3] {
        for at in 0..200 {
            let (_scratch, store) = garden();
            let rules = before("2026-02-15T00:00:00Z");
            let plan = planned(&store, &rules);
            let run = faults::with(fault(at), || store.prune(&plan));
            let what = format!("{:?} of {:?}", fault(at), run.ops);
            let whole = |store: &Store| {
                let trashed = store.trash_list().expect("it can be read").len();
                store.list(Empties::Hide).expect("it can be read").len() + trashed
            };
            assert_eq!(whole(&store), 3, "{what}");
            let again = store.prune(&planned(&store, &rules)).expect("it can be read");
            assert_eq!((again.failed.len(), whole(&store)), (0, 3), "{what}: {:?}", again.failed);
            assert_eq!(standing(&store), ["march"], "{what}");
            if !run.hit {
                assert!(at > 6);
                break;
            }
        }
    }
}
