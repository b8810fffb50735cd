//! Deleting, and taking back.

use crate::scratch::{Scratch, Sleeper, loaded, name, picture, user};
use session_disk::faults::{self, Fault};
use session_store::{Deletion, StoreError};
use std::fs;
use std::os::unix::fs::symlink;

fn demo() -> Scratch {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant three oaks")]);
    scratch.put("demo/meta.json", "{\"name\":\"demo\",\"title\":\"Oaks\"}");
    scratch.put("demo/tmp/spill-1", "much");
    scratch.session("demo-2", &[user(2, "another")]);
    scratch
}

#[test]
fn a_deleted_session_is_gone_and_nothing_else_is() {
    let scratch = demo();
    let other = picture(&scratch.path("demo-2"));
    scratch.store().delete(&name("demo"), Deletion::Careful).expect("nothing forbids it");
    assert_eq!(scratch.listed(), ["demo-2"]);
    assert_eq!(picture(&scratch.path("demo-2")), other);
    assert!(matches!(scratch.store().load(&name("demo")), Err(StoreError::NotFound { .. })));
    assert_eq!(fs::read_dir(scratch.path(".session-store/staging")).expect("it was used").count(), 0);
    assert!(matches!(scratch.store().delete(&name("demo"), Deletion::Careful), Err(StoreError::NotFound { .. })));
}

#[test]
fn what_went_to_the_trash_comes_back_as_it_was() {
    let scratch = demo();
    let store = scratch.store();
    let before = picture(&scratch.path("demo"));
    let entry = store.trash(&name("demo"), "too old", Deletion::Careful).expect("nothing forbids it");
    assert_eq!(scratch.listed(), ["demo-2"]);
    assert_eq!(store.trash_list().expect("it can be read"), std::slice::from_ref(&entry));
    assert_eq!((entry.session.as_str(), entry.why.as_str()), ("demo", "too old"));
    assert_eq!(store.restore_from_trash(&entry.id).expect("its name is free"), name("demo"));
    // The lock that deleting took stays behind, empty, and so the directory was written to.
    let lock_and_dir = [format!("{:?} ", scratch.path("demo")), format!("{:?} ", scratch.path("demo/.lock"))];
    let but_lock = |picture: Vec<String>| {
        let kept = picture.into_iter().filter(|line| !lock_and_dir.iter().any(|path| line.starts_with(path)));
        kept.collect::<Vec<_>>()
    };
    assert_eq!(but_lock(picture(&scratch.path("demo"))), but_lock(before));
    assert_eq!(store.trash_list().expect("it can be read"), []);
    assert_eq!(fs::read_dir(scratch.path(".session-store/trash")).expect("it was used").count(), 0);
    assert!(matches!(store.restore_from_trash(&entry.id), Err(StoreError::NotInTrash { .. })));
}

#[test]
fn a_session_of_the_same_name_is_in_the_way_of_restoring() {
    let scratch = demo();
    let store = scratch.store();
    let entry = store.trash(&name("demo"), "", Deletion::Careful).expect("nothing forbids it");
    for form in ["demo/history.jsonl", "demo.jsonl"] {
        let path = scratch.put(form, user(9, "new life"));
        let before = picture(&scratch.base());
        let refused = store.restore_from_trash(&entry.id);
        assert!(matches!(refused, Err(StoreError::Exists { name }) if name.as_str() == "demo"), "{form}");
        assert_eq!(picture(&scratch.base()), before);
        fs::remove_file(path).expect("it is ours");
        drop(fs::remove_dir(scratch.path("demo")));
    }
    store.restore_from_trash(&entry.id).expect("its name is free again");
    assert_eq!(loaded(&store, "demo").len(), 1);
}

