//! Compaction.

use crate::garden::{Garden, Sharing, at_every_step};
use crate::meanwhile::{Redacting, is_awaited, locked};
use crate::scratch::{Scratch, Sleeper, eventually, identity_json, name, user};
use crate::support::quick;
use session_core::{Message, TitleSource};
use session_disk::faults::with;
use session_store::{
    Checkup, Compacted, Compaction, FindingCode, InboxMessage, NewSession, Result, Session, Store, StoreError,
    USER_LINE,
};
use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::thread;

fn plan(successor: &str) -> Compaction {
    Compaction { name: Some(name(successor)), summary: "three oaks were planted".into() }
}

fn compact(store: &Store, source: &str, successor: &str) -> Result<Compacted> {
    let session = store.open(&name(source))?;
    let lock = session.lock()?;
    store.compact(&session, &lock, &plan(successor), None)
}

fn codes(store: &Store) -> Vec<FindingCode> {
    store
        .examine(&Checkup::default())
        .expect("it can be read")
        .findings
        .into_iter()
        .map(|finding| finding.code)
        .collect()
}

#[test]
fn h19_the_successor_goes_on_from_the_summary_and_the_source_takes_nothing_any_more() {
    let garden = Garden::of_two_turns();
    let source = garden.open("demo");
    source.inbox().deliver(&InboxMessage::now(USER_LINE, "use tabs")).expect("nothing forbids it");
    let before = garden.history("demo");
    let lock = source.lock().expect("it is free");
    let own = garden.checkpoints("demo");
    let compacted = garden.store().compact(&source, &lock, &plan("demo-2"), Some(&own)).expect("nothing forbids it");
    assert_eq!((compacted.name.as_str(), compacted.carried, compacted.checkpoints), ("demo-2", 0, 3));
    assert!(compacted.error.is_none());
    lock.release().expect("it is held");

    assert_eq!(garden.said("demo-2"), ["three oaks were planted"]);
    assert!(garden.history("demo").starts_with(&before) && garden.said("demo").len() == 4);
    let refused = source.append_messages([Message::user("late")]);
    assert!(matches!(refused, Err(StoreError::Succeeded { successor, .. }) if successor == "demo-2"));
    let session = garden.open("demo");
    assert_eq!(session.name(), "demo-2", "opening follows");
    let meta = session.meta().expect("it can be read").meta;
    assert_eq!((meta.parent.as_str(), meta.title.as_str()), ("demo", "Oaks"));
    assert_eq!(meta.summary, "three oaks were planted");
    assert_eq!(session.set_title("Birches", TitleSource::Auto).expect("it is no error").title, "Oaks");
    let waiting = session.steering().take().expect("nothing forbids it").messages;
    assert_eq!(waiting, [Message::user("use tabs")]);
    assert!(!codes(&garden.store()).contains(&FindingCode::UnlinkedSuccessor));
    // The link is a fact of the history.
    let dir = garden.scratch.path("demo");
    fs::remove_file(dir.join("meta.json")).and_then(|()| fs::remove_file(dir.join(".meta.json"))).expect("scratch");
    assert_eq!(garden.store().read_meta(&name("demo")).expect("it can be read").meta.succeeded_by, "demo-2");
}

#[test]
fn h19_what_came_while_the_summary_was_made_goes_along() {
    let garden = Garden::of_two_turns();
    let (source, child) = (garden.open("demo"), garden.open("demo"));
    let lock = source.lock().expect("it is free");
    // The summary is made of what the source holds now; a child of the turn before appends meanwhile.
    let late = Sharing(|| {
        child.append_messages([Message::user("late"), Message::user("too late")]).expect("no lock is needed");
        child.rollback(1).expect("no lock is needed");
    });
    let compacted = garden.store().compact(&source, &lock, &plan("demo-2"), Some(&late));
    assert_eq!(compacted.expect("nothing forbids it").carried, 1);
    assert_eq!(garden.said("demo-2"), ["three oaks were planted", "late"]);
}

