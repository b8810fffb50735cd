//! Stopping: everything that belongs to a process, and nothing else.

use crate::support::{Session, as_nobody, eventually, in_copy, is_empty, is_live, wait_for};
use nix::sys::wait::WaitStatus;
use session_proc::{
    Bond, Identity, Lifetime, ProcError, ProcessId, Start, State, Status, Stop, Stopped, TurnMarker, Unreached, Which,
};
use std::fs;
use std::time::Duration;

pub(crate) fn quick() -> Stop {
    Stop { grace: Duration::from_millis(200), ..Stop::default() }
}

pub(crate) fn stop(session: &Session, status: &Status) -> Stopped {
    session.registry.stop(&status.id, &quick()).expect("it can be stopped")
}

fn processes(session: &Session, status: &Status) -> Vec<Identity> {
    let members = session.registry.members(&status.id).expect("readable");
    members.into_iter().map(|member| member.process).collect()
}

#[test]
fn p01_what_was_put_into_the_background_is_found_and_stopped() {
    for session in Session::both() {
        let status = session.start("sh -c 'sleep 600 & echo $! >pid; exit 0'; exit 4");
        let orphan = session.told_process("pid");
        let status = session.ended(&status.id);
        assert_eq!((status.state.clone(), status.exit_code), (State::Exited, Some(4)));
        eventually("only the orphan is left", || processes(&session, &status) == [orphan.clone()]);
        let stopped = stop(&session, &status);
        assert_eq!((stopped.survivors, stopped.status.expect("recorded").state), (vec![], State::Exited));
        assert!(!is_live(&orphan) && is_empty(&session));
    }
}

#[test]
fn p02_who_left_the_group_is_found_and_stopped() {
    // Each way out: a session of its own, twice forked; without the mark; deaf to being asked.
    let scripts = [
        "setsid sh -c 'trap \"\" TERM; echo $$ >pid; while :; do sleep 1; done' & wait",
        "(setsid sh -c '(echo $(sh -c \"echo \\$PPID\") >pid; exec sleep 600) &' &); sleep 600",
        "env -i setsid sh -c 'trap \"\" TERM; echo $$ >pid; exec sleep 600' & wait",
    ];
    for session in Session::both() {
        for script in scripts {
            fs::remove_file(session.cwd().join("pid")).ok();
            let status = session.start(script);
            let stray = session.told_process("pid");
            let stopped = stop(&session, &status);
            assert_eq!(
                (stopped.survivors, stopped.status.expect("recorded").state),
                (vec![], State::Killed),
                "{script}"
            );
            assert!(!is_live(&stray), "{script}");
            assert!(is_empty(&session), "{script}");
        }
    }
}

#[test]
fn p02_who_left_the_group_is_found_after_its_leader_has_ended() {
    for (supervised, session) in [true, false].into_iter().zip(Session::both()) {
        session.gates(1);
        let status = session.start("setsid sh -c 'trap \"\" TERM; echo $$ >pid; exec sleep 600' & read x <go1; exit 2");
        let stray = session.told_process("pid");
        session.registry.status(&status.id).expect("readable");
        nix::sys::signal::killpg(
            nix::unistd::Pid::from_raw(status.pid.expect("known")),
            nix::sys::signal::Signal::SIGKILL,
        )
        .expect("ours");
        let status = session.ended(&status.id);
        let members = session.registry.members(&status.id).expect("readable");
        assert_eq!(
            members.iter().map(|member| (&member.process, member.bond)).collect::<Vec<_>>(),
            [(&stray, Bond::Mark)]
        );
        assert_eq!(stop(&session, &status).survivors, []);
        assert!(!is_live(&stray), "{supervised}");
    }
}

#[test]
fn p02_a_supervisor_is_left_with_whoever_hides() {
    let session = Session::supervised();
    // No mark, no group, no session, no parent: only that the supervisor is given the orphans.
    let status = session.start("env -i setsid sh -c '(echo $(sh -c \"echo \\$PPID\") >pid; exec sleep 600) &'; exit 0");
    let stray = session.told_process("pid");
    let status = session.ended(&status.id);
    let members = session.registry.members(&status.id).expect("readable");
    assert_eq!(
        members.iter().map(|member| (&member.process, member.bond)).collect::<Vec<_>>(),
        [(&stray, Bond::Descent)]
    );
    assert_eq!(stop(&session, &status).survivors, []);
    assert!(!is_live(&stray) && is_empty(&session));
}

