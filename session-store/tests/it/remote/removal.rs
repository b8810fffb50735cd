//! Removing copies.

use super::{Clock, Machine, in_dir, named, on_s3};
use session_store::Session;
use session_store::remote::{Change, Lease, PushOptions, RemoteError, RemoveOptions};
use session_testing::s3::{S3, Trouble};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const FORCED: RemoveOptions = RemoveOptions { force: true, dry_run: false };

/// Two machines with one clock, and a session that the first has leased for a minute.
struct Leased {
    server: S3,
    clock: Clock,
    oak: Machine,
    elm: Machine,
    session: Session,
    lease: Lease,
}

fn leased() -> Leased {
    let (server, clock) = (S3::start(), Clock::new());
    let on = |machine| Machine::new(clock.of(on_s3(&server, machine)));
    let (oak, elm) = (on("oak"), on("elm"));
    let session = oak.create("demo");
    oak.says("demo", "one");
    let lease = oak.remote.lease(&named("demo"), MINUTE).expect("it is free");
    Leased { server, clock, oak, elm, session, lease }
}

/// The objects that belong to the copy alone.
fn own_objects(server: &S3) -> Vec<String> {
    let shared = |key: &String| key.contains("/objects/") || key.ends_with("/store.json");
    server.objects().into_keys().filter(|key| !shared(key)).collect()
}

#[test]
fn a_leased_copy_is_removed_by_force_only_and_its_holder_is_told() {
    let Leased { server, clock, oak, elm, session, lease } = leased();
    lease.push(&session, &PushOptions::default()).expect("it can be sent");
    let before = server.objects();
    // Also the machine that has it: a turn of it may run.
    for machine in [&elm, &oak] {
        for dry_run in [false, true] {
            let refused = machine.remote.remove(&named("demo"), &RemoveOptions { dry_run, force: false });
            let Err(RemoteError::Leased { holder, .. }) = refused else { panic!("{refused:?}") };
            assert_eq!(holder, "oak");
        }
    }
    assert_eq!(server.objects(), before, "nothing was touched");
    let planned = elm.remote.remove(&named("demo"), &RemoveOptions { dry_run: true, ..FORCED }).expect("it is forced");
    assert_eq!(server.objects(), before, "nothing was touched");
    let removed = elm.remote.remove(&named("demo"), &FORCED).expect("it is forced");
    assert_eq!((removed.objects, removed.bytes), (planned.objects, planned.bytes));
    assert_eq!(own_objects(&server), [""; 0]);
    oak.says("demo", "two");
    let late = lease.push(&session, &PushOptions::default());
    assert!(matches!(late, Err(RemoteError::LeaseLost { .. })), "{late:?}");
    assert!(!own_objects(&server).iter().any(|key| key.contains("/manifests/")), "and there is no copy by that");
    // Without the lease it may begin anew.
    assert_eq!(oak.push("demo").expect("it can be sent").change, Change::Made);
    clock.pass(MINUTE * 2);
    elm.pull("demo").expect("it can be fetched");
    assert_eq!(elm.texts("demo"), ["one", "two"]);
}

#[test]
fn a_lease_that_ran_out_keeps_nobody_from_removing_and_who_is_late_is_refused() {
    let Leased { clock, elm, session, lease, server: _server, .. } = leased();
    clock.pass(MINUTE * 2);
    elm.remote.remove(&named("demo"), &RemoveOptions::default()).expect("it ran out");
    let late = lease.push(&session, &PushOptions::default());
    assert!(matches!(late, Err(RemoteError::LeaseLost { .. })), "{late:?}");
}

#[test]
fn i37_a_removal_that_is_cut_at_any_request_leaves_an_empty_copy_and_is_done_by_the_next_one() {
    for first in [Trouble::CutBefore, Trouble::CutAfter] {
        for at in 0.. {
            let server = S3::start();
            let (oak, elm) = (Machine::new(on_s3(&server, "oak")), Machine::new(on_s3(&server, "elm")));
            oak.create("demo");
            for n in 0..3 {
                oak.says("demo", &format!("event {n}"));
                oak.push("demo").expect("it can be sent");
            }
            elm.pull("demo").expect("it can be fetched");
            server.dies_at(at, first);
            let cut = oak.remote.remove(&named("demo"), &RemoveOptions::default());
            server.recovers();
            // Whoever has the session loses nothing, and meets no object that is missing.
            match elm.pull("demo") {
                Ok(pulled) => assert!(matches!(pulled.change, Change::Nothing | Change::Ahead), "{pulled:?}"),
                Err(error) => assert!(matches!(error, RemoteError::NotThere { .. }), "{first:?} at {at}: {error}"),
            }
            assert_eq!(elm.texts("demo").len(), 3, "{first:?} at {at}");
            match oak.remote.remove(&named("demo"), &RemoveOptions::default()) {
                Ok(_) | Err(RemoteError::NotThere { .. }) => {}
                Err(error) => panic!("{first:?} at {at}: {error}"),
            }
            assert_eq!(own_objects(&server), [""; 0], "{first:?} at {at}");
            if cut.is_ok() {
                assert!(at > 5, "every request was met: {at}");
                break;
            }
        }
    }
}

