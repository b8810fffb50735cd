//! Going back, and taking that back.

use crate::garden::Garden;
use crate::scratch::{Scratch, Sleeper, identity_json, name, picture, user};
use crate::support::quick;
use session_core::checkpoint::{CheckpointRef, Checkpointer};
use session_core::{CutError, Message, Point, Redact, RedactError};
use session_disk::{Op, faults};
use session_store::{
    NewFork, Refusal, Rewind, RewindForce, RewindParts, Rewound, Session, StoreError, record_inbox_ids,
};
use std::borrow::Cow;
use std::fs;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn to(point: Point, parts: RewindParts) -> Rewind {
    Rewind { to: point, parts, force: RewindForce::Careful }
}

fn turn(n: u64) -> Rewind {
    to(Point::Turn(n), RewindParts::Auto)
}

fn forced(rewind: Rewind) -> Rewind {
    Rewind { force: RewindForce::Forced, ..rewind }
}

/// Goes back as an agent between two turns does.
fn rewind(garden: &Garden, rewind: &Rewind) -> session_store::Result<Rewound> {
    let session = garden.open("demo");
    let lock = session.lock()?;
    session.rewind(Some(&lock), rewind, Some(&mut garden.checkpoints("demo")))
}

fn undo(garden: &Garden, force: RewindForce) -> session_store::Result<Rewound> {
    let session = garden.open("demo");
    let lock = session.lock()?;
    session.undo_rewind(Some(&lock), force, Some(&mut garden.checkpoints("demo")))
}

fn refusals(refused: session_store::Result<Rewound>) -> Vec<Refusal> {
    match refused {
        Err(StoreError::RewindRefused { reasons, .. }) => reasons,
        other => panic!("it is refused: {other:?}"),
    }
}

#[test]
fn conversation_and_workspace_go_back_together_and_come_back_together() {
    let garden = Garden::of_two_turns();
    let session = garden.open("demo");
    let plan = session.plan_rewind(&turn(1), Some(&mut garden.checkpoints("demo"))).expect("nothing forbids it");
    let gone: Vec<_> = plan.messages.iter().map(|message| message.text.as_str()).collect();
    assert_eq!((gone, &plan.cut.turns[..]), (vec!["and another", "3 oaks"], &[2][..]));
    assert_eq!(plan.files.expect("a checkpoint shows it").writes, ["oaks"]);
    assert_eq!((plan.refusals.len(), garden.oaks().as_str(), garden.said("demo").len()), (0, "3", 4));

    let rewound = rewind(&garden, &turn(1)).expect("nothing forbids it");
    assert_eq!((rewound.messages, rewound.files.expect("files changed").written), (2, 1));
    assert_eq!(
        (garden.oaks().as_str(), garden.said("demo")),
        ("2", vec!["plant one more".to_owned(), "2 oaks".into()])
    );
    assert!(!garden.scratch.path("demo/.rewind").exists());

    let undone = undo(&garden, RewindForce::Careful).expect("nothing forbids it");
    assert_eq!(undone.messages, 2);
    assert_eq!((garden.oaks().as_str(), garden.said("demo").len()), ("3", 4));
    assert!(matches!(undo(&garden, RewindForce::Careful), Err(StoreError::NothingToUndo { .. })));
    // And again.
    rewind(&garden, &turn(0)).map(drop).expect("nothing forbids it");
    assert_eq!((garden.oaks().as_str(), garden.said("demo").len()), ("1", 0));
}

#[test]
fn either_goes_back_alone() {
    let garden = Garden::of_two_turns();
    rewind(&garden, &to(Point::Turn(1), RewindParts::Chat)).map(drop).expect("nothing forbids it");
    assert_eq!((garden.oaks().as_str(), garden.said("demo").len()), ("3", 2));
    undo(&garden, RewindForce::Careful).map(drop).expect("nothing forbids it");
    rewind(&garden, &to(Point::Turn(1), RewindParts::Files)).map(drop).expect("nothing forbids it");
    assert_eq!((garden.oaks().as_str(), garden.said("demo").len()), ("2", 4));
    undo(&garden, RewindForce::Careful).map(drop).expect("nothing forbids it");
    assert_eq!((garden.oaks().as_str(), garden.said("demo").len()), ("3", 4));
    let before = picture(&garden.scratch.path("demo/history.jsonl"));
    // What came back is a turn of its own, the third.
    assert_eq!(rewind(&garden, &turn(3)).expect("it is there already").messages, 0);
    assert_eq!(picture(&garden.scratch.path("demo/history.jsonl")), before, "there is nothing to tell");
}

