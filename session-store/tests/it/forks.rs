//! Forking.

use crate::garden::{FULL, Garden, STOP, at_every_step_of};
use crate::scratch::{Scratch, at_second, name, picture, user};
use crate::support::quick;
use session_core::checkpoint::{CheckpointRef, Checkpointer, OnConflict};
use session_core::{CutError, Extension, Message, Point, TitleSource, Usage};
use session_disk::faults::with;
use session_store::{Deletion, NewFork, PreviewSize, PrunePart, StoreError};
use std::fs;

fn at(point: Point) -> NewFork {
    NewFork { name: Some(name("fork")), at: Some(point), over_damage: false }
}

fn whole() -> NewFork {
    NewFork { name: Some(name("fork")), ..NewFork::default() }
}

#[test]
fn h18_a_fork_begins_with_the_conversation_of_a_point_and_the_source_stays_byte_for_byte() {
    let garden = Garden::of_two_turns();
    let before = picture(&garden.scratch.path("demo"));
    for (point, said) in [
        (Point::Turn(1), vec!["plant one more", "2 oaks"]),
        (Point::Turn(2), vec!["plant one more", "2 oaks", "and another", "3 oaks"]),
        (Point::Event(4), vec!["plant one more"]),
    ] {
        let forked = garden.store().fork(&name("demo"), &at(point), None).expect("nothing forbids it");
        assert_eq!((forked.name.as_str(), forked.messages as usize), ("fork", said.len()), "{point}");
        assert_eq!(garden.said("fork"), said, "{point}");
        let meta = garden.store().read_meta(&name("fork")).expect("it can be read").meta;
        assert_eq!((meta.parent.as_str(), meta.name.as_str(), meta.first_prompt.as_str()), ("demo", "fork", said[0]));
        assert_eq!(meta.workspace, garden.work().display().to_string());
        let first = String::from_utf8(garden.history("fork")).expect("it is text");
        let first = first.lines().next().expect("it has a first line").to_owned();
        assert!(first.contains("\"x.session\"") && first.contains("\"parent\":\"demo\""), "{first}");
        garden.store().delete(&name("fork"), Deletion::Careful).expect("nothing forbids it");
    }
    assert_eq!(picture(&garden.scratch.path("demo")), before);
}

#[test]
fn a_fork_without_live_messages_has_metadata_only_and_is_gone_on_with() {
    let garden = Garden::of_two_turns();
    let forked = garden.store().fork(&name("demo"), &at(Point::Turn(0)), None).expect("nothing forbids it");
    assert_eq!((forked.messages, garden.scratch.path("fork/history.jsonl").exists()), (0, false));
    let session = garden.open("fork");
    session.append_messages([Message::user("from the start")]).expect("nothing forbids it");
    assert_eq!(garden.said("fork"), ["from the start"]);
    assert_eq!(session.meta().expect("it can be read").meta.parent, "demo");
}

#[test]
fn a_point_that_there_is_not_and_a_taken_name_make_nothing() {
    let garden = Garden::of_two_turns();
    let before = garden.names();
    let refused = garden.store().fork(&name("demo"), &at(Point::Turn(3)), None);
    assert!(matches!(refused, Err(StoreError::Cut { source: CutError::NoSuchPoint { .. }, .. })));
    let taken = NewFork { name: Some(name("demo")), ..NewFork::default() };
    assert!(matches!(garden.store().fork(&name("demo"), &taken, None), Err(StoreError::Exists { .. })));
    assert!(matches!(garden.store().fork(&name("none"), &whole(), None), Err(StoreError::NotFound { .. })));
    assert_eq!(garden.names(), before);
    let named = garden.store().fork(&name("demo"), &NewFork::default(), None).expect("a name is made up").name;
    assert_eq!(garden.names().len(), before.len() + 1);
    assert!(garden.names().contains(&named));
}

#[test]
fn what_was_taken_back_is_not_forked_unless_it_is_the_point() {
    let garden = Garden::of_two_turns();
    garden.open("demo").rollback(2).expect("nothing forbids it");
    garden.store().fork(&name("demo"), &whole(), None).expect("nothing forbids it");
    assert_eq!(garden.said("fork"), ["plant one more", "2 oaks"]);
    garden.store().delete(&name("fork"), Deletion::Careful).expect("nothing forbids it");
    garden.store().fork(&name("demo"), &at(Point::Turn(2)), None).expect("nothing forbids it");
    assert_eq!(garden.said("fork").len(), 4);
}

