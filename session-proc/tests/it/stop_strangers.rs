//! Stopping by a record that does not say enough: nobody is hurt whom it does not mean.

use crate::stop::quick;
use crate::support::{Job, Session, eventually, in_copy, is_live, wait_for};
use chrono::{TimeDelta, Utc};
use nix::sys::wait::WaitStatus;
use session_proc::{Gone, Identity, ProcError, ProcessId, State, Unreached, Which};
use std::fs;

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
    assert_eq!(session.registry.lost().expect("readable"), []);
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
