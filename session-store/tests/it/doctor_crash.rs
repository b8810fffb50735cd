//! A repair that fails or dies at every step: nothing is lost, and repeating it does the rest.

use crate::garden::{FAIL, Garden, Gardens, STOP, at_every_step_of};
use crate::scratch::{Scratch, at_second, dead, identity_json, name, touch, user};
use crate::sick::whole;
use session_core::{Message, Point};
use session_disk::faults::{Fault, with};
use session_store::{Checkup, Repaired, Rewind, RewindForce, RewindParts, Store};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn repair(store: &Store) -> Repaired {
    store.repair(&Checkup::default()).expect("the store can be read")
}

/// Whether some file below a directory holds these bytes.
fn is_somewhere(dir: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(dir).expect("it can be read").flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type().expect("it was just listed") {
            kind if kind.is_dir() => is_somewhere(&path, bytes),
            kind if kind.is_file() => {
                let held = fs::read(&path).expect("it is ours");
                held.windows(bytes.len()).any(|window| window == bytes)
            }
            _ => false,
        }
    })
}

/// Repeating it ends it, and then there is nothing to do.
fn assert_ends(scratch: &Scratch, store: &Store, fault: Fault) {
    let second = repair(store);
    let errors: Vec<_> = second.repairs.iter().filter_map(|repair| repair.error.as_ref()).collect();
    assert!(errors.is_empty(), "{fault:?}: {errors:?}");
    let left = store.examine(&Checkup::default()).expect("it can be read").findings;
    // What was begun a moment ago may be somebody's.
    let left: Vec<_> = left.iter().filter(|finding| finding.fix.is_some()).map(ToString::to_string).collect();
    assert_eq!(left, Vec::<String>::new(), "{fault:?}");
    assert_eq!(repair(store).repairs.len(), 0, "{fault:?}");
    let history = fs::read_to_string(scratch.path("demo/history.jsonl")).expect("it is there");
    assert_eq!(history.matches("\"content\":\"plant\"").count(), 1, "{fault:?}: {history}");
    assert_eq!(history.matches("\"content\":\"dig\"").count(), 1, "{fault:?}: {history}");
    assert_eq!(store.load(&name("demo")).expect("it can be read").messages.len(), 2, "{fault:?}: {history}");
    assert!(history.contains("The doctor repaired this session"), "{fault:?}: {history}");
}

#[test]
fn i35_h02_who_takes_lines_out_of_a_history_can_die_anywhere() {
    at_every_step_of(&[STOP], 20, |fault| {
        let scratch = Scratch::new();
        let store = scratch.store();
        let lines = [user(1, "plant"), "never json\n".into(), user(2, "dig"), "{\"ts\":\"torn".into()];
        whole(&scratch, "demo", &lines);
        let run = with(fault, || repair(&store));
        for line in &lines {
            assert!(is_somewhere(&scratch.path("demo"), line.trim_end().as_bytes()), "{fault:?}: {line}");
        }
        let messages = store.load(&name("demo")).expect("it can be read").messages;
        assert_eq!(messages, [Message::user("plant"), Message::user("dig")], "{fault:?}");
        assert_ends(&scratch, &store, fault);
        for line in &lines {
            assert!(is_somewhere(&scratch.path("demo"), line.trim_end().as_bytes()), "{fault:?}: {line}");
        }
        run.hit
    });
}

/// A session in which nothing but the history is in order.
fn untidy() -> Scratch {
    let scratch = Scratch::new();
    whole(&scratch, "demo", &[user(1, "plant"), user(2, "dig")]);
    scratch.put_at("demo/meta.json", "{\"title\":", at_second(1));
    touch(&scratch.put("demo/.tmp-meta.json-0123456789abcdef", "half of it"), at_second(1));
    let marker = format!(
        "{},\"turn\":\"t1\",\"started\":\"2026-01-02T03:04:05Z\"}}",
        identity_json(&dead()).trim_end_matches('}')
    );
    scratch.put("demo/proc/.turn", marker);
    let dead = dead();
    let owner = format!("{}-{}-{}", dead.pid, dead.start_ticks, dead.boot_id);
    scratch.put(format!("demo/inbox/.claims/2-2.00000002@{owner}"), "use tabs");
    let spill = scratch.put("demo/tmp/spill", "much");
    fs::set_permissions(spill, Permissions::from_mode(0o644)).expect("it is ours");
    whole(&scratch, "child", &[user(1, "a")]);
    scratch.put("child/meta.json", "{\"name\":\"child\",\"parent\":\"was\"}");
    whole(&scratch, "is", &[user(1, "a")]);
    scratch.put("is/meta.json", "{\"name\":\"was\"}");
    touch(&scratch.put(".session-store/staging/.tmp-x-0123456789abcdef", ""), at_second(1));
    scratch
}

#[test]
fn i35_everything_else_can_fail_or_die_anywhere() {
    at_every_step_of(&[FAIL, STOP], 40, |fault| {
        let scratch = untidy();
        let store = scratch.store_with(crate::support::quick());
        let run = with(fault, || repair(&store));
        for kept in ["{\"title\":", "half of it", "\"turn\":\"t1\"", "use tabs", "much"] {
            assert!(is_somewhere(&scratch.path("demo"), kept.as_bytes()), "{fault:?}: {kept}");
        }
        assert_ends(&scratch, &store, fault);
        for kept in ["{\"title\":", "half of it", "\"turn\":\"t1\"", "use tabs", "much"] {
            assert!(is_somewhere(&scratch.path("demo"), kept.as_bytes()), "{fault:?}: {kept}");
        }
        let meta = |session: &str| store.read_meta(&name(session)).expect("it is there").meta;
        assert_eq!((meta("is").name, meta("child").parent), ("is".into(), "is".into()), "{fault:?}");
        run.hit
    });
}

#[test]
fn c10_a_rewind_that_was_interrupted_is_ended() {
    // Dies when the files have changed and the history has not been told.
    let interrupted = (0..2_000).map(|at| {
        let garden = Garden::of_two_turns();
        let back = Rewind { to: Point::Turn(1), parts: RewindParts::Both, force: RewindForce::Careful };
        drop(with(Fault::Stop { at }, || {
            let session = garden.open("demo");
            let lock = session.lock()?;
            session.rewind(Some(&lock), &back, Some(&mut garden.checkpoints("demo")))
        }));
        garden
    });
    let is_between = |garden: &Garden| {
        garden.scratch.path("demo/.rewind").exists() && garden.oaks() == "2" && garden.said("demo").len() == 4
    };
    let garden = { interrupted }.find(is_between).expect("there is such a step");
    let gardens = Gardens(&garden);
    let checkup = Checkup { checkpoints: Some(&gardens), ..Checkup::default() };
    let repaired = garden.store().repair(&checkup).expect("it can be read");
    assert!(repaired.repairs.iter().all(|repair| repair.error.is_none()), "{repaired:?}");
    assert!(!garden.scratch.path("demo/.rewind").exists());
    assert_eq!((garden.oaks().as_str(), garden.said("demo").len()), ("2", 2));
    // Without anybody who knows checkpoints it is told, and left.
    let found = garden.store().examine(&checkup).expect("it can be read").findings;
    assert!(found.iter().all(|finding| finding.fix.is_none()), "{found:?}");
}