#[test]
fn a_point_without_a_checkpoint_keeps_the_workspace_or_is_refused() {
    let garden = Garden::of_two_turns();
    let session = garden.open("demo");
    session.append_messages([Message::user("more"), Message::assistant("1"), Message::assistant("2")]).expect("free");
    let events = session.view().and_then(|view| view.timeline()).expect("readable").events();
    let point = Point::Event(events - 1);
    let plan = session.plan_rewind(&to(point, RewindParts::Auto), Some(&mut garden.checkpoints("demo")));
    assert_eq!(plan.expect("the conversation can go there").files, None);
    for parts in [RewindParts::Both, RewindParts::Files] {
        let refused = rewind(&garden, &to(point, parts));
        assert!(matches!(refused, Err(StoreError::NoCheckpoint { .. })), "{refused:?}");
    }
    let lock = session.lock().expect("it is free");
    let refused = session.rewind(Some(&lock), &to(Point::Turn(1), RewindParts::Both), None);
    assert!(matches!(refused, Err(StoreError::NoCheckpoint { .. })));
}

#[test]
fn what_was_taken_back_cannot_be_gone_back_to() {
    let garden = Garden::of_two_turns();
    rewind(&garden, &turn(1)).map(drop).expect("nothing forbids it");
    for (point, wanted) in [(Point::Turn(2), true), (Point::Turn(9), false)] {
        match rewind(&garden, &to(point, RewindParts::Chat)) {
            Err(StoreError::Cut { source: CutError::TakenBack { .. }, .. }) => assert!(wanted),
            Err(StoreError::Cut { source: CutError::NoSuchPoint { .. }, .. }) => assert!(!wanted),
            other => panic!("it is refused: {other:?}"),
        }
    }
}

#[test]
fn h17_damage_in_what_would_go_refuses_and_damage_before_it_does_not() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "one"), "{\"ts\":\n".into(), user(2, "two"), user(3, "three")]);
    let session = scratch.store_with(quick()).open(&name("demo")).expect("it is there");
    let lock = session.lock().expect("it is free");
    let before = fs::read(scratch.path("demo/history.jsonl")).expect("scratch");
    for parts in [RewindParts::Chat, RewindParts::Auto] {
        let refused = refusals(session.rewind(Some(&lock), &to(Point::Turn(1), parts), None));
        assert!(matches!(&refused[..], [Refusal::Damage(defects)] if defects[0].place.line == Some(2)));
    }
    assert_eq!(fs::read(scratch.path("demo/history.jsonl")).expect("scratch"), before);
    assert_eq!(session.load().expect("showing goes on").messages.len(), 3);
    session.rewind(Some(&lock), &turn(2), None).map(drop).expect("nothing behind it is damaged");
    assert_eq!(session.load().expect("readable").messages.len(), 2);
    session.rewind(Some(&lock), &forced(turn(1)), None).map(drop).expect("it is forced");
    assert_eq!(session.load().expect("readable").messages.len(), 1);
}

#[test]
fn h18_the_rollback_is_synced_before_the_answer_and_earlier_lines_stay_as_they_are() {
    let garden = Garden::of_two_turns();
    let before = garden.history("demo");
    let session = garden.open("demo");
    let lock = session.lock().expect("it is free");
    let ops =
        faults::with(faults::Fault::None, || session.rewind(Some(&lock), &to(Point::Turn(1), RewindParts::Chat), None));
    ops.result.map(drop).expect("nothing forbids it");
    let write = ops.ops.iter().position(|op| *op == Op::Write).expect("it is written");
    assert!(ops.ops[write..].contains(&Op::Sync), "{:?}", ops.ops);
    assert_eq!(ops.ops[..write].iter().filter(|op| **op == Op::Write).count(), 0, "one write is all");
    let after = garden.history("demo");
    assert!(after.starts_with(&before));
    let told = String::from_utf8(after[before.len()..].to_vec()).expect("it is text");
    assert!(told.lines().count() == 1 && told.contains("\"kind\":\"rollback\",\"dropped\":2"), "{told}");
}

#[test]
fn edits_by_hand_refuse_and_are_named_and_the_guard_has_them_when_it_is_forced() {
    let garden = Garden::of_two_turns();
    garden.plant("by hand");
    let before = (garden.history("demo"), garden.oaks());
    let refused = refusals(rewind(&garden, &turn(1)));
    assert!(matches!(&refused[..], [Refusal::Conflicts(files)] if files[0].path == "oaks"), "{refused:?}");
    assert_eq!((garden.history("demo"), garden.oaks()), before);
    assert!(!garden.scratch.path("demo/.rewind").exists());
    rewind(&garden, &forced(turn(1))).map(drop).expect("it is forced");
    assert_eq!(garden.oaks(), "2");
    undo(&garden, RewindForce::Careful).map(drop).expect("nothing forbids it");
    assert_eq!((garden.oaks().as_str(), garden.said("demo").len()), ("by hand", 4));
}

