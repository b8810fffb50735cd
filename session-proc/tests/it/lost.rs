//! Processes whose record was lost, and records that nobody needs any more.

use crate::support::{Session, eventually, in_copy, is_empty, is_live, wait_for};
use chrono::{TimeDelta, Utc};
use nix::sys::wait::WaitStatus;
use session_proc::{Gone, Identity, LostWhy, ProcessId, Prune, State, Status, Stop, TurnMarker, Which};
use std::fs::{self, File};
use std::process::Command;
use std::time::{Duration, SystemTime};

const AT_ONCE: Stop = Stop { signal: session_proc::Signal::KILL, grace: Duration::ZERO };

fn dossier(session: &Session) -> serde_json::Value {
    serde_json::from_str(&session.text(".bg1.id").expect("ours")).expect("JSON")
}

fn lost(session: &Session) -> Vec<(Identity, LostWhy)> {
    session.registry.lost().expect("readable").into_iter().map(|lost| (lost.process, lost.why)).collect()
}

/// A process that certainly is none any more.
fn dead() -> serde_json::Value {
    let own = Identity::own().expect("readable");
    serde_json::to_value(Identity { start_ticks: own.start_ticks + 1, ..own }).expect("it serializes")
}

#[test]
fn p08_a_process_without_a_record_is_found_by_its_mark() {
    for session in Session::both() {
        let status = session.start("exec sleep 600");
        let leader = status.process.expect("it runs");
        assert_eq!(lost(&session), []);
        let (record, own) = (session.text("bg1.json").expect("ours"), session.text(".bg1.id").expect("ours"));
        fs::remove_file(session.file("bg1.json")).expect("it is ours");
        assert!(lost(&session).iter().any(|(process, why)| (process, *why) == (&leader, LostWhy::NoRecord)));
        session.put("bg1.json", "{\"id\":");
        assert!(lost(&session).iter().any(|(process, why)| (process, *why) == (&leader, LostWhy::NoRecord)));
        session.put("bg1.json", &record);
        session.put(".bg1.id", &own.replace("\"mark\":\"", "\"mark\":\"0"));
        assert!(lost(&session).iter().any(|(process, why)| (process, *why) == (&leader, LostWhy::OtherStart)));
        fs::remove_file(session.file("bg1.json")).expect("it is ours");
        let stopped = session.registry.stop_all(Which::All, &AT_ONCE).expect("readable");
        assert_eq!((stopped[0].id.as_str(), &stopped[0].status, &stopped[0].survivors[..]), ("bg1", &None, &[][..]));
        eventually("nothing is left", || is_empty(&session));
    }
}

#[test]
fn p08_who_outlived_its_leader_is_found_by_its_mark() {
    let session = Session::supervised();
    let status = session
        .start("setsid sh -c 'echo $$ >pid; exec sleep 600' & read x <pid; until [ -s pid ]; do sleep 0.01; done");
    let stray = session.told_process("pid");
    session.ended(&status.id);
    assert_eq!(lost(&session), [(stray, LostWhy::Outlived)]);
}

#[test]
fn p01_who_outlived_its_leader_is_found_also_without_a_mark() {
    let session = Session::supervised();
    // Only that its supervisor was given it leads to it.
    let status = session.start("env -i sh -c 'echo $$ >pid; exec sleep 600' & until [ -s pid ]; do sleep 0.01; done");
    let stray = session.told_process("pid");
    session.ended(&status.id);
    assert_eq!(lost(&session), [(stray.clone(), LostWhy::Outlived)]);
    session.registry.stop_all(Which::All, &AT_ONCE).expect("readable");
    assert!(!is_live(&stray) && lost(&session).is_empty());
}

#[test]
fn p08_another_sessions_processes_are_not_found() {
    let [one, other] = Session::both();
    one.start("sleep 600");
    assert_eq!(lost(&other), []);
    assert!(other.registry.stop_all(Which::All, &AT_ONCE).expect("readable").is_empty());
    assert_eq!(one.registry.list().expect("readable").processes[0].state, State::Running);
}