#[test]
fn all_forms_of_a_session_go_and_come_back_together() {
    let scratch = demo();
    let store = scratch.store();
    let flat = "{\"role\":\"user\",\"content\":\"older\"}\n";
    scratch.put("demo.jsonl", flat);
    scratch.put("demo.jsonl.migrated", flat);
    let entry = store.trash(&name("demo"), "", Deletion::Careful).expect("nothing forbids it");
    assert_eq!(scratch.listed(), ["demo-2"]);
    assert!(!scratch.path("demo.jsonl.migrated").exists());
    store.restore_from_trash(&entry.id).expect("its name is free");
    for file in ["demo.jsonl", "demo.jsonl.migrated"] {
        assert_eq!(fs::read_to_string(scratch.path(file)).expect("it is back"), flat);
    }
    store.delete(&name("demo"), Deletion::Careful).expect("nothing forbids it");
    assert_eq!(scratch.listed(), ["demo-2"]);
    scratch.put("flat-only.jsonl", flat);
    store.delete(&name("flat-only"), Deletion::Careful).expect("nothing forbids it");
    assert!(!scratch.path("flat-only.jsonl").exists());
}

#[test]
fn a_live_turn_forbids_deleting_unless_it_is_forced() {
    for forced in [false, true] {
        let scratch = demo();
        let turn = Sleeper::start();
        scratch.put("demo/proc/turn.pid", format!("{}\n", turn.pid()));
        let store = scratch.store();
        let before = picture(&scratch.base());
        for refused in [
            store.delete(&name("demo"), Deletion::Careful),
            store.trash(&name("demo"), "", Deletion::Careful).map(drop),
        ] {
            assert!(matches!(refused, Err(StoreError::LiveTurn { pid, .. }) if pid.unsigned_abs() == turn.pid()));
        }
        assert_eq!(picture(&scratch.base()), before);
        match forced {
            true => store.delete(&name("demo"), Deletion::Forced).expect("it is forced"),
            false => store.trash(&name("demo"), "", Deletion::Forced).map(drop).expect("it is forced"),
        }
        assert_eq!(scratch.listed(), ["demo-2"]);
    }
}

#[test]
fn a_held_lock_forbids_deleting_unless_it_is_forced() {
    let scratch = demo();
    let store = scratch.store();
    let lock = store.lock(&name("demo")).expect("it is free");
    assert!(matches!(store.delete(&name("demo"), Deletion::Careful), Err(StoreError::Locked { .. })));
    assert_eq!(scratch.listed(), ["demo", "demo-2"]);
    store.delete(&name("demo"), Deletion::Forced).expect("it is forced");
    assert_eq!(scratch.listed(), ["demo-2"]);
    assert!(matches!(lock.check(), Err(StoreError::LockLost { .. })));
}

#[test]
fn s03_deleting_a_link_removes_the_link_and_never_what_it_points_to() {
    let scratch = demo();
    let outside = scratch.outside().join("outside");
    fs::create_dir(&outside).expect("it is ours");
    fs::write(outside.join("history.jsonl"), user(1, "elsewhere")).expect("it is ours");
    let store = scratch.store();
    let before = picture(&outside);
    for target in [outside.as_path(), "demo-2".as_ref(), "nowhere".as_ref()] {
        symlink(target, scratch.path("link")).expect("it is ours");
        let entry = store.trash(&name("link"), "", Deletion::Careful).expect("a link can go");
        assert!(scratch.path("link").symlink_metadata().is_err());
        store.restore_from_trash(&entry.id).expect("its name is free");
        assert_eq!(fs::read_link(scratch.path("link")).expect("it is back"), target);
        store.delete(&name("link"), Deletion::Careful).expect("a link can go");
        assert!(scratch.path("link").symlink_metadata().is_err());
    }
    // A link inside a session is removed with it, and what it points to stays.
    symlink(&outside, scratch.path("demo/tmp/link")).expect("it is ours");
    store.delete(&name("demo"), Deletion::Careful).expect("nothing forbids it");
    assert_eq!(picture(&outside), before);
    assert_eq!(scratch.listed(), ["demo-2"]);
}