#[test]
fn p02_without_a_supervisor_whoever_hides_is_remembered() {
    let session = Session::unsupervised();
    let status = session.start("env -i setsid sh -c 'echo $$ >pid; exec sleep 600' & wait");
    let stray = session.told_process("pid");
    // As long as its parent runs it is seen, and put down.
    session.registry.status(&status.id).expect("readable");
    let leader = nix::unistd::Pid::from_raw(status.pid.expect("known"));
    nix::sys::signal::killpg(leader, nix::sys::signal::Signal::SIGKILL).expect("ours");
    let status = session.ended(&status.id);
    let members = session.registry.members(&status.id).expect("readable");
    let found: Vec<_> = members.iter().map(|member| (&member.process, member.bond)).collect();
    assert_eq!(found, [(&stray, Bond::Remembered)]);
    assert_eq!(stop(&session, &status).survivors, []);
    assert!(!is_live(&stray));
}

#[test]
fn a_process_that_ignores_being_asked_is_killed() {
    for session in Session::both() {
        let status = session.start("trap '' TERM INT HUP; echo ready >ready; while :; do sleep 1; done");
        session.told("ready");
        let stopped = stop(&session, &status);
        let after = stopped.status.expect("recorded");
        assert_eq!((stopped.survivors, after.state.clone(), after.exit_code), (vec![], State::Killed, None));
        assert!(is_empty(&session));
        // The reference's record of one that it killed has no status.
        assert!(session.text("bg1.json").expect("a record").contains("\"state\": \"killed\",\n  \"exit_code\": 0,"));
    }
}

#[test]
fn a_process_that_listens_is_given_the_time_to_end_in_order() {
    for session in Session::both() {
        let status = session.start("trap 'echo bye; exit 6' TERM; echo ready >ready; while :; do sleep 0.05; done");
        session.told("ready");
        let patient = Stop { grace: Duration::from_secs(30), ..Stop::default() };
        let stopped = session.registry.stop(&status.id, &patient).expect("it can be stopped");
        assert_eq!(stopped.status.expect("recorded").state, State::Killed);
        // Its shell may have a word to say about its own child first.
        assert!(session.text("bg1.log").expect("a log").ends_with("bye\n"));
    }
}

#[test]
fn stopping_what_has_ended_changes_nothing() {
    for session in Session::both() {
        let status = session.run("exit 3");
        // The shell that has written the status needs a moment to end.
        eventually("its shell has ended", || processes(&session, &status).is_empty());
        for _ in 0..2 {
            let stopped = stop(&session, &status);
            assert_eq!(
                (stopped.status.as_ref(), &stopped.signalled[..], &stopped.survivors[..]),
                (Some(&status), &[][..], &[][..])
            );
        }
        let none: ProcessId = "bg9".parse().expect("an id");
        assert!(matches!(session.registry.stop(&none, &quick()), Err(ProcError::NoProcess { .. })));
    }
}

#[test]
fn all_are_stopped_within_one_grace_and_the_persistent_only_on_demand() {
    for session in Session::both() {
        let start = |lifetime| {
            let start = Start::new("trap '' TERM; while :; do sleep 1; done", session.cwd()).lifetime(lifetime);
            session.registry.start(&start).expect("it starts").id
        };
        let (ephemeral, persistent) = (start(Lifetime::Ephemeral), start(Lifetime::Persistent));
        let ids = |stopped: Vec<Stopped>| stopped.into_iter().map(|stopped| stopped.id).collect::<Vec<_>>();
        assert_eq!(ids(session.registry.stop_all(Which::Ephemeral, &quick()).expect("readable")), [ephemeral]);
        assert_eq!(session.look(&persistent).state, State::Running);
        session.registry.stop_all(Which::All, &quick()).expect("readable");
        assert_eq!(session.look(&persistent).state, State::Killed);
        assert!(is_empty(&session));
    }
}