#[test]
fn p08_a_claim_whose_starter_died_leads_to_what_runs() {
    for session in Session::both() {
        let status = session.start("sleep 600");
        let leader = status.process.expect("it runs");
        // As if the starter had died between the start and the record.
        let mut claim = dossier(&session);
        for part in ["process", "started", "supervisor"] {
            claim.as_object_mut().expect("an object").remove(part);
        }
        claim["origin"]["starter"] = dead();
        claim["origin"]["claimed"] = serde_json::to_value(Utc::now() - TimeDelta::minutes(1)).expect("it serializes");
        session.put(".bg1.id", &claim.to_string());
        session.put("bg1.json", "");
        let seen = session.look(&status.id);
        assert_eq!((seen.state, seen.process.as_ref(), seen.pid), (State::Running, Some(&leader), Some(leader.pid)));
        assert_eq!(session.text("bg1.json").as_deref(), Some(""), "a look writes nothing");
        let changed = session.registry.reconcile().expect("readable").processes;
        assert_eq!(changed.iter().map(|status| status.state.clone()).collect::<Vec<_>>(), [State::Running]);
        assert!(session.text("bg1.json").expect("a record").contains(&format!("\"pid\": {}", leader.pid)));
        session.registry.stop_all(Which::All, &AT_ONCE).expect("readable");
        assert!(!is_live(&leader));
    }
}

#[test]
fn p08_a_claim_of_which_nothing_came_is_gone() {
    let session = Session::supervised();
    let status = session.start("sleep 600");
    let origin = dossier(&session)["origin"].clone();
    session.registry.stop(&status.id, &AT_ONCE).expect("it can be stopped");
    let mut claim = serde_json::json!({ "origin": origin });
    session.put("bg1.json", "");
    session.put(".bg1.id", &claim.to_string());
    assert_eq!(session.look(&status.id).state, State::Starting, "its starter lives");
    claim["origin"]["starter"] = dead();
    session.put(".bg1.id", &claim.to_string());
    assert_eq!(session.look(&status.id).state, State::Starting, "it is young");
    claim["origin"]["claimed"] = serde_json::to_value(Utc::now() - TimeDelta::minutes(1)).expect("it serializes");
    session.put(".bg1.id", &claim.to_string());
    let seen = session.registry.status(&status.id).expect("recorded");
    assert_eq!((seen.state, seen.gone, seen.command.as_str()), (State::Gone, Some(Gone::NeverStarted), "sleep 600"));
    // An empty record that nobody has claimed says nothing.
    fs::remove_file(session.file(".bg1.id")).expect("it is ours");
    session.put("bg1.json", "");
    assert_eq!(session.registry.list().expect("readable").processes, []);
}

#[test]
fn p01_what_a_turn_has_started_by_itself_is_found_when_the_turn_is_over() {
    let session = Session::supervised();
    let script = "echo $$ >pid; exec sleep 600";
    let turn = in_copy(|| {
        let Ok(marker) = TurnMarker::start(session.registry.dir(), "t1") else { return 1 };
        let (name, value) = marker.mark();
        // In the group and session of who stops it later: the mark is what tells them apart.
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(session.cwd()).env(name, value);
        if command.spawn().is_err() {
            return 2;
        }
        // While the turn runs, it answers for what it has started.
        let own = session.told_process("pid");
        let stopped = session.registry.stop_all(Which::All, &AT_ONCE).map(|stopped| stopped.len());
        let is_left_alone = lost(&session).is_empty() && stopped.is_ok_and(|stopped| stopped == 0) && is_live(&own);
        std::mem::forget(marker);
        i32::from(!is_left_alone)
    });
    assert_eq!(wait_for(turn), WaitStatus::Exited(turn, 0));
    let own = session.told_process("pid");
    assert_eq!(lost(&session), [(own.clone(), LostWhy::TurnOver)]);
    let left = TurnMarker::left(session.registry.dir()).expect("readable").expect("nobody removed it");
    assert_eq!((left.pid, left.turn_id.as_deref()), (turn.as_raw(), Some("t1")));
    let stopped = session.registry.stop_all(Which::All, &AT_ONCE).expect("readable");
    assert_eq!(
        stopped.iter().map(|stopped| (stopped.id.as_str(), &stopped.status)).collect::<Vec<_>>(),
        [("turn", &None)]
    );
    assert!(!is_live(&own));
    let next = TurnMarker::start(session.registry.dir(), "t2").expect("none runs");
    assert_eq!(TurnMarker::left(session.registry.dir()).expect("readable"), None);
    next.end().expect("it is ours");
    assert_eq!(TurnMarker::left(session.registry.dir()).expect("readable"), None);
}