#[test]
fn s03_a_directory_that_is_no_session_is_refused() {
    let scratch = demo();
    scratch.put("photos/oak.jpg", "not ours");
    let store = scratch.store();
    let before = picture(&scratch.base());
    for refused in
        [store.delete(&name("photos"), Deletion::Forced), store.trash(&name("photos"), "", Deletion::Forced).map(drop)]
    {
        assert!(matches!(refused, Err(StoreError::NotASession { .. })));
    }
    assert_eq!(picture(&scratch.base()), before);
    scratch.dir("empty/proc");
    store.delete(&name("empty"), Deletion::Careful).expect("an empty session is one");
}

#[test]
fn s03_ids_of_the_trash_lead_nowhere_else() {
    let scratch = demo();
    let store = scratch.store();
    let entry = store.trash(&name("demo"), "", Deletion::Careful).expect("nothing forbids it");
    let before = picture(scratch.outside());
    for id in
        ["", ".", "..", "../../demo-2", "/etc", "demo", &format!("./{}", entry.id), &format!("../trash/{}", entry.id)]
    {
        assert!(matches!(store.restore_from_trash(id), Err(StoreError::NotInTrash { .. })), "{id:?}");
    }
    // A record that names another place is no record.
    fs::write(entry.path.join("record.json"), "{\"name\":\"../escape\",\"deleted\":\"2026-01-02T03:04:05Z\"}")
        .expect("it is ours");
    assert!(matches!(store.restore_from_trash(&entry.id), Err(StoreError::NotInTrash { .. })));
    fs::remove_file(entry.path.join("record.json")).expect("it is ours");
    assert!(!scratch.outside().join("escape").exists());
    assert_ne!(before, [""; 0]);
}

#[test]
fn ls07_a_name_that_was_deleted_is_free_and_nobody_brings_it_back() {
    let scratch = demo();
    let store = scratch.store();
    let held = store.open(&name("demo")).expect("it exists");
    store.delete(&name("demo"), Deletion::Careful).expect("nothing forbids it");
    let message = || session_core::Message::user("now");
    for _ in 0..2 {
        assert!(matches!(held.append_messages([message()]), Err(StoreError::Deleted { .. })));
        assert!(held.update_meta(|meta| meta.title = "Oaks".into()).is_err());
        assert!(!scratch.path("demo").exists());
    }
    // Another session of that name is not the one that was held.
    scratch.session("demo", &[user(9, "new life")]);
    assert!(matches!(held.append_messages([message()]), Err(StoreError::Deleted { .. })));
    assert_eq!(loaded(&store, "demo").len(), 1);
    drop(held);
    fs::remove_dir_all(scratch.path("demo")).expect("it is ours");
    assert!(!scratch.path("demo").exists());
    assert_eq!(scratch.listed(), ["demo-2"]);
}

#[test]
fn r02_emptying_the_trash_takes_what_is_named_and_says_what_it_could_not_take() {
    let scratch = demo();
    let store = scratch.store();
    let old = store.clone().with_clock(|| session_core::parse_time("2026-01-01T00:00:00Z").expect("it is a time"));
    let first = old.trash(&name("demo"), "", Deletion::Careful).expect("nothing forbids it");
    let second = store.trash(&name("demo-2"), "", Deletion::Careful).expect("nothing forbids it");
    assert_eq!(store.trash_list().expect("it can be read"), [second.clone(), first.clone()]);

    let emptied = store.empty_trash(&[first.id.as_str(), "../../demo-2", "", "gone"]).expect("it can be read");
    assert_eq!((emptied.removed, emptied.failed.len()), (1, 0));
    assert_eq!(store.trash_list().expect("it can be read"), std::slice::from_ref(&second));
    let empty = || store.empty_trash(&[second.id.as_str()]).expect("it can be read");
    let run = faults::with(Fault::Fail { at: 0 }, empty);
    assert_eq!((run.result.removed, run.result.failed.len()), (0, 1));
    assert_eq!(empty().removed, 1);
    assert_eq!(store.trash_list().expect("it can be read"), []);
}