#[test]
fn while_a_copy_is_removed_nothing_is_sent_there_and_what_is_sent_when_its_remover_died_is_whole() {
    for first in [Trouble::CutBefore, Trouble::CutAfter] {
        for at in 0.. {
            let (server, clock) = (S3::start(), Clock::from_now());
            let on = |machine| Machine::new(clock.of(on_s3(&server, machine)));
            let (oak, elm, ash) = (on("oak"), on("elm"), on("ash"));
            oak.create("demo");
            oak.says("demo", "one");
            oak.push("demo").expect("it can be sent");
            elm.pull("demo").expect("it can be fetched");
            server.dies_at(at, first);
            let cut = oak.remote.remove(&named("demo"), &RemoveOptions::default());
            server.recovers();
            let is_begun = oak.remote.show(&named("demo")).is_ok_and(|copy| copy.segments.is_empty());
            if is_begun {
                // The remover may only be slow: what it has listed it removes, also if that is sent again.
                let is_told = |refused: Result<(), RemoteError>| matches!(refused, Err(RemoteError::Leased { holder, .. }) if holder == "oak");
                assert!(is_told(elm.push("demo").map(drop)), "{first:?} at {at}");
                assert!(is_told(elm.remote.lease(&named("demo"), MINUTE).map(drop)), "{first:?} at {at}");
                let removes = |options| ash.remote.remove(&named("demo"), &options).map(drop);
                assert!(is_told(removes(RemoveOptions::default())), "{first:?} at {at}");
                clock.pass(MINUTE * 11);
            }
            elm.push("demo").expect("nobody removes it any more");
            assert!(ash.remote.verify(&named("demo")).expect("it is there").faults.is_empty(), "{first:?} at {at}");
            ash.pull("demo").expect("it can be fetched");
            assert_eq!(ash.texts("demo"), ["one"], "{first:?} at {at}");
            if cut.is_ok() {
                assert!(at > 3, "every request was met: {at}");
                break;
            }
        }
    }
}

#[test]
fn who_is_slow_to_remove_a_copy_stops_while_others_still_are_kept_out() {
    let (server, clock) = (S3::start(), Clock::new());
    let oak = Machine::new(clock.of(on_s3(&server, "oak")));
    oak.create("demo");
    for n in 0..7 {
        oak.says("demo", &format!("event {n}"));
        oak.push("demo").expect("it can be sent");
    }
    let slow = {
        let clock = clock.clone();
        oak.remote.clone().with_clock(move || {
            clock.pass(MINUTE);
            *clock.0.lock().expect("nobody panics with it")
        })
    };
    let refused = slow.remove(&named("demo"), &RemoveOptions::default());
    assert!(matches!(&refused, Err(RemoteError::Leased { holder, .. }) if holder == "oak"), "{refused:?}");
    let elm = Machine::new(clock.of(on_s3(&server, "elm")));
    assert!(matches!(elm.remote.lease(&named("demo"), MINUTE), Err(RemoteError::Leased { .. })));
    // Who began it may go on with it.
    oak.remote.remove(&named("demo"), &RemoveOptions::default()).expect("it is quick");
    assert_eq!(own_objects(&server), [""; 0]);
}

#[test]
fn a_copy_in_a_directory_is_removed_too() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let oak = Machine::new(in_dir(dir.path(), "oak"));
    oak.create("demo");
    oak.says("demo", "one");
    oak.push("demo").expect("it can be sent");
    oak.remote.remove(&named("demo"), &RemoveOptions::default()).expect("nobody can have leased it");
    let again = oak.remote.remove(&named("demo"), &RemoveOptions::default());
    assert!(matches!(again, Err(RemoteError::NotThere { .. })), "{again:?}");
}