#[test]
fn c30_what_another_session_changed_too_refuses_and_is_named() {
    let garden = Garden::of_two_turns();
    let other = garden.quick().create(&session_store::NewSession {
        name: Some(name("other")),
        workspace: garden.work().display().to_string(),
        ..Default::default()
    });
    let other = other.expect("it can be created");
    garden.take(&other);
    garden.turn(&other, "and mine", "4");
    let session = garden.open("demo");
    // This session has seen the other's change as what it found.
    garden.turn(&session, "and ours", "5");
    let lock = session.lock().expect("it is free");
    let mut own = garden.checkpoints_beside("demo", &["other"]);
    let refused = refusals(session.rewind(Some(&lock), &turn(1), Some(&mut own)));
    assert!(
        matches!(&refused[..], [Refusal::Shared(files)] if files[0].session == "other" && files[0].path == "oaks"),
        "{refused:?}"
    );
    assert_eq!(garden.oaks(), "5");
    session.rewind(Some(&lock), &forced(turn(1)), Some(&mut own)).map(drop).expect("it is forced");
    assert_eq!(garden.oaks(), "2");
}

#[test]
fn c29_a_turn_or_a_process_that_runs_refuses_and_is_named() {
    let garden = Garden::of_two_turns();
    let sleeper = Sleeper::start();
    garden.scratch.put("demo/proc/turn.pid", format!("{}\n", sleeper.pid()));
    let refused = refusals(rewind(&garden, &turn(1)));
    let pid = i32::try_from(sleeper.pid()).expect("pids are small");
    assert_eq!(refused, [Refusal::LiveTurn(pid)]);
    fs::remove_file(garden.scratch.path("demo/proc/turn.pid")).expect("scratch");
    let record = format!(
        "{{\"id\":\"bg1\",\"command\":\"sleep\",\"cwd\":\"/\",\"pid\":{},\"started\":\"2026-01-02T03:04:05Z\",\"state\":\"running\",\"exit_code\":0,\"ended\":\"0001-01-01T00:00:00Z\"}}",
        sleeper.pid()
    );
    garden.scratch.put("demo/proc/bg1.json", record);
    garden.scratch.put("demo/proc/.bg1.id", format!("{{\"process\":{}}}", identity_json(&sleeper.identity())));
    let refused = refusals(rewind(&garden, &turn(1)));
    assert_eq!(refused, [Refusal::Processes(vec!["bg1".into()])]);
    assert!(refused[0].is_busy());
    assert_eq!((garden.oaks().as_str(), garden.said("demo").len()), ("3", 4));
    rewind(&garden, &forced(turn(1))).map(drop).expect("it is forced");
    assert_eq!((garden.oaks().as_str(), garden.said("demo").len()), ("2", 2));
}

#[test]
fn the_turn_that_runs_goes_back_by_itself() {
    let garden = Garden::of_two_turns();
    let session = garden.open("demo");
    let lock = session.lock().expect("it is free");
    let begun = session.begin_turn(&lock, "t").expect("none runs");
    session.append_messages([Message::user("no good")]).expect("nothing forbids it");
    let rewound = session.rewind(None, &to(Point::Turn(2), RewindParts::Chat), None).expect("it is its own turn");
    assert_eq!(rewound.messages, 1);
    begun.end("done", None).expect("it runs");
    assert_eq!(garden.said("demo").len(), 4);
}

#[test]
fn messages_that_came_since_refuse_an_undo_and_leave_when_it_is_forced() {
    let garden = Garden::of_two_turns();
    rewind(&garden, &turn(1)).map(drop).expect("nothing forbids it");
    garden.open("demo").append_messages([Message::user("another try")]).expect("nothing forbids it");
    assert_eq!(refusals(undo(&garden, RewindForce::Careful)), [Refusal::GoneOn(1)]);
    undo(&garden, RewindForce::Forced).map(drop).expect("it is forced");
    assert_eq!(garden.said("demo"), ["plant one more", "2 oaks", "and another", "3 oaks"]);
    assert_eq!(garden.oaks(), "3");
}

/// Says something when the redactor is first asked about a line of a kind, as the reference does, which takes no lock.
struct Late {
    history: std::path::PathBuf,
    kind: &'static str,
    is_said: AtomicBool,
}

impl Redact for Late {
    fn text<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, RedactError> {
        Ok(text.into())
    }

    fn json<'a>(&self, json: &'a str) -> Result<Cow<'a, str>, RedactError> {
        if json.contains(self.kind) && !self.is_said.swap(true, Ordering::SeqCst) {
            let mut file = fs::OpenOptions::new().append(true).open(&self.history).expect("it is there");
            file.write_all(user(9, "late").as_bytes()).expect("there is room");
        }
        Ok(json.into())
    }
}