#[test]
fn h19_an_append_that_was_on_its_way_when_the_session_got_its_successor_is_refused() {
    for (has_history, has_appended) in [(false, false), (true, false), (true, true)] {
        let scratch = Scratch::new();
        let store = scratch.store_with(quick());
        let new = NewSession { name: Some(name("demo")), ..NewSession::default() };
        let child = store.create(&new).expect("its name is free");
        if has_history {
            child.append_messages([Message::user("plant three oaks")]).expect("nothing forbids it");
        }
        let other = scratch.store_with(quick());
        let meanwhile = move || compact(&other, "demo", "demo-2").map(drop).expect("nothing forbids it");
        let child = if has_appended { child } else { store.open(&name("demo")).expect("it is there") };
        let child = child.redacted_by(Redacting::with("late", meanwhile));
        let refused = child.append_messages([Message::user("late")]);
        assert!(
            matches!(&refused, Err(StoreError::Succeeded { successor, .. }) if successor == "demo-2"),
            "{refused:?}"
        );
        drop(child);
        let history = fs::read_to_string(scratch.path("demo/history.jsonl")).expect("it is text");
        assert!(!history.contains("late"), "{history}");
    }
}

#[test]
fn h19_a_session_gets_its_successor_when_nobody_is_appending_to_it() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant three oaks")]);
    let store = scratch.store_with(quick());
    let history = scratch.path("demo/history.jsonl");
    let mut appending = locked(&history);
    thread::scope(|scope| {
        let compacting = scope.spawn(|| compact(&store, "demo", "demo-2"));
        eventually(|| is_awaited(&history).then_some(()));
        assert_eq!(store.read_meta(&name("demo")).expect("it can be read").meta.succeeded_by, "");
        appending.write_all(user(2, "late").as_bytes()).expect("there is room");
        drop(appending);
        let compacted = compacting.join().expect("it does not panic").expect("nothing forbids it");
        assert_eq!(compacted.carried, 1);
    });
    assert_eq!(
        crate::support::texts(&store.load(&name("demo-2")).expect("readable")),
        ["three oaks were planted", "late"]
    );
}

#[test]
fn i34_h19_what_came_while_the_summary_was_made_is_lost_and_doubled_by_no_death_and_no_failure() {
    at_every_step(12, |fault| {
        let scratch = Scratch::new();
        scratch.session("demo", &[user(1, "plant three oaks")]);
        let store = scratch.store();
        let (session, is_late) = (store.open(&name("demo")).expect("it is there"), Cell::new(false));
        let lock = session.lock().expect("it is free");
        // Another process, which nothing befalls.
        let late = Sharing(|| {
            let session = scratch.store().open(&name("demo")).expect("it is there");
            let said = [Message::user("late"), Message::user("late"), Message::user("too late")];
            thread::scope(|scope| scope.spawn(|| session.append_messages(said).map(drop)).join())
                .expect("it does not panic")
                .expect("no lock is needed");
            is_late.set(true);
        });
        let run = with(fault, || store.compact(&session, &lock, &plan("demo-2"), Some(&late)));
        drop((session, lock));
        let said = |session: &str| crate::support::texts(&store.load(&name(session)).expect("readable"));
        let is_linked = store.open(&name("demo")).expect("it is there").name() == "demo-2";
        assert!(is_linked || run.result.is_err(), "{fault:?}");
        let was_made = scratch.path("demo-2").exists();
        let whole = ["three oaks were planted", "late", "late", "too late"];
        if is_linked {
            assert_eq!(said("demo-2"), whole, "{fault:?}: what is linked is whole");
        }
        let source = Session::open_dir(scratch.path("demo"), quick()).expect("it is there");
        let lock = source.lock().expect("it is free");
        match store.compact(&source, &lock, &plan("demo-2"), None) {
            Ok(again) => assert!(again.error.is_none(), "{fault:?}"),
            Err(error) => assert!(is_linked && matches!(error, StoreError::Succeeded { .. }), "{fault:?}: {error}"),
        }
        // Who makes it anew has a summary of what was there by then.
        let wanted = if is_late.get() && was_made { &whole[..] } else { &whole[..1] };
        assert_eq!(said("demo-2"), wanted, "{fault:?}");
        assert!(fs::read_to_string(source.paths().history()).expect("it is text").contains("x.successor"), "{fault:?}");
        run.hit
    });
}