#[test]
fn r02_what_has_no_record_in_the_trash_is_named_and_goes_only_when_it_is() {
    let scratch = demo();
    let store = scratch.store();
    let readable = store.trash(&name("demo"), "", Deletion::Careful).expect("nothing forbids it");
    let broken = store.trash(&name("demo-2"), "", Deletion::Careful).expect("nothing forbids it");
    fs::write(broken.path.join("record.json"), "{").expect("it is ours");
    scratch.put(".session-store/trash/by-hand", "a file");
    // One that is being made, at each step until it holds something.
    scratch.put(".session-store/trash/begun-1/.record.json.tmp", "{");
    scratch.put(".session-store/trash/begun-2/record.json", "{\"name\":\"demo\",\"deleted\":\"2026-01-01T00:00:00Z\"}");

    let unreadable =
        || -> Vec<String> { store.trash_unreadable().expect("it can be read").into_iter().map(|one| one.id).collect() };
    assert_eq!(unreadable(), ["by-hand", &broken.id]);
    assert_eq!(store.trash_list().expect("it can be read"), std::slice::from_ref(&readable));
    let ids = ["by-hand", &broken.id, "begun-1", "begun-2"];
    assert_eq!(store.empty_trash(&ids).expect("it can be read").removed, 2);
    assert_eq!(unreadable(), [""; 0]);
    assert_eq!(store.trash_list().expect("it can be read"), [readable]);
    assert!(scratch.path(".session-store/trash/begun-2/record.json").exists());
}

/// Breaks the n-th operation, for all n; gives whether the session stands, is in the trash, and what the call said.
fn break_all(
    fault: impl Fn(u64) -> Fault,
    act: impl Fn(&Scratch) -> Result<(), StoreError>,
    judge: impl Fn(&Scratch, bool, &str),
) {
    for at in 0.. {
        let scratch = demo();
        scratch.put("demo.jsonl", "{\"role\":\"user\",\"content\":\"older\"}\n");
        let run = faults::with(fault(at), || act(&scratch));
        judge(&scratch, run.result.is_ok(), &format!("{:?} of {:?}", fault(at), run.ops));
        if !run.hit {
            assert!(run.result.is_ok() && at > 3);
            break;
        }
    }
}

fn faults() -> [fn(u64) -> Fault; 3] {
    [|at| Fault::Fail { at }, |at| Fault::Full { at }, |at| Fault::Stop { at }]
}

#[test]
fn deleting_that_is_broken_at_any_step_leaves_the_session_whole_or_gone() {
    for fault in faults() {
        break_all(
            fault,
            |scratch| scratch.store().delete(&name("demo"), Deletion::Careful),
            |scratch, done, told| {
                let stands = scratch.path("demo").exists();
                assert!(!stands || !done, "{told}");
                if stands {
                    assert_eq!(loaded(&scratch.store(), "demo").len(), 1, "{told}");
                    assert!(
                        scratch.path("demo/meta.json").exists() && scratch.path("demo/tmp/spill-1").exists(),
                        "{told}"
                    );
                    scratch.store().delete(&name("demo"), Deletion::Careful).unwrap_or_else(|e| panic!("{told}: {e}"));
                }
                assert_eq!(scratch.listed(), ["demo-2"], "{told}");
            },
        );
    }
}

#[test]
fn i31_trashing_that_is_broken_at_any_step_leaves_the_session_in_one_place() {
    for fault in faults() {
        let act = |scratch: &Scratch| scratch.store().trash(&name("demo"), "", Deletion::Careful).map(drop);
        break_all(fault, act, |scratch, done, told| {
            let store = scratch.store();
            let stands = scratch.path("demo").exists();
            let kept = store.trash_list().expect("it can be read");
            assert!(!stands || !done, "{told}");
            assert!(stands || kept.len() == 1, "{told}: {kept:?}");
            if !stands {
                store.restore_from_trash(&kept[0].id).unwrap_or_else(|error| panic!("{told}: {error}"));
            }
            assert_eq!(loaded(&store, "demo").len(), 1, "{told}");
            assert!(scratch.path("demo/meta.json").exists() && scratch.path("demo/tmp/spill-1").exists(), "{told}");
        });
    }
}
