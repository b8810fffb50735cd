//! Migrating a flat file, whatever happens meanwhile.

use crate::scratch::{Scratch, at_second, eventually, loaded, name, picture};
use session_disk::faults::{self, Fault};
use session_store::{Empties, FlatFile, SessionForm};
use std::fs;

/// A flat file of three messages, and what they are.
fn flat() -> (String, Vec<String>) {
    let messages: Vec<String> = ["plant three oaks", "digging", "now"]
        .into_iter()
        .map(|text| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"))
        .collect();
    (messages.join("\n") + "\n", messages)
}

fn scratch() -> (Scratch, Vec<String>) {
    let scratch = Scratch::new();
    let (flat, messages) = flat();
    scratch.put_at("old.jsonl", flat, at_second(1_788_423_301));
    (scratch, messages)
}

/// What must hold however far a migration came: the conversation is read and listed, whole and once, and the next opening
/// brings the migration to its end.
fn assert_whole(scratch: &Scratch, messages: &[String], told: &str) {
    let store = scratch.store();
    assert_eq!(loaded(&store, "old"), messages, "{told}: read");
    let listed = store.list(Empties::Show).expect("it can be read");
    let rows: Vec<_> = listed.iter().map(|info| (info.name.as_str(), info.messages)).collect();
    assert_eq!(rows, [("old", Some(messages.len() as u64))], "{told}: listed");
    drop(store.open(&name("old")).unwrap_or_else(|error| panic!("{told}: {error}")));
    assert_eq!(loaded(&store, "old"), messages, "{told}: read after opening");
    let history = fs::read_to_string(scratch.path("old/history.jsonl")).expect("it was migrated");
    assert_eq!(history.lines().count(), messages.len(), "{told}: nothing stands twice");
}

/// Breaks the n-th operation of opening a flat file, for all n.
fn break_all(fault: impl Fn(u64) -> Fault) {
    for at in 0.. {
        let (scratch, messages) = scratch();
        let run = faults::with(fault(at), || scratch.store().open(&name("old")).map(drop));
        assert_whole(&scratch, &messages, &format!("{:?} of {:?}", fault(at), run.ops));
        if !run.hit {
            assert!(run.result.is_ok() && at > 5);
            break;
        }
    }
}

#[test]
fn m08_a_migration_whose_nth_operation_fails_loses_and_doubles_nothing() {
    break_all(|at| Fault::Fail { at });
}

#[test]
fn m08_a_migration_on_a_full_disk_loses_and_doubles_nothing() {
    break_all(|at| Fault::Full { at });
}

#[test]
fn m08_i27_a_migration_that_dies_at_its_nth_operation_loses_and_doubles_nothing() {
    break_all(|at| Fault::Stop { at });
}

#[test]
fn m08_a_history_that_is_any_prefix_of_the_flat_file_hides_nothing_and_is_completed() {
    let (scratch, messages) = scratch();
    drop(scratch.store().open(&name("old")).expect("it is migrated"));
    let whole = fs::read(scratch.path("old/history.jsonl")).expect("it was migrated");
    // Every cut at a line's end and around it, and some inside the lines.
    let near = |cut: usize| whole[..cut].ends_with(b"\n") || whole[cut..].starts_with(b"\n") || cut.is_multiple_of(29);
    for cut in (0..whole.len()).filter(|cut| near(*cut)) {
        let (scratch, _) = self::scratch();
        scratch.put("old/history.jsonl", &whole[..cut]);
        let info = &scratch.store().list(Empties::Show).expect("it can be read")[0];
        let is_whole = whole.len() - cut == 1;
        assert_eq!(info.form == SessionForm::Flat, !is_whole, "cut at {cut}");
        assert_whole(&scratch, &messages, &format!("cut at {cut}"));
    }
}

#[test]
fn m08_migrating_again_changes_nothing() {
    let (scratch, messages) = scratch();
    let store = scratch.store();
    drop(store.open(&name("old")).expect("it is migrated"));
    let migrated = scratch.path("old.jsonl.migrated");
    eventually(|| {
        drop(store.open(&name("old")).expect("it exists"));
        migrated.exists().then_some(())
    });
    let before = picture(scratch.outside());
    for _ in 0..3 {
        drop(store.open(&name("old")).expect("it exists"));
    }
    assert_eq!(picture(scratch.outside()), before);
    assert_eq!(loaded(&store, "old"), messages);
}

#[test]
fn m08_several_of_ours_that_open_at_once_make_one_history() {
    let notice = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"notice\",\"text\":\"interrupted\"}\n";
    // Nothing was migrated yet, a part of it, or less than that and something else.
    for begun in [None, Some(""), Some("{\"torn"), Some(notice), Some(notice)] {
        let (scratch, messages) = scratch();
        let store = scratch.store();
        if let Some(begun) = begun {
            scratch.put("old/history.jsonl", begun);
        }
        std::thread::scope(|scope| {
            for n in 0..4 {
                let store = &store;
                scope.spawn(move || {
                    let session = store.open(&name("old")).expect("all of them can open it");
                    let text = format!("from {n}");
                    session.append_messages([session_core::Message::user(text)]).expect("all of them can append");
                });
            }
        });
        let loaded = loaded(&store, "old");
        assert_eq!(loaded[..3], messages, "{begun:?}");
        let mut own = loaded[3..].to_vec();
        own.sort();
        let wanted: Vec<_> = (0..4).map(|n| format!("{{\"role\":\"user\",\"content\":\"from {n}\"}}")).collect();
        assert_eq!(own, wanted, "{begun:?}");
    }
}

#[test]
fn m08_a_rollback_after_a_migration_does_not_make_it_look_interrupted() {
    let (scratch, messages) = scratch();
    let store = scratch.store();
    drop(store.open(&name("old")).expect("it is migrated"));
    let path = scratch.path("old/history.jsonl");
    let mut history = fs::read(&path).expect("it was migrated");
    history.extend(b"{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"rollback\",\"dropped\":2}\n");
    fs::write(&path, history).expect("it is ours");
    assert_eq!(loaded(&store, "old"), messages[..1]);
    let info = &store.list(Empties::Show).expect("it can be read")[0];
    assert_eq!((info.form, info.flat, info.messages), (SessionForm::Directory, FlatFile::Migrated, Some(1)));
    drop(store.open(&name("old")).expect("it exists"));
    assert_eq!(loaded(&store, "old"), messages[..1]);
}

#[test]
fn m08_what_a_history_says_beside_the_flat_file_s_messages_survives_completing_it() {
    let (scratch, messages) = scratch();
    let notice = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"notice\",\"text\":\"interrupted\"}\n";
    scratch.put("old/history.jsonl", notice);
    assert_eq!(loaded(&scratch.store(), "old"), messages);
    drop(scratch.store().open(&name("old")).expect("it is completed"));
    assert_eq!(loaded(&scratch.store(), "old"), messages);
    let history = fs::read_to_string(scratch.path("old/history.jsonl")).expect("it is there");
    assert!(history.starts_with(notice));
    drop(scratch.store().open(&name("old")).expect("it exists"));
    assert_eq!(fs::read_to_string(scratch.path("old/history.jsonl")).expect("it is there"), history);
}

#[test]
fn m08_a_history_that_was_emptied_when_its_flat_file_vanished_comes_back() {
    let (scratch, messages) = scratch();
    fs::rename(scratch.path("old.jsonl"), scratch.path("old.jsonl.migrated")).expect("it is ours");
    scratch.put("old/history.jsonl", "");
    assert_whole(&scratch, &messages, "emptied");
}

#[test]
fn m08_a_flat_file_that_another_conversation_hides_is_told_and_left_alone() {
    let (scratch, _) = scratch();
    scratch.session("old", &[crate::scratch::user(1, "new life")]);
    let store = scratch.store();
    let before = picture(&scratch.base());
    drop(store.open(&name("old")).expect("it exists"));
    assert_eq!(picture(&scratch.base()), before);
    let info = &store.list(Empties::Show).expect("it can be read")[0];
    assert_eq!((info.flat, info.messages), (FlatFile::Shadowed, Some(1)));
    assert_eq!(info.notes().len(), 1);
}

#[test]
fn an_empty_flat_file_becomes_an_empty_session() {
    let scratch = Scratch::new();
    scratch.put("old.jsonl", "");
    drop(scratch.store().open(&name("old")).expect("it is migrated"));
    assert_eq!(fs::read(scratch.path("old/history.jsonl")).expect("it was migrated"), b"");
    assert_eq!(loaded(&scratch.store(), "old"), [""; 0]);
}

#[test]
fn pictures_and_unknown_members_survive_migration() {
    let scratch = Scratch::new();
    let parts = "[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"file:a\"}}]";
    scratch.put("old.jsonl", format!("{{\"role\":\"user\",\"content\":{parts},\"mood\":\"sunny\"}}\n"));
    drop(scratch.store().open(&name("old")).expect("it is migrated"));
    let history = fs::read_to_string(scratch.path("old/history.jsonl")).expect("it was migrated");
    assert!(history.contains(parts) && history.contains("\"mood\":\"sunny\""), "{history}");
}