#[test]
fn ti01_a_persons_title_is_marked_in_a_fork_and_a_programs_is_not() {
    let garden = Garden::of_two_turns();
    let fork = |from: &str, to: &str| {
        let fork = NewFork { name: Some(name(to)), ..NewFork::default() };
        garden.store().fork(&name(from), &fork, None).expect("nothing forbids it");
        let session = garden.open(to);
        session.set_title("Something else", TitleSource::Auto).expect("it is no error");
        session.meta().expect("it can be read").meta.title
    };
    assert_eq!(fork("demo", "fork"), "Oaks (fork)");
    assert_eq!(fork("fork", "fork-2"), "Oaks (fork 2)");
    // The title is a fact of the fork's own history.
    let dir = garden.scratch.path("fork-2");
    fs::remove_file(dir.join("meta.json")).and_then(|()| fs::remove_file(dir.join(".meta.json"))).expect("scratch");
    let rebuilt = garden.store().read_meta(&name("fork-2")).expect("it can be read").meta;
    assert_eq!((rebuilt.title.as_str(), rebuilt.parent.as_str()), ("Oaks (fork 2)", "fork"));
}

#[test]
fn t01_the_spilled_output_that_a_fork_mentions_is_there_and_no_other_is() {
    let garden = Garden::new();
    let session = garden.create("demo");
    let spill = |text: &str| {
        let spilled = session.spill().bytes("out", text.repeat(9_000).as_bytes(), PreviewSize::default());
        spilled.expect("there is room")
    };
    let (told, later, never) = (spill("told "), spill("later "), spill("never "));
    session.append_messages([Message::user("look"), Message::assistant(told.text())]).expect("nothing forbids it");
    session.append_messages([Message::user("again"), Message::assistant(later.text())]).expect("nothing forbids it");
    let forked = garden.store().fork(&name("demo"), &at(Point::Turn(1)), None).expect("nothing forbids it");
    assert_eq!(forked.spills, [told.path.file_name().expect("it has one").to_string_lossy()]);
    let copy = garden.scratch.path("fork").join(told.in_session());
    assert_eq!(fs::read(copy).expect("it is there"), "told ".repeat(9_000).as_bytes());
    for other in [later, never] {
        assert!(!garden.scratch.path("fork").join(other.in_session()).exists());
    }
    garden.store().delete(&name("demo"), Deletion::Careful).expect("nothing forbids it");
    assert!(garden.scratch.path("fork").join(told.in_session()).exists());
}

#[test]
fn t01_outputs_whose_names_need_escapes_are_forked_and_not_pruned() {
    let garden = Garden::new();
    let session = garden.create("demo");
    let files = ["R&D.txt", "größe.txt", "nobodys.txt", "say \"hi\".txt"];
    for file in files {
        garden.scratch.put_at(format!("demo/tmp/{file}"), file, at_second(1_000));
    }
    session.append_messages([Message::user("tmp/R&D.txt, tmp/say \"hi\".txt")]).expect("nothing forbids it");
    // As a writer puts it whose lines are ASCII.
    let mut history = garden.history("demo");
    history.extend(user(9, r"tmp/gr\u00f6\u00dfe.txt").bytes());
    garden.scratch.put("demo/history.jsonl", history);
    let forked = garden.store().fork(&name("demo"), &whole(), None).expect("nothing forbids it");
    assert_eq!(forked.spills, ["R&D.txt", "größe.txt", "say \"hi\".txt"]);
    let plan = garden.store().plan_prune_part(&name("demo"), PrunePart::Tmp).expect("it can be read");
    assert_eq!(plan.doomed.iter().collect::<Vec<_>>(), ["nobodys.txt"]);
}

#[test]
fn m10_what_responses_cost_stays_with_the_source() {
    let garden = Garden::of_two_turns();
    let usage = Usage { response: "r1".into(), cost: Some(0.5), ..Usage::default() };
    garden
        .open("demo")
        .append(&[Extension::Usage(usage).into_event(crate::support::ts())])
        .expect("nothing forbids it");
    garden.store().fork(&name("demo"), &whole(), None).expect("nothing forbids it");
    let told = String::from_utf8(garden.history("fork")).expect("it is text");
    assert!(!told.contains("x.usage"), "{told}");
    assert_eq!(garden.store().read_meta(&name("fork")).expect("it can be read").meta.cost, 0.0);
}

#[test]
fn c22_checkpoints_up_to_the_point_are_the_forks_own_and_outlive_the_source() {
    let garden = Garden::of_two_turns();
    let own = garden.checkpoints("demo");
    let forked = garden.store().fork(&name("demo"), &at(Point::Turn(1)), Some(&own)).expect("nothing forbids it");
    assert_eq!(forked.checkpoints, 2);
    garden.store().delete(&name("demo"), Deletion::Careful).expect("nothing forbids it");
    let mut own = garden.checkpoints("fork");
    assert!(own.restore(CheckpointRef::Taken(3), OnConflict::Force).is_err(), "it was taken after the point");
    own.restore(CheckpointRef::Taken(1), OnConflict::Force).map(drop).expect("it is whole");
    assert_eq!(garden.oaks(), "1");
    // The next number is the fork's own.
    let session = garden.open("fork");
    assert!(garden.take(&session) > 3);
    let timeline = session.view().and_then(|view| view.timeline()).expect("it can be read");
    assert_eq!(timeline.turns()[0].before, Some(1));
}