/// A session with three messages, in which somebody says something right before a line of that kind is written.
fn late(scratch: &Scratch, kind: &'static str) -> Session {
    scratch.session("demo", &[user(1, "one"), user(2, "two"), user(3, "three")]);
    let late = Late { history: scratch.path("demo/history.jsonl"), kind, is_said: AtomicBool::new(false) };
    scratch.store_with(quick()).redacted_by(Arc::new(late)).open(&name("demo")).expect("it is there")
}

fn live(session: &Session) -> Vec<String> {
    crate::support::texts(&session.load().expect("readable"))
}

#[test]
fn what_is_said_until_the_rollback_is_written_goes_with_it_and_nothing_stays_in_its_place() {
    let scratch = Scratch::new();
    let session = late(&scratch, "rollback");
    let lock = session.lock().expect("it is free");
    let rewound = session.rewind(Some(&lock), &to(Point::Event(1), RewindParts::Chat), None);
    assert_eq!(rewound.expect("nothing forbids it").messages, 3);
    assert_eq!(live(&session), ["one"]);
    session.undo_rewind(Some(&lock), RewindForce::Careful, None).map(drop).expect("nothing forbids it");
    assert_eq!(live(&session), ["one", "two", "three", "late"]);
}

#[test]
fn what_is_said_until_an_undo_is_written_refuses_it_and_leaves_when_it_is_forced() {
    let scratch = Scratch::new();
    let session = late(&scratch, "rewind-undone");
    let lock = session.lock().expect("it is free");
    session.rewind(Some(&lock), &to(Point::Event(1), RewindParts::Chat), None).map(drop).expect("nothing forbids it");
    let refused = refusals(session.undo_rewind(Some(&lock), RewindForce::Careful, None));
    assert_eq!((refused, live(&session)), (vec![Refusal::GoneOn(1)], vec!["one".to_owned(), "late".into()]));
    session.undo_rewind(Some(&lock), RewindForce::Forced, None).map(drop).expect("it is forced");
    assert_eq!(live(&session), ["one", "two", "three"]);
}

#[test]
fn an_undo_is_refused_where_the_conversation_was_cut_further_back_since() {
    let garden = Garden::of_two_turns();
    rewind(&garden, &turn(1)).map(drop).expect("nothing forbids it");
    garden.open("demo").rollback(1).expect("nothing forbids it");
    assert!(matches!(undo(&garden, RewindForce::Forced), Err(StoreError::NothingToUndo { .. })));
}

#[test]
fn what_comes_back_says_when_it_was_said_first_and_keeps_all_that_it_said() {
    let garden = Garden::new();
    let session: Session = garden.create("demo");
    let mut event = session_core::Event::message(crate::support::ts(), Message::user("from the inbox"));
    record_inbox_ids(&mut event, ["1-2.3"]);
    session.append(&[event]).expect("nothing forbids it");
    let lock = session.lock().expect("it is free");
    session.rewind(Some(&lock), &to(Point::Turn(0), RewindParts::Chat), None).map(drop).expect("nothing forbids it");
    session.undo_rewind(Some(&lock), RewindForce::Careful, None).map(drop).expect("nothing forbids it");
    let told = String::from_utf8(garden.history("demo")).expect("it is text");
    let again = told.lines().rev().find(|line| line.contains("from the inbox")).expect("it came back");
    assert!(again.contains("\"inbox\":[\"1-2.3\"]") && again.contains("\"again\":\"2026-01-02T03:04:05Z\""), "{again}");
    assert!(told.lines().last().expect("there is one").contains("rewind-undone"));
}

#[test]
fn a_session_that_was_succeeded_does_not_go_back() {
    let garden = Garden::of_two_turns();
    let session = garden.open("demo");
    let lock = session.lock().expect("it is free");
    let plan = session_store::Compaction { name: Some(name("demo-2")), summary: "s".into() };
    garden.quick().compact(&session, &lock, &plan, None).map(drop).expect("nothing forbids it");
    assert!(matches!(session.rewind(Some(&lock), &turn(1), None), Err(StoreError::Succeeded { .. })));
    assert!(matches!(session.plan_rewind(&turn(1), None), Err(StoreError::Succeeded { .. })));
}

#[test]
fn c22_a_fork_goes_back_with_the_checkpoints_that_it_shares() {
    let garden = Garden::of_two_turns();
    let fork = NewFork { name: Some(name("fork")), ..NewFork::default() };
    garden.quick().fork(&name("demo"), &fork, Some(&garden.checkpoints("demo"))).expect("nothing forbids it");
    let session = garden.open("fork");
    let lock = session.lock().expect("it is free");
    session.rewind(Some(&lock), &turn(1), Some(&mut garden.checkpoints("fork"))).map(drop).expect("nothing forbids it");
    assert_eq!((garden.oaks().as_str(), garden.said("fork").len(), garden.said("demo").len()), ("2", 2, 4));
    assert!(garden.checkpoints("demo").plan(CheckpointRef::Taken(1)).is_ok());
}
