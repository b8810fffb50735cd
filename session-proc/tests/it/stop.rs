//! Stopping: everything that belongs to a process, and nothing else.

use crate::support::{Job, Session, as_nobody, eventually, in_copy, is_empty, is_live, wait_for};
use chrono::{TimeDelta, Utc};
use nix::sys::wait::WaitStatus;
use session_proc::{
    Bond, Gone, Identity, Lifetime, ProcError, ProcessId, Start, State, Status, Stop, Stopped, TurnMarker, Unreached,
    Which,
};
use std::fs;
use std::time::Duration;

fn quick() -> Stop {
    Stop { grace: Duration::from_millis(200), ..Stop::default() }
}

fn stop(session: &Session, status: &Status) -> Stopped {
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

/// A record of the reference's.
fn record(session: &Session, pid: i32, started_s_ago: i64) -> ProcessId {
    let started = session_core::format_time(&(Utc::now() - TimeDelta::seconds(started_s_ago)).fixed_offset());
    session.put(
        "bg1.json",
        &format!("{{\"id\":\"bg1\",\"command\":\"oak\",\"cwd\":\".\",\"pid\":{pid},\"started\":\"{started}\",\"report\":\"exit\",\"state\":\"running\",\"exit_code\":0,\"ended\":\"0001-01-01T00:00:00Z\"}}\n"),
    );
    "bg1".parse().expect("an id")
}

#[test]
fn p03_a_stranger_with_the_pid_lives() {
    let stranger = Job::in_session("sleep 600 & wait");
    let who = stranger.identity();
    let line = |process: &Identity| serde_json::json!({ "process": process }).to_string();
    // By the start alone: started long after the record, and long before it.
    let judged: [(i64, Option<Identity>, Gone); 4] = [
        (300, None, Gone::PidReused),
        (-300, None, Gone::PidReused),
        (0, Some(Identity { start_ticks: who.start_ticks - 1, ..who.clone() }), Gone::PidReused),
        (0, Some(Identity { boot_id: "another".to_owned(), ..who.clone() }), Gone::OtherBoot),
    ];
    for (ago, identity, gone) in judged {
        let session = Session::unsupervised();
        let id = record(&session, who.pid, ago);
        if let Some(identity) = &identity {
            session.put(".bg1.id", &line(identity));
        }
        assert_eq!(session.registry.members(&id).expect("readable"), []);
        let stopped = session.registry.stop(&id, &quick()).expect("there is a record");
        let status = stopped.status.expect("recorded");
        assert_eq!((status.state, status.gone, stopped.signalled), (State::Gone, Some(gone), vec![]), "{identity:?}");
        session.registry.stop_all(Which::All, &quick()).expect("readable");
        assert!(is_live(&who));
    }
}

#[test]
fn p03_p04_records_that_name_nobody_or_ourselves_hurt_nobody() {
    let own = i32::try_from(std::process::id()).expect("small");
    for pid in [1, 0, -1, i32::MIN, own] {
        let session = Session::unsupervised();
        let id = record(&session, pid, 0);
        if pid > 1 {
            // Also when everything fits. A child of ours that it does not name is not its either.
            let own = Identity::own().expect("readable");
            session.put(".bg1.id", &serde_json::json!({ "process": own }).to_string());
        }
        let child = Job::in_session("sleep 600");
        let stopped = session.registry.stop(&id, &quick()).expect("there is a record");
        assert_eq!(stopped.signalled, [], "{pid}");
        assert!(is_live(&child.identity()));
        if pid == own {
            assert!(
                !stopped.survivors.is_empty()
                    && stopped.survivors.iter().all(|survivor| survivor.why == Unreached::Refused)
            );
            assert_eq!(stopped.status.expect("recorded").state, State::Running);
        } else {
            assert_eq!(stopped.status.expect("recorded").state, State::Gone, "{pid}");
        }
        session.registry.stop_all(Which::All, &quick()).expect("readable");
    }
}

#[test]
fn p04_who_stops_never_hits_those_that_it_descends_from() {
    let session = Session::unsupervised();
    let id = record(&session, i32::try_from(std::process::id()).expect("small"), 0);
    session.put(".bg1.id", &serde_json::json!({ "process": Identity::own().expect("readable") }).to_string());
    // In a session of its own, as what a terminal multiplexer has started, and all the same a child of this process.
    let child = in_copy(|| {
        let is_refused = nix::unistd::setsid().is_ok()
            && session.registry.stop(&id, &quick()).is_ok_and(|stopped| {
                stopped.signalled.is_empty()
                    && stopped.survivors.iter().all(|survivor| survivor.why == Unreached::Refused)
            });
        i32::from(!is_refused)
    });
    assert_eq!(wait_for(child), WaitStatus::Exited(child, 0));
}

#[test]
fn a_process_of_the_reference_is_stopped_with_its_group() {
    let session = Session::unsupervised();
    let mut job = Job::in_session("sleep 600 & sleep 600 & wait");
    eventually("it has children", || {
        session.registry.members(&record(&session, job.pid(), 0)).expect("readable").len() == 3
    });
    let id = record(&session, job.pid(), 0);
    assert_eq!(session.registry.status(&id).expect("readable").state, State::Running);
    assert!(session.text(".bg1.id").expect("its identity is put down").contains("start_ticks"));
    let stopping = std::thread::scope(|scope| {
        let stopping = scope.spawn(|| session.registry.stop(&id, &quick()));
        job.0.wait().expect("it is our child");
        stopping.join().expect("it does not panic").expect("it can be stopped")
    });
    assert_eq!((stopping.survivors, stopping.status.expect("recorded").state), (vec![], State::Killed));
    assert_eq!(stopping.signalled.len(), 3);
}

#[test]
fn p03_the_group_of_a_leader_that_is_gone_is_told_and_left() {
    let session = Session::unsupervised();
    // Reaped, and nothing else leads to the one that is left: its number may be anybody's.
    let mut job = Job::in_session("sleep 600 >/dev/null & echo $!; exec 1>&-; sleep 0.2");
    let leader = job.identity();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(job.0.stdout.take().expect("piped")), &mut line)
        .expect("told");
    let left = Identity::of(line.trim().parse().expect("a pid")).expect("readable").expect("it runs");
    job.0.wait().expect("it is our child");
    let id = record(&session, leader.pid, 0);
    session.put(".bg1.id", &serde_json::json!({ "process": leader }).to_string());
    let stopped = session.registry.stop(&id, &quick()).expect("there is a record");
    let survivors: Vec<_> = stopped.survivors.iter().map(|survivor| (&survivor.member.process, survivor.why)).collect();
    assert_eq!(survivors, [(&left, Unreached::Unverified)]);
    assert!(is_live(&left));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(left.pid), nix::sys::signal::Signal::SIGKILL).expect("ours");
}

#[test]
fn a_record_under_another_name_is_not_acted_upon() {
    let session = Session::unsupervised();
    let job = Job::in_session("sleep 600");
    record(&session, job.pid(), 0);
    fs::rename(session.file("bg1.json"), session.file("bg5.json")).expect("the name is free");
    let id = "bg5".parse().expect("an id");
    assert!(matches!(session.registry.stop(&id, &quick()), Err(ProcError::Misplaced { .. })));
    assert!(session.registry.stop_all(Which::All, &quick()).expect("readable").is_empty());
    assert!(is_live(&job.identity()));
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
}