#[test]
fn p01_orphans_are_known_and_nothing_of_them_is_left() {
    for session in Session::both() {
        let start = Start::new("sh -c 'setsid sleep 600 & wait' & sleep 600", session.cwd());
        let starter = in_copy(|| i32::from(session.registry.start(&start).is_err()));
        assert_eq!(wait_for(starter), WaitStatus::Exited(starter, 0));
        session.start("sleep 600");
        let list = session.registry.list().expect("readable").processes;
        assert_eq!(list.iter().map(|status| status.is_orphan).collect::<Vec<_>>(), [true, false]);
        session.registry.stop_all(Which::All, &quick()).expect("readable");
        assert!(is_empty(&session));
    }
}

#[test]
fn who_may_not_be_stopped_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let session = Session::supervised();
    let status = session.start("sleep 600 & wait");
    eventually("both run", || processes(&session, &status).len() == 2);
    let open =
        |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    open(session.cwd(), 0o755);
    open(session.registry.dir(), 0o777);
    for entry in fs::read_dir(session.registry.dir()).expect("it is there").flatten() {
        open(&entry.path(), 0o666);
    }
    let (registry, id) = (session.registry.clone(), status.id.clone());
    let Some(stopped) = as_nobody(false, move || registry.stop(&id, &quick())) else { return };
    let stopped = stopped.expect("there is a record");
    assert_eq!(stopped.signalled, []);
    let survivors: Vec<_> = stopped.survivors.iter().map(|survivor| survivor.why).collect();
    assert_eq!(survivors, [Unreached::NotPermitted, Unreached::NotPermitted]);
    assert_eq!(stopped.status.expect("recorded").state, State::Running);
}

#[test]
fn what_a_process_starts_to_clean_up_is_not_disturbed() {
    for session in Session::both() {
        // As many steps as looks at it.
        let clean = "for i in 1 2 3 4 5 6; do sh -c 'sleep 0.06' || echo disturbed; done; echo clean; exit 0";
        let status = session.start(&format!("trap \"{clean}\" TERM; echo ready >ready; while :; do sleep 0.01; done"));
        session.told("ready");
        let patient = Stop { grace: Duration::from_secs(30), ..Stop::default() };
        assert_eq!(session.registry.stop(&status.id, &patient).expect("it can be stopped").survivors, []);
        let log = session.text("bg1.log").expect("a log");
        assert!(log.ends_with("clean\n") && !log.contains("disturbed"), "{log}");
    }
}

#[test]
fn a_process_that_was_halted_hears_that_it_is_asked_to_end() {
    for session in Session::both() {
        let status = session.start("trap 'echo bye; exit 6' TERM; echo $$ >pid; while :; do sleep 0.05; done");
        let shell = session.told_process("pid");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(shell.pid), nix::sys::signal::Signal::SIGSTOP).expect("ours");
        let patient = Stop { grace: Duration::from_secs(30), ..Stop::default() };
        assert_eq!(session.registry.stop(&status.id, &patient).expect("it can be stopped").survivors, []);
        assert!(session.text("bg1.log").expect("a log").ends_with("bye\n"));
    }
}

#[test]
fn what_a_turn_that_crashed_has_left_is_known() {
    let session = Session::supervised();
    let start = |lifetime| {
        let start = Start::new("sleep 600", session.cwd()).lifetime(lifetime);
        session.registry.start(&start).map(|status| status.id)
    };
    start(Lifetime::Ephemeral).expect("it starts");
    let turn = in_copy(|| {
        let marker = TurnMarker::start(session.registry.dir(), "t1");
        let started = [Lifetime::Ephemeral, Lifetime::Persistent].map(|lifetime| start(lifetime).is_ok());
        // Nothing is cleaned up.
        std::mem::forget(marker);
        i32::from(started != [true, true])
    });
    assert_eq!(wait_for(turn), WaitStatus::Exited(turn, 0));
    let list = session.registry.list().expect("readable").processes;
    let of_turn: Vec<_> = list.iter().map(|status| (status.turn_id.as_deref(), status.is_orphan)).collect();
    assert_eq!(of_turn, [(None, false), (Some("t1"), true), (Some("t1"), true)]);
    let stopped = session.registry.stop_all(Which::LeftOver, &quick()).expect("readable");
    assert_eq!(stopped.iter().map(|stopped| stopped.id.as_str()).collect::<Vec<_>>(), ["bg2"]);
    assert_eq!(session.registry.stop_all(Which::LeftOver, &quick()).expect("readable"), []);
}