#[test]
fn lines_keep_their_bytes_and_unknown_things_come_along() {
    let scratch = Scratch::new();
    let odd = "{\"kind\": \"message\", \"ts\":\"2026-01-02T03:04:06Z\",\"message\":{\"role\":\"user\",\"content\":\"odd\",\"seq\":7}}\n";
    let weather = "{\"ts\":\"2026-01-02T03:04:07Z\",\"kind\":\"weather\",\"text\":\"rain\"}\n";
    scratch.session("demo", &[user(1, "plain"), odd.into(), weather.into()]);
    scratch.store_with(quick()).fork(&name("demo"), &whole(), None).expect("nothing forbids it");
    let told = fs::read_to_string(scratch.path("fork/history.jsonl")).expect("it is text");
    let (_, rest) = told.split_once('\n').expect("the first line is the fork's own");
    assert_eq!(rest, format!("{}{odd}{weather}", user(1, "plain")));
}

#[test]
fn h17_a_fork_over_lines_that_cannot_be_read_has_to_be_asked_for() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "one"), "{\"ts\":\n".into(), user(2, "two")]);
    let store = scratch.store_with(quick());
    let refused = store.fork(&name("demo"), &whole(), None);
    assert!(matches!(&refused, Err(StoreError::Damaged { defects: 1, .. })), "{refused:?}");
    assert!(!scratch.path("fork").exists());
    // Before the damage nothing is in doubt.
    store.fork(&name("demo"), &at(Point::Event(1)), None).expect("nothing forbids it");
    store.delete(&name("fork"), Deletion::Careful).expect("nothing forbids it");
    let forked = store.fork(&name("demo"), &NewFork { over_damage: true, ..whole() }, None).expect("it is asked for");
    assert_eq!((forked.messages, forked.damage.len()), (2, 1));
}

#[test]
fn a_session_that_was_succeeded_and_a_flat_file_are_forked_as_they_are() {
    let scratch = Scratch::new();
    scratch.put("flat.jsonl", "{\"role\":\"user\",\"content\":\"old\"}\n");
    let before = picture(&scratch.path("flat.jsonl"));
    let forked = scratch.store_with(quick()).fork(&name("flat"), &whole(), None).expect("nothing forbids it");
    assert_eq!(forked.messages, 1);
    assert_eq!((picture(&scratch.path("flat.jsonl")), scratch.path("flat").exists()), (before, false));
}

#[test]
fn i34_a_fork_that_fails_or_dies_at_any_step_leaves_none_or_all_of_it_and_the_source_as_it_was() {
    let garden = Garden::new();
    let session = garden.create("demo");
    let spilled = session.spill().bytes("out", "much ".repeat(9_000).as_bytes(), PreviewSize::default());
    let told = spilled.expect("there is room").text();
    session.append_messages([Message::user("look"), Message::assistant(told)]).expect("nothing forbids it");
    garden.take(&session);
    drop(session);
    let (before, history) = (picture(&garden.scratch.path("demo")), garden.history("demo"));
    let mut is_shared_in_vain = false;
    at_every_step_of(&[FULL, STOP], 12, |fault| {
        let own = garden.checkpoints("demo");
        let run = with(fault, || garden.store().fork(&name("demo"), &whole(), Some(&own)));
        assert_eq!(garden.history("demo"), history, "{fault:?}");
        let stands = garden.scratch.path("fork").exists();
        assert!(stands || run.result.is_err(), "{fault:?}");
        is_shared_in_vain |= matches!(run.result, Err(StoreError::Checkpoint { .. }));
        if stands {
            // Whole, whatever the answer was.
            assert_eq!(garden.said("fork"), garden.said("demo"), "{fault:?}");
            let spills = fs::read_dir(garden.scratch.path("fork/tmp")).expect("it is there").count();
            assert_eq!(spills, 1, "{fault:?}");
            garden.checkpoints("fork").plan(CheckpointRef::Taken(1)).expect("it is shared");
            garden.store().delete(&name("fork"), Deletion::Careful).expect("nothing forbids it");
        }
        garden.store().fork(&name("demo"), &whole(), Some(&own)).expect("it can be repeated");
        garden.store().delete(&name("fork"), Deletion::Careful).expect("nothing forbids it");
        run.hit
    });
    assert!(is_shared_in_vain, "some of the steps are those of sharing");
    let but_checkpoints = |picture: &[String]| {
        let kept = picture.iter().filter(|line| !line.contains("demo/checkpoints")).cloned();
        kept.collect::<Vec<_>>()
    };
    // Sharing by hard links and the engine's own lock touch the store of checkpoints, and nothing else.
    assert_eq!(but_checkpoints(&picture(&garden.scratch.path("demo"))), but_checkpoints(&before));
}