#[test]
fn a_record_that_is_not_true_any_more_is_known_until_somebody_reconciles() {
    let session = Session::unsupervised();
    let status = session.start("exit 3");
    eventually("it has ended", || session.look(&status.id).state.is_final());
    let stale =
        || session.registry.stale().expect("readable").into_iter().map(|status| status.state).collect::<Vec<_>>();
    assert_eq!(stale(), [State::Exited]);
    session.registry.reconcile().expect("readable");
    assert_eq!(stale(), []);
}

#[test]
fn files_of_no_process_are_known_and_removed() {
    let session = Session::supervised();
    let status = session.run("true");
    let old = SystemTime::now() - Duration::from_secs(7200);
    // The highest number stays taken.
    let left = [".bg4.cut", ".bg4.id", ".tmp-x", "bg3.json", "bg4.exit", "bg4.log"];
    for name in left.iter().chain(&["bg9.log", "theirs.txt", "turn.pid"]) {
        session.put(name, "");
        File::options().write(true).open(session.file(name)).expect("ours").set_modified(old).expect("ours");
    }
    session.put("bg5.log", "young");
    let found = session.registry.leftovers().expect("readable");
    assert_eq!(found, left.map(|name| session.file(name)));
    session.registry.prune(&Prune::default()).expect("they can be removed");
    assert_eq!(session.registry.leftovers().expect("readable"), Vec::<std::path::PathBuf>::new());
    assert!(["bg9.log", "theirs.txt", "turn.pid", "bg5.log"].iter().all(|name| session.file(name).exists()));
    drop(status);
}

#[test]
fn looking_writes_nothing() {
    for session in Session::both() {
        let status = session.start("echo oak; sleep 600");
        eventually("it has written", || session.text("bg1.log").as_deref() == Some("oak\n"));
        session.registry.status(&status.id).expect("recorded");
        let files = || {
            let entries = fs::read_dir(session.registry.dir()).expect("it is there").flatten();
            let mut files: Vec<_> = entries
                .map(|entry| {
                    (entry.file_name(), fs::read(entry.path()).ok(), entry.metadata().and_then(|m| m.modified()).ok())
                })
                .collect();
            files.sort();
            files
        };
        let before = files();
        session.look(&status.id);
        session.registry.list().expect("readable");
        session.registry.members(&status.id).expect("readable");
        session.registry.lost().expect("readable");
        session.registry.stale().expect("readable");
        session.registry.leftovers().expect("readable");
        session.registry.output(&status.id, 0, 99, session_proc::Excess::SkipToTail).expect("readable");
        session.registry.prunable(&Prune::default()).expect("readable");
        session
            .registry
            .wait(&status.id, &session_proc::Until::Exit, Some(Duration::ZERO))
            .expect("it can be waited for");
        assert_eq!(files(), before);
    }
}

#[test]
fn records_of_processes_that_have_ended_can_be_removed() {
    let session = Session::supervised();
    let ended: Vec<Status> = (0..4).map(|_| session.run("echo oak")).collect();
    let running = session.start("sleep 600");
    let last = session.run("true");
    eventually("the supervisors have ended", || {
        session.registry.prunable(&Prune::default()).expect("readable").len() == 4
    });
    let prunable = |prune: Prune| -> Vec<ProcessId> {
        session.registry.prunable(&prune).expect("readable").into_iter().map(|status| status.id).collect()
    };
    let ids = |range: std::ops::Range<usize>| ended[range].iter().map(|status| status.id.clone()).collect::<Vec<_>>();
    assert_eq!(prunable(Prune { keep: 3, ..Prune::default() }), ids(0..2), "the last two and one more");
    assert_eq!(prunable(Prune { ended_before: ended[1].ended, ..Prune::default() }), ids(0..1));
    assert_eq!(prunable(Prune { ended_before: Some(Utc::now() - TimeDelta::days(1)), ..Prune::default() }), []);
    assert_eq!(session.registry.prune(&Prune::default()).expect("they can be removed"), ids(0..4));
    let mut left: Vec<_> = fs::read_dir(session.registry.dir())
        .expect("there")
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    left.sort();
    assert_eq!(left, [".bg5.id", ".bg6.id", "bg5.json", "bg5.log", "bg6.exit", "bg6.json", "bg6.log"]);
    assert_eq!(session.look(&running.id).state, State::Running);
    assert_eq!(session.look(&last.id).exit_code, Some(0));
    assert_eq!(session.run("true").id.as_str(), "bg7", "an id is not given twice");
}
