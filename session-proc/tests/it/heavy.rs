//! Many at once, and deaths at any moment.

use crate::reference;
use crate::support::{Session, eventually, in_copy, is_empty, is_live, wait_for};
use nix::sys::signal::{Signal as UnixSignal, kill};
use nix::sys::wait::WaitStatus;
use session_proc::{Gone, Identity, ProcError, Start, State, Stop, Which};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

/// Runs `act` in so many copies of this process at once.
fn in_copies(count: usize, act: impl Fn(usize) -> i32) {
    let copies: Vec<_> = (0..count).map(|n| in_copy(|| act(n))).collect();
    for copy in copies {
        assert_eq!(wait_for(copy), WaitStatus::Exited(copy, 0));
    }
}

/// The lines that the copies have written.
fn lines(session: &Session, count: usize) -> Vec<String> {
    let read = |n| fs::read_to_string(session.cwd().join(format!("ids{n}"))).expect("each copy writes one");
    (0..count).flat_map(|n| read(n).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn two_hundred_starts_from_eight_processes_get_two_hundred_ids() {
    for session in Session::both() {
        in_copies(8, |n| {
            let ids = (0..25).map(|k| {
                let start = Start::new(format!("echo {n}-{k}"), session.cwd());
                session.registry.start(&start).map(|status| format!("{} {n}-{k}\n", status.id))
            });
            let ids: Result<String, _> = ids.collect();
            ids.map(|ids| fs::write(session.cwd().join(format!("ids{n}")), ids)).map_or(1, |_| 0)
        });
        let started = lines(&session, 8);
        let ids: BTreeSet<&str> = started.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!((started.len(), ids.len()), (200, 200));
        for line in &started {
            let (id, said) = line.split_once(' ').expect("two words");
            let status = session.ended(&id.parse().expect("an id"));
            assert_eq!(status.exit_code, Some(0), "{id}");
            assert_eq!(session.text(&format!("{id}.log")), Some(format!("{said}\n")), "{id}");
        }
        assert_eq!(session.registry.list().expect("readable").processes.len(), 200);
    }
}

#[test]
fn an_id_is_not_shared_with_the_reference() {
    let session = Session::unsupervised();
    fs::create_dir(session.registry.dir()).expect("the name is free");
    in_copies(4, |n| {
        let start = Start::new("true", session.cwd());
        // Two of the reference's share ids among themselves; one at a time is what it is made for.
        let ids = (0..20).map(|_| match n {
            0 => {
                let (id, unprotected) = reference::start(session.registry.dir(), "true");
                format!("{id} {}\n", unprotected.as_millis())
            }
            _ => match session.registry.start(&start) {
                Ok(status) => format!("{} 0\n", status.id),
                // Ended again, and told: the reference was slower than all waiting.
                Err(ProcError::IdTaken { .. }) => String::new(),
                Err(error) => format!("{error} 0\n"),
            },
        });
        let ids: String = ids.collect();
        fs::write(session.cwd().join(format!("ids{n}")), ids).map_or(1, |()| 0)
    });
    let mut ids: BTreeMap<String, Vec<u128>> = BTreeMap::new();
    for line in lines(&session, 4) {
        let (id, unprotected_ms) = line.rsplit_once(' ').expect("two words");
        ids.entry(id.to_owned()).or_default().push(unprotected_ms.parse().expect("a number"));
    }
    for (id, unprotected_ms) in &ids {
        assert!(id.starts_with("bg"), "{id}");
        // What remains is a reference that is stopped for longer than we wait for it.
        assert!(unprotected_ms.len() == 1 || unprotected_ms.iter().any(|&ms| ms >= 20), "{id} {unprotected_ms:?}");
    }
}

#[test]
fn p08_whenever_the_starter_is_killed_what_runs_can_be_found_and_stopped() {
    let rounds = session_testing::usually(24, 120);
    for session in Session::both() {
        fs::create_dir(session.registry.dir()).expect("the name is free");
        let start = Start::new("sleep 600", session.cwd());
        for round in 0..rounds {
            let starter = in_copy(|| {
                loop {
                    if session.registry.start(&start).is_err() {
                        return 1;
                    }
                }
            });
            // Anywhere between the first file and the second start.
            std::thread::sleep(Duration::from_micros(20_000 + round * 2_500 % 60_000));
            kill(starter, UnixSignal::SIGKILL).expect("it is our child");
            wait_for(starter);
        }
        // Whoever was killed left claims; each becomes a process or is known to be none.
        let list = || session.registry.list().expect("readable");
        eventually("all claims are settled", || list().processes.iter().all(|status| status.state != State::Starting));
        let reconciled = session.registry.reconcile().expect("readable");
        assert!(reconciled.unreadable.is_empty());
        let mut known = BTreeSet::new();
        for status in list().processes {
            match status.state {
                State::Running => known.extend(
                    session
                        .registry
                        .members(&status.id)
                        .expect("readable")
                        .into_iter()
                        .map(|member| member.process.pid),
                ),
                State::Gone => assert_eq!(status.gone, Some(Gone::NeverStarted), "{status:?}"),
                State::Starting | State::Exited | State::Killed | State::Other(_) => panic!("{status:?}"),
            }
        }
        known.extend(session.registry.lost().expect("readable").into_iter().map(|lost| lost.process.pid));
        let marked: BTreeSet<i32> = marked(&session).into_iter().collect();
        assert!(!marked.is_empty() && marked.is_subset(&known), "{:?}", marked.difference(&known));
        session.registry.stop_all(Which::All, &Stop { grace: Duration::ZERO, ..Stop::default() }).expect("readable");
        eventually("nothing is left", || is_empty(&session));
    }
}

/// The processes with the session's mark, supervisors aside, by another reading of `/proc` than the crate's.
fn marked(session: &Session) -> Vec<i32> {
    let dir = format!("{}\0", session.registry.dir().display());
    let pids =
        fs::read_dir("/proc").expect("readable").flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_marked = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let text = String::from_utf8_lossy(&environment);
        text.contains("SESSION_STORE_PROCESS=")
            && !text.contains("SESSION_STORE_PROCESS=supervisor-")
            && text.contains(&dir)
    };
    pids.filter(is_marked).collect()
}

#[test]
fn a_tree_that_forks_faster_than_anybody_looks_is_stopped() {
    for session in Session::both() {
        // Each one starts another and ends; the chain never stops, and half of it leaves the group.
        let script = "echo 'sleep 0.02; sh ./chain & setsid sh ./chain2 & exit' >chain; echo 'sleep 0.05; exec sleep 600' >chain2; sh ./chain; sleep 600";
        let status = session.start(script);
        eventually("the chain runs", || session.registry.members(&status.id).expect("readable").len() > 5);
        let stop = Stop { grace: Duration::from_millis(100), ..Stop::default() };
        let stopped = session.registry.stop(&status.id, &stop).expect("it can be stopped");
        assert_eq!(stopped.survivors, []);
        eventually("nothing is left", || is_empty(&session));
    }
}

#[test]
fn a_supervisor_that_is_killed_leaves_a_process_that_is_known() {
    let session = Session::supervised();
    let status = session.start("trap '' PIPE; while :; do echo oak 2>/dev/null; sleep 0.01; done");
    let dossier: serde_json::Value = serde_json::from_str(&session.text(".bg1.id").expect("ours")).expect("JSON");
    let supervisor: Identity = serde_json::from_value(dossier["supervisor"].clone()).expect("it is put down");
    kill(nix::unistd::Pid::from_raw(supervisor.pid), UnixSignal::SIGKILL).expect("ours");
    eventually("it is dead", || !is_live(&supervisor));
    assert_eq!(session.look(&status.id).state, State::Running);
    let stopped = session
        .registry
        .stop(&status.id, &Stop { grace: Duration::ZERO, ..Stop::default() })
        .expect("it can be stopped");
    assert_eq!((stopped.survivors, stopped.status.expect("recorded").state), (vec![], State::Killed));
}
