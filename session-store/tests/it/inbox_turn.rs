//! Who may take messages while a turn runs.

use crate::child::{self, Running};
use crate::inbox_claim::{own, texts};
use crate::inbox_deliver::user_line;
use crate::support::Session;
use session_proc::TurnMarker;
use session_store::{Access, StoreError};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Marks a turn, claims, and waits to be killed.
#[test]
fn child_with_a_turn() {
    let Some(task) = child::task() else { return };
    let [dir, report, what] = &task[..] else { panic!("{task:?}") };
    let paths = session_store::SessionPaths::new(dir);
    let _marker = (what == "turn").then(|| TurnMarker::start(&paths.proc(), "t").expect("no turn is live"));
    let inbox = session_store::Inbox::new(paths, "demo", session_store::Durability::Os);
    let said = match inbox.drainer(Access::Turn, &own()) {
        Ok(Some(drainer)) => {
            let drained = inbox.claim(&drainer, |_| Ok(BTreeSet::new())).expect("it can be drained");
            drained.messages.into_iter().map(|claimed| claimed.message.text).collect::<Vec<_>>().join(",")
        }
        Ok(None) => "no turn".to_owned(),
        Err(error) => error.to_string(),
    };
    session_disk::replace(Path::new(report), said.as_bytes(), session_disk::Durability::Os).expect("it can be told");
    if what == "turn" {
        while !child::is_orphan() {
            thread::sleep(Duration::from_millis(100));
        }
    }
}

fn tell(session: &Session, what: &str) -> (Running, String) {
    let dir = session.paths.dir().display().to_string();
    let report = session.base().join(format!("report-{what}"));
    let task = [&*dir, &*report.display().to_string(), what];
    let child = Running::start(child::command("inbox_turn::child_with_a_turn", &task));
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        match fs::read_to_string(&report) {
            Ok(said) => return (child, said),
            Err(error) if error.kind() == io::ErrorKind::NotFound => assert!(Instant::now() < limit, "it says nothing"),
            Err(error) => panic!("{error}"),
        }
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn during_a_turn_only_its_processes_and_the_locks_holder_take_messages() {
    let session = Session::new();
    session.inbox().deliver(&user_line("a")).expect("it can be delivered");
    assert_eq!(session.inbox().drainer(Access::Turn, &own()).expect("there is a /proc"), None);
    let (mut turn, said) = tell(&session, "turn");
    assert_eq!(said, "a");

    session.inbox().deliver(&user_line("b")).expect("it can be delivered");
    let error = session.inbox().drainer(Access::Turn, &own()).expect_err("the turn is another's");
    assert!(matches!(error, StoreError::NotOfTheTurn { .. }), "{error}");
    for access in [Access::Forced, Access::LockHolder] {
        session.inbox().drainer(access, &own()).expect("there is a /proc").expect("that is enough");
    }
    // What the turn has taken is its own as long as it lives.
    assert_eq!(texts(&session.claim()), ["b"]);
    turn.kill();
    assert_eq!(texts(&session.claim()), ["a"]);
}

#[test]
fn a_child_of_the_turn_takes_messages_for_it() {
    let session = Session::new();
    fs::create_dir(session.paths.inbox()).expect("the session is new");
    let marker = TurnMarker::start(&session.paths.proc(), "t").expect("no turn is live");
    session.inbox().deliver(&user_line("a")).expect("it can be delivered");
    let (mut child, said) = tell(&session, "child");
    assert_eq!(said, "a");
    assert!(child.wait().success());
    // The child is gone, the turn is not: the message is still its own.
    assert!(session.claim().is_empty());
    marker.end().expect("it is this process's");
}