#[test]
fn h19_what_an_interrupted_compaction_has_left_is_taken_only_if_it_can_go_on_from_there() {
    let left = |source: &[String], successor: &[String]| {
        let scratch = Scratch::new();
        scratch.session("demo", source);
        scratch.session("demo-2", successor);
        let store = scratch.store_with(quick());
        let told = match compact(&store, "demo", "demo-2") {
            Ok(compacted) => Some(compacted.carried),
            Err(StoreError::Exists { .. }) => None,
            Err(error) => panic!("{error}"),
        };
        let goes_on = !store.read_meta(&name("demo")).expect("it can be read").meta.succeeded_by.is_empty();
        assert_eq!(goes_on, told.is_some());
        (told, crate::support::texts(&store.load(&name("demo-2")).expect("readable")))
    };
    let source = [user(1, "plant three oaks"), user(3, "water them"), user(4, "and the ash")];
    let first = source[0].len();
    let head = |upto: &str| {
        format!(
            "{{\"ts\":\"2026-01-02T03:04:02Z\",\"kind\":\"x.session\",\"x\":{{\"format\":1,\"parent\":\"demo\",\"compacts\":true{upto}}}}}\n"
        )
    };
    let begun = [head(&format!(",\"compacts_bytes\":{first}")), user(2, "three oaks were planted")];
    let and = |more: &[String]| [&begun[..], more].concat();
    let whole = ["three oaks were planted", "water them", "and the ash"];
    for had in [&source[1..1], &source[1..2], &source[1..]] {
        assert_eq!(left(&source, &and(had)), (Some(2), whole.map(str::to_owned).to_vec()));
    }
    // Somebody goes on in it; it took along what was taken back since; it does not say how far its summary goes.
    let rollback = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"rollback\",\"dropped\":1}\n".to_owned();
    for (source, successor) in [
        (source.to_vec(), and(&[user(5, "mine")])),
        (source[..2].to_vec(), and(&source[1..])),
        ([&source[..], &[rollback]].concat(), and(&source[1..])),
        (source.to_vec(), vec![head(""), begun[1].clone()]),
    ] {
        assert_eq!(left(&source, &successor).0, None);
    }
}

#[test]
fn t01_the_spilled_output_that_a_summary_mentions_is_there() {
    let garden = Garden::new();
    let source = garden.create("demo");
    let spill = || source.spill().bytes("out", "much ".repeat(9_000).as_bytes(), session_store::PreviewSize::default());
    let (told, untold) = (spill().expect("there is room"), spill().expect("there is room"));
    source.append_messages([Message::user("look"), Message::assistant(untold.text())]).expect("nothing forbids it");
    let lock = source.lock().expect("it is free");
    let summary = format!("all of it is in {}", told.in_session());
    let plan = Compaction { name: Some(name("demo-2")), summary };
    garden.quick().compact(&source, &lock, &plan, None).map(drop).expect("nothing forbids it");
    let successor = garden.scratch.path("demo-2");
    assert!(successor.join(told.in_session()).exists() && !successor.join(untold.in_session()).exists());
}

#[test]
fn a_session_whose_turn_runs_or_that_has_a_successor_is_not_compacted() {
    let garden = Garden::of_two_turns();
    let source = garden.open("demo");
    let lock = source.lock().expect("it is free");
    let turn = source.begin_turn(&lock, "t").expect("none runs");
    let refused = garden.store().compact(&source, &lock, &plan("demo-2"), None);
    assert!(matches!(refused, Err(StoreError::LiveTurn { .. })));
    turn.end("done", None).expect("it runs");
    assert!(matches!(garden.store().compact(&source, &lock, &plan("demo"), None), Err(StoreError::Exists { .. })));
    let other = garden.create("other");
    assert!(matches!(garden.store().compact(&other, &lock, &plan("x"), None), Err(StoreError::NotLocked { .. })));
    garden.store().compact(&source, &lock, &plan("demo-2"), None).map(drop).expect("nothing forbids it");
    let again = garden.store().compact(&source, &lock, &plan("demo-3"), None);
    assert!(matches!(again, Err(StoreError::Succeeded { .. })));
    assert!(!garden.scratch.path("demo-3").exists());
}

#[test]
fn a_session_without_a_history_is_compacted_too() {
    let scratch = Scratch::new();
    let store = scratch.store_with(quick());
    let new = NewSession { name: Some(name("demo")), ..Default::default() };
    drop(store.create(&new).expect("it can be created"));
    compact(&store, "demo", "demo-2").map(drop).expect("nothing forbids it");
    assert_eq!(store.open(&name("demo")).expect("it is there").name(), "demo-2");
    let history = fs::read(scratch.path("demo/history.jsonl")).expect("it keeps others from beginning one");
    assert_eq!(history, b"");
}

