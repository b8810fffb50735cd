//! Keeping other machines out, and what becomes of who was late.

use super::{Clock, Machine, in_dir, named, on_s3, options};
use session_store::remote::{Change, PushOptions, Remote, RemoteError, RemoveOptions};
use session_testing::s3::S3;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Two machines with one clock, in memory and on S3.
fn both(mut claim: impl FnMut(&str, &Clock, Machine, Machine)) {
    let clock = Clock::new();
    let memory = clock.of(Remote::in_memory(options("oak")).expect("memory can be had"));
    claim("memory", &clock, Machine::new(memory.clone()), Machine::new(memory.with_machine("elm")));
    let server = S3::start();
    let on = |machine| Machine::new(clock.of(on_s3(&server, machine)));
    claim("S3", &clock, on("oak"), on("elm"));
}

#[test]
fn a_second_machine_is_refused_by_the_name_of_the_first() {
    both(|place, clock, oak, elm| {
        let session = oak.create("demo");
        oak.says("demo", "one");
        let lease = oak.remote.lease(&named("demo"), MINUTE).expect(place);
        let Err(RemoteError::Leased { holder, .. }) = elm.remote.lease(&named("demo"), MINUTE) else {
            panic!("{place}")
        };
        assert_eq!(holder, "oak");
        elm.create("demo");
        assert!(matches!(elm.push("demo"), Err(RemoteError::Leased { .. })), "{place}");
        assert!(
            matches!(elm.remote.remove(&named("demo"), &RemoveOptions::default()), Err(RemoteError::Leased { .. })),
            "{place}"
        );
        assert_eq!(lease.push(&session, &PushOptions::default()).expect(place).change, Change::Added);
        clock.pass(MINUTE / 2);
        lease.renew().expect(place);
        clock.pass(MINUTE / 2 + Duration::from_secs(1));
        assert!(
            matches!(elm.remote.lease(&named("demo"), MINUTE), Err(RemoteError::Leased { .. })),
            "{place}: renewed"
        );
        oak.says("demo", "two");
        lease.finish(&session, &PushOptions::default()).expect(place);
        let lease = elm.remote.lease(&named("demo"), MINUTE).expect("it was given back");
        assert_eq!(lease.fence(), 2, "{place}");
        lease.release().expect(place);
        let summary = oak.remote.show(&named("demo")).expect(place).summary;
        assert_eq!((summary.lease, summary.fence), (None, 2), "{place}");
    });
}

#[test]
fn who_comes_late_with_a_lease_that_ran_out_is_refused_by_the_fence() {
    both(|place, clock, oak, elm| {
        let session = oak.create("demo");
        oak.says("demo", "one");
        oak.push("demo").expect(place);
        let late = oak.remote.lease(&named("demo"), MINUTE).expect(place);
        oak.says("demo", "of oak, never sent in time");
        clock.pass(MINUTE * 2);
        let lease = elm.remote.lease(&named("demo"), MINUTE).expect("it ran out");
        assert_eq!(lease.fence(), late.fence() + 1, "{place}");
        let Err(RemoteError::LeaseLost { holder, .. }) = late.push(&session, &PushOptions::default()) else {
            panic!("{place}")
        };
        assert_eq!(holder, "elm", "{place}");
        assert!(matches!(late.renew(), Err(RemoteError::LeaseLost { .. })), "{place}");
        elm.pull("demo").expect(place);
        elm.says("demo", "of elm");
        lease.finish(&elm.session("demo"), &PushOptions::default()).expect(place);
        // Also when nobody has it any more.
        assert!(matches!(late.push(&session, &PushOptions::default()), Err(RemoteError::LeaseLost { .. })), "{place}");
        assert!(matches!(late.release(), Err(RemoteError::LeaseLost { .. })), "{place}");
        let ash = Machine::new(elm.remote.clone().with_machine("ash"));
        ash.pull("demo").expect(place);
        assert_eq!(ash.texts("demo"), ["one", "of elm"], "{place}");
    });
}

#[test]
fn a_lease_that_ran_out_and_that_nobody_took_is_still_held() {
    both(|place, clock, oak, _| {
        let session = oak.create("demo");
        let lease = oak.remote.lease(&named("demo"), MINUTE).expect(place);
        oak.says("demo", "one");
        clock.pass(MINUTE * 9);
        lease.push(&session, &PushOptions::default()).expect(place);
    });
}

#[test]
fn a_lease_that_was_given_back_after_a_push_keeps_nobody_out() {
    both(|place, _, oak, elm| {
        let session = oak.create("demo");
        oak.says("demo", "one");
        let lease = oak.remote.lease(&named("demo"), MINUTE).expect(place);
        lease.push(&session, &PushOptions::default()).expect(place);
        lease.release().expect(place);
        oak.says("demo", "two");
        // What is remembered is the manifest with the lease.
        oak.push("demo").expect(place);
        elm.pull("demo").expect(place);
        elm.says("demo", "three");
        elm.push("demo").expect(place);
        // And it may be another lease than the one that is held now.
        let lease = elm.remote.lease(&named("demo"), MINUTE).expect(place);
        lease.push(&elm.session("demo"), &PushOptions::default()).expect(place);
        lease.release().expect(place);
        let lease = elm.remote.lease(&named("demo"), MINUTE).expect(place);
        elm.says("demo", "four");
        lease.finish(&elm.session("demo"), &PushOptions::default()).expect(place);
    });
}

#[test]
fn a_store_without_conditional_writes_copies_and_never_leases() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let server = S3::start();
    server.ignore_conditions();
    for remote in [in_dir(&dir.path().join("shared"), "oak"), on_s3(&server, "oak")] {
        let oak = Machine::new(remote);
        oak.create("demo");
        oak.says("demo", "one");
        oak.push("demo").expect("sessions can be copied");
        assert!(!oak.remote.has_conditional_writes().expect("it can be found out"));
        let refused = oak.remote.lease(&named("demo"), MINUTE);
        assert!(matches!(refused, Err(RemoteError::NoConditionalWrites { .. })), "{refused:?}");
        oak.says("demo", "two");
        oak.push("demo").expect("sessions can be copied");
        let elm = Machine::new(oak.remote.clone().with_machine("elm"));
        elm.pull("demo").expect("sessions can be copied");
        assert_eq!(elm.texts("demo"), ["one", "two"]);
    }
}

#[test]
fn a_turn_on_another_machine_takes_four_requests() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    let session = oak.create("demo");
    oak.says("demo", "one");
    oak.push("demo").expect("it can be sent");
    let before = server.met().len();
    let lease = oak.remote.lease(&named("demo"), MINUTE).expect("it is free");
    oak.says("demo", "two");
    lease.finish(&session, &PushOptions::default()).expect("it can be sent");
    assert_eq!(server.met().len() - before, 4, "{:?}", &server.met()[before..]);
}
