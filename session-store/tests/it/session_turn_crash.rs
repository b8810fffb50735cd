//! What a turn leaves that crashed, and what the next one makes of it.

use super::scratch::{dead, identity_json};
use super::session_turn::{events, kinds, session, turns};
use session_core::TurnPhase;
use session_proc::{Identity, Lifetime, Start, State, Stop, Which};
use session_store::Session;
use std::fs;

/// What a process leaves that runs a turn and is killed: its marker, and what it has started.
fn crashed(session: &Session, turn: &str, is_told: bool) {
    let proc = session.paths().proc();
    fs::create_dir_all(&proc).expect("it is ours");
    let identity = identity_json(&dead());
    let marker =
        format!("{},\"turn\":\"{turn}\",\"started\":\"2026-01-02T03:04:05Z\"}}", identity.trim_end_matches('}'));
    fs::write(proc.join(".turn"), marker).expect("it is ours");
    fs::write(proc.join("turn.pid"), format!("{}\n", dead().pid)).expect("it is ours");
    if !is_told {
        let start = format!(
            "{{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"x.turn\",\"x\":{{\"id\":\"{turn}\",\"phase\":\"start\"}}}}\n"
        );
        fs::write(proc.join(".turn.start"), start).expect("it is ours");
    }
}

#[test]
fn a_turn_that_crashed_is_ended_and_told_by_the_next_one() {
    let (_dir, _store, session) = session();
    session.notice("before").expect("it can be appended to");
    crashed(&session, "t1", true);
    // The start of a dead turn is nobody's: an append outside of turns does not write it.
    session.notice("between").expect("it can be appended to");
    let lock = session.lock().expect("nobody has it");
    let turn = session.begin_turn(&lock, "t2").expect("none runs");
    let repair = turn.repair().expect("there was something to repair");
    assert_eq!(repair.turn.as_ref().and_then(|turn| turn.turn_id.as_deref()), Some("t1"));
    session.notice("now").expect("it can be appended to");
    turn.end("done", None).expect("it can be ended");
    let wanted = [("t1", TurnPhase::End, "crashed"), ("t2", TurnPhase::Start, ""), ("t2", TurnPhase::End, "done")];
    assert_eq!(turns(&session), wanted.map(|(id, phase, outcome)| (id.to_owned(), phase, outcome.to_owned())));
    let told: Vec<_> =
        events(&session).into_iter().map(|event| event.text).filter(|text| text.contains("crashed")).collect();
    assert_eq!(
        told,
        [format!("The turn before this one (t1, process {}, since 2026-01-02T03:04:05Z) crashed.", dead().pid)]
    );
    assert!(session.begin_turn(&lock, "t3").expect("none runs").repair().is_none());
}

#[test]
fn a_turn_that_crashed_before_it_did_anything_leaves_nothing() {
    let (_dir, _store, session) = session();
    crashed(&session, "t1", false);
    let lock = session.lock().expect("nobody has it");
    session.begin_turn(&lock, "t2").expect("none runs").end("done", None).expect("it can be ended");
    assert!(!session.paths().history().exists());
    crashed(&session, "t3", false);
    session.notice("outside").expect("it can be appended to");
    assert_eq!(kinds(&session), ["x.session", "notice"]);
    session.begin_turn(&lock, "t4").expect("none runs").end("done", None).expect("it can be ended");
    assert_eq!((kinds(&session).len(), turns(&session)), (3, vec![]), "a notice says it, and no turn had begun");
}

#[test]
fn p01_what_a_turn_that_crashed_left_running_is_stopped_by_the_next_one() {
    let (dir, store, session) = session();
    let registry = session.registry().expect("it is no link");
    let lock = session.lock().expect("nobody has it");
    let turn = session.begin_turn(&lock, "t1").expect("none runs");
    let start = Start::new("exec sleep 600", dir.path()).name("server");
    let id = registry.start(&start).expect("it starts").id;
    // As if its process had been killed.
    std::mem::forget(turn);
    let dossier = session.paths().proc().join(format!(".{id}.id"));
    let text = fs::read_to_string(&dossier).expect("ours");
    let own = Identity::own().expect("/proc is readable");
    fs::write(&dossier, text.replacen(&identity_json(&own), &identity_json(&dead()), 9)).expect("ours");
    crashed(&session, "t1", true);
    let next = store.open(&session.name().parse().expect("it is a name")).expect("it opens");
    let turn = next.begin_turn(&lock, "t2").expect("none runs");
    let repair = turn.repair().expect("there was something to repair");
    assert_eq!(repair.stopped.iter().map(|stopped| &stopped.id).collect::<Vec<_>>(), [&id]);
    assert_eq!(registry.look(&id).expect("recorded").state, State::Killed);
    let notice = events(&session).into_iter().map(|event| event.text).find(|text| text.contains("crashed"));
    let notice = notice.expect("it is told although there was no history");
    assert!(notice.ends_with("Background processes that it had left running were stopped: bg1 (server)."), "{notice}");
    turn.end("done", None).expect("it can be ended");
}

#[test]
fn what_a_turn_that_was_dropped_left_running_is_stopped_by_the_next_one_of_the_same_process() {
    let (dir, _store, session) = session();
    let registry = session.registry().expect("it is no link");
    let lock = session.lock().expect("nobody has it");
    let turn = session.begin_turn(&lock, "t1").expect("none runs");
    let start = |command: &str| Start::new(command, dir.path());
    let left = registry.start(&start("exec sleep 600")).expect("it starts").id;
    let server = start("exec sleep 600").lifetime(Lifetime::Persistent);
    let server = registry.start(&server).expect("it starts").id;
    drop(turn);
    let turn = session.begin_turn(&lock, "t2").expect("none runs");
    let repair = turn.repair().expect("there was something to repair");
    assert_eq!(repair.stopped.iter().map(|stopped| &stopped.id).collect::<Vec<_>>(), [&left]);
    assert_eq!(registry.look(&left).expect("recorded").state, State::Killed);
    assert_eq!(registry.look(&server).expect("recorded").state, State::Running);
    // What ended in order, or was stopped, is nothing to repair.
    registry.start(&start("true")).expect("it starts");
    let stopped = registry.start(&start("exec sleep 600")).expect("it starts").id;
    assert!(turn.end("done", None).expect("it can be ended").stopped.iter().any(|one| one.id == stopped));
    assert_eq!(session.begin_turn(&lock, "t3").expect("none runs").repair(), None);
    registry.stop_all(Which::All, &Stop::default()).expect("it can be stopped");
}