#[test]
fn h20_the_last_of_a_chain_is_opened_and_its_processes_are_found_from_there() {
    let scratch = Scratch::new();
    scratch.session("a", &[user(1, "hi")]);
    let store = scratch.store_with(quick());
    compact(&store, "a", "b").map(drop).expect("nothing forbids it");
    compact(&store, "a", "c").map(drop).expect("opening follows");
    assert_eq!(store.open(&name("a")).expect("it is there").name(), "c");
    let sleeper = Sleeper::start();
    let record = format!(
        "{{\"id\":\"bg1\",\"command\":\"sleep\",\"cwd\":\"/\",\"pid\":{},\"started\":\"2026-01-02T03:04:05Z\",\"state\":\"running\",\"exit_code\":0,\"ended\":\"0001-01-01T00:00:00Z\"}}",
        sleeper.pid()
    );
    scratch.put("a/proc/bg1.json", record);
    scratch.put("a/proc/.bg1.id", format!("{{\"process\":{}}}", identity_json(&sleeper.identity())));
    let chain = store.registries(&name("c")).expect("it can be read");
    let names: Vec<_> = chain.iter().map(|(session, _)| session.as_str()).collect();
    assert_eq!(names, ["c", "b", "a"]);
    let running = chain[2].1.list().expect("it can be read").processes;
    assert_eq!((running.len(), running[0].state.is_final()), (1, false));
}

#[test]
fn i34_h19_a_compaction_that_fails_or_dies_at_any_step_can_be_repeated_and_loses_nothing() {
    at_every_step(12, |fault| {
        let scratch = Scratch::new();
        scratch.session("demo", &[user(1, "plant three oaks")]);
        let store = scratch.store();
        let session = store.open(&name("demo")).expect("it is there");
        session.inbox().deliver(&InboxMessage::now(USER_LINE, "use tabs")).expect("nothing forbids it");
        let lock = session.lock().expect("it is free");
        let run = with(fault, || store.compact(&session, &lock, &plan("demo-2"), None));
        drop((session, lock));

        let opened = store.open(&name("demo")).expect("it is there");
        let is_linked = opened.name() == "demo-2";
        assert!(is_linked || run.result.is_err(), "{fault:?}");
        assert!(opened.dangling_successor().is_none(), "{fault:?}: the link is written last");
        if is_linked {
            assert_eq!(crate::support::texts(&opened.load().expect("readable")), ["three oaks were planted"]);
        } else {
            // What is left says of itself what it is, and nobody goes on in it.
            let left = scratch.path("demo-2").exists();
            assert_eq!(codes(&store).contains(&FindingCode::UnlinkedSuccessor), left, "{fault:?}");
            drop(opened);
        }
        match compact(&store, if is_linked { "demo-2" } else { "demo" }, if is_linked { "demo-3" } else { "demo-2" }) {
            Ok(_) => {}
            Err(error) => panic!("{fault:?}: {error}"),
        }
        let last = store.open(&name("demo")).expect("it is there");
        let waiting = last.steering().take().expect("nothing forbids it").messages;
        assert_eq!(waiting, [Message::user("use tabs")], "{fault:?}");
        assert_eq!(crate::scratch::loaded(&store, "demo").len(), 1, "{fault:?}");
        run.hit
    });
}

#[test]
fn h19_repeating_a_compaction_that_died_after_the_link_tells_the_history_of_it() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant three oaks")]);
    let store = scratch.store_with(quick());
    compact(&store, "demo", "demo-2").map(drop).expect("nothing forbids it");
    let history = scratch.path("demo/history.jsonl");
    let told = fs::read_to_string(&history).expect("it is text");
    let at = told.find("{\"ts\":").and_then(|_| told.lines().position(|line| line.contains("x.successor")));
    let untold: String = told.lines().take(at.expect("it is told")).map(|line| format!("{line}\n")).collect();
    fs::write(&history, &untold).expect("scratch");
    let member = Session::open_dir(scratch.path("demo"), quick()).expect("it is there");
    let lock = member.lock().expect("it is free");
    let again = store.compact(&member, &lock, &plan("demo-2"), None).expect("it does the rest");
    assert_eq!(again.name.as_str(), "demo-2");
    assert!(fs::read_to_string(&history).expect("it is text").contains("x.successor"));
    assert!(matches!(store.compact(&member, &lock, &plan("demo-2"), None), Err(StoreError::Succeeded { .. })));
}
