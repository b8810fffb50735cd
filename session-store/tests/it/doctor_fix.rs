//! The doctor repairs: what it may, without losing a byte, once.

use crate::doctor::{asked, codes, of};
use crate::scratch::{Scratch, Sleeper, at_second, identity_json, name, picture, user};
use crate::sick::{everything, whole, with_processes};
use session_store::{Checkup, FindingCode, LockGuard, NewSession, Repaired, SessionName, StoreError};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn repair(scratch: &Scratch) -> Repaired {
    scratch.store().repair(&Checkup::default()).expect("the store can be read")
}

/// What is fixable now.
fn fixable(scratch: &Scratch) -> Vec<(FindingCode, String)> {
    let found = scratch.store().examine(&Checkup::default()).expect("the store can be read").findings;
    let fixable = found.into_iter().filter(|finding| finding.fix.is_some());
    fixable.map(|finding| (finding.code, finding.session.unwrap_or_default())).collect()
}

fn history(scratch: &Scratch, session: &str) -> String {
    let bytes = fs::read(scratch.path(session).join("history.jsonl")).expect("it is there");
    String::from_utf8(bytes).expect("it is text")
}

/// The bytes of every file below a directory.
fn contents(dir: &Path) -> Vec<Vec<u8>> {
    let (mut open, mut all) = (vec![dir.to_owned()], Vec::new());
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.metadata().expect("it was just listed") {
                metadata if metadata.is_dir() => open.push(entry.path()),
                metadata if metadata.is_file() => all.push(fs::read(entry.path()).expect("it is ours")),
                _ => {}
            }
        }
    }
    all
}

/// How many notices of a history say what the doctor did.
fn notices(scratch: &Scratch, session: &str) -> usize {
    history(scratch, session).matches("\"text\":\"The doctor repaired this session").count()
}

#[test]
fn i36_nothing_of_a_healthy_store_changes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let session = store.create(&NewSession { name: Some(name("demo")), ..NewSession::default() }).expect("it is free");
    session.append_messages([session_core::Message::user("plant three oaks")]).expect("nothing forbids it");
    session.close().expect("nothing forbids it");
    let before = picture(scratch.outside());
    let repaired = repair(&scratch);
    assert_eq!((repaired.sessions, repaired.findings.len(), repaired.repairs.len()), (1, 0, 0));
    assert_eq!(picture(scratch.outside()), before);
}

#[test]
fn what_was_repaired_once_is_not_repaired_again() {
    let scratch = everything();
    let _running = with_processes(&scratch);
    for path in ["left/.tmp-meta.json-0123456789abcdef", ".session-store/staging/half"] {
        crate::scratch::touch(&scratch.path(path), at_second(1));
    }
    assert!(fixable(&scratch).len() > 15);
    let first = repair(&scratch);
    for repair in &first.repairs {
        assert!(repair.error.is_none(), "{repair:?}");
    }
    let left: Vec<_> = first
        .findings
        .iter()
        .filter(|finding| finding.fix.is_some() && !finding.fixed)
        .map(ToString::to_string)
        .collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(fixable(&scratch), []);
    let before = picture(scratch.outside());
    let second = repair(&scratch);
    assert_eq!(second.repairs.len(), 0, "{:?}", second.repairs);
    assert_eq!(picture(scratch.outside()), before);
}

#[test]
fn h02_bad_lines_are_kept_byte_for_byte_with_their_places_and_leave_blanks() {
    let scratch = Scratch::new();
    let (bad, torn) = ("{\"kind\":\"message\",\"mess\u{fffd}\n", "{\"ts\":\"2026");
    whole(&scratch, "demo", &[user(1, "a"), bad.into(), user(2, "b"), "[7]\n".into(), torn.into()]);
    let before = history(&scratch, "demo");
    let repaired = repair(&scratch);
    let [done] = &repaired.repairs[..] else { panic!("one session: {:?}", repaired.repairs) };

    let after = history(&scratch, "demo");
    let blanks = |text: &str| " ".repeat(text.trim_end().len()) + "\n";
    assert!(after.starts_with(&[user(1, "a"), blanks(bad), user(2, "b"), blanks("[7]"), blanks(torn)].concat()));
    assert_eq!((after.lines().count(), notices(&scratch, "demo")), (6, 1));
    assert_eq!(scratch.store().load(&name("demo")).expect("it can be read").messages.len(), 2);

    let [lines, backup] = &done.kept[..] else { panic!("two files: {done:?}") };
    assert_eq!(fs::read_to_string(backup).expect("it was kept"), before);
    assert_eq!(fs::read_to_string(lines).expect("it was kept"), [bad, "[7]\n", torn, "\n"].concat());
    let index = fs::read_to_string(format!("{}.index", lines.display())).expect("it was kept");
    let entry = |line: u64, text: &str, at: usize, why: &str| {
        let offset = before.rfind(text).expect("it stands there");
        let bytes = text.trim_end().len();
        format!("{{\"line\":{line},\"offset\":{offset},\"bytes\":{bytes},\"at\":{at},\"why\":\"{why}\"}}\n")
    };
    let wanted = [
        entry(2, bad, 0, "not-json"),
        entry(4, "[7]\n", bad.len(), "not-an-object"),
        entry(5, torn, bad.len() + 4, "torn"),
    ];
    assert_eq!(index, wanted.concat());
    assert_eq!(codes(&scratch, "demo"), [FindingCode::Quarantine, FindingCode::Backup]);
}

#[test]
fn h17_a_line_is_not_taken_out_while_it_says_that_what_is_live_is_a_guess() {
    let scratch = Scratch::new();
    let rollback = "{\"kind\":\"rollback\",\"dropped\":2}\n";
    whole(&scratch, "demo", &[user(1, "a"), "not json\n".into(), user(2, "b"), rollback.into()]);
    let before = picture(scratch.outside());
    let repaired = repair(&scratch);
    assert!(repaired.findings.iter().all(|finding| finding.fix.is_none() && !finding.fixed), "{repaired:?}");
    assert_eq!(picture(scratch.outside()), before);
    // What was never acknowledged is no such line.
    whole(&scratch, "torn", &[user(1, "a"), user(2, "b"), "{\"kind\":\"rollback\",\"dropped\":".into()]);
    drop(repair(&scratch));
    assert_eq!(codes(&scratch, "torn"), [FindingCode::Quarantine, FindingCode::Backup]);
}

#[test]
fn a_line_that_only_lacks_its_newline_gets_it() {
    let scratch = Scratch::new();
    let whole_line = user(2, "b");
    whole(&scratch, "demo", &[user(1, "a"), whole_line.trim_end().into()]);
    assert_eq!(codes(&scratch, "demo"), [FindingCode::TornTail]);
    drop(repair(&scratch));
    assert!(history(&scratch, "demo").starts_with(&[user(1, "a"), whole_line].concat()));
    assert_eq!((codes(&scratch, "demo"), notices(&scratch, "demo")), (vec![FindingCode::Backup], 1));
}

#[test]
fn s04_whoever_else_could_read_is_shut_out_and_bits_of_the_owner_stay() {
    let scratch = Scratch::new();
    whole(&scratch, "demo", &[user(1, "a")]);
    let spill = scratch.put("demo/tmp/spill", "much");
    let run = scratch.put("demo/tmp/run", "much");
    for (path, mode) in [(&spill, 0o644), (&run, 0o775), (&scratch.path("demo/tmp"), 0o777), (&scratch.base(), 0o755)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    }
    let repaired = repair(&scratch);
    assert!(repaired.findings.iter().all(|finding| finding.fixed), "{repaired:?}");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o7777;
    let modes = [&spill, &run, &scratch.path("demo/tmp"), &scratch.base()].map(|path| mode(path));
    assert_eq!(modes, [0o600, 0o700, 0o700, 0o700]);
    assert_eq!(notices(&scratch, "demo"), 1);
}

#[test]
fn a_session_in_which_somebody_is_at_work_is_left_alone_and_the_others_are_repaired() {
    let scratch = Scratch::new();
    for session in ["locked", "live", "free"] {
        whole(&scratch, session, &[user(1, "a"), "not json\n".into()]);
    }
    let turn = Sleeper::start();
    scratch.put("live/proc/turn.pid", format!("{}\n", turn.pid()));
    let identity = identity_json(&turn.identity());
    let turn_file =
        format!("{},\"turn\":\"t1\",\"started\":\"2026-01-02T03:04:05Z\"}}", identity.trim_end_matches('}'));
    scratch.put("live/proc/.turn", turn_file);
    let lock: LockGuard = scratch.store().lock(&name("locked")).expect("it is free");
    let before = [history(&scratch, "locked"), history(&scratch, "live")];
    let repaired = repair(&scratch);
    let told: Vec<_> =
        repaired.repairs.iter().map(|repair| (repair.session.clone().unwrap_or_default(), repair.is_busy())).collect();
    assert_eq!(told, [("free".to_owned(), false), ("live".to_owned(), true), ("locked".to_owned(), true)]);
    assert_eq!([history(&scratch, "locked"), history(&scratch, "live")], before);
    assert!(matches!(repaired.repairs[1].error, Some(StoreError::LiveTurn { .. })));
    assert_eq!(codes(&scratch, "free"), [FindingCode::Quarantine, FindingCode::Backup]);
    lock.release().expect("it is held");
}

#[test]
fn m03_metadata_that_cannot_be_used_is_kept_and_made_again() {
    let scratch = Scratch::new();
    let title = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"x.title\",\"x\":{\"title\":\"Oaks\",\"by\":\"user\"}}\n";
    whole(&scratch, "demo", &[user(1, "plant three oaks"), title.into()]);
    scratch.put_at("demo/meta.json", "{\"parent\":", at_second(1));
    drop(repair(&scratch));
    let meta = scratch.store().read_meta(&name("demo")).expect("it is there");
    assert_eq!((meta.damage, meta.meta.name.as_str(), meta.meta.title.as_str()), (None, "demo", "Oaks"));
    assert!(contents(&scratch.path("demo")).contains(&b"{\"parent\":".to_vec()));
    let left = codes(&scratch, "demo");
    assert_eq!(left, [FindingCode::Backup, FindingCode::MetaRebuilt, FindingCode::MetaAside]);
}

#[test]
fn m09_a_copy_gets_its_own_name_and_a_renaming_is_ended() {
    let scratch = Scratch::new();
    whole(&scratch, "original", &[user(1, "a")]);
    whole(&scratch, "copy", &[user(1, "a")]);
    scratch.put("copy/meta.json", "{\"name\":\"original\",\"title\":\"Oaks\"}");
    whole(&scratch, "new", &[user(1, "a")]);
    scratch.put("new/meta.json", "{\"name\":\"old\"}");
    whole(&scratch, "child", &[user(1, "a")]);
    scratch.put("child/meta.json", "{\"name\":\"child\",\"parent\":\"old\"}");
    let repaired = repair(&scratch);
    assert!(repaired.findings.iter().all(|finding| finding.fixed), "{repaired:?}");
    let meta = |session: &str| scratch.store().read_meta(&name(session)).expect("it is there").meta;
    assert_eq!((meta("copy").name, meta("copy").title), ("copy".into(), "Oaks".into()));
    assert_eq!((meta("new").name, meta("child").parent), ("new".into(), "new".into()));
    assert_eq!(fixable(&scratch), []);
}

#[test]
fn r02_neither_an_empty_twin_nor_a_damaged_session_is_ever_deleted() {
    let scratch = Scratch::new();
    whole(&scratch, "2026-01-02-abcdef", &[user(1, "a")]);
    scratch.put("2026-01-02-abc/meta.json", "{\"name\":\"2026-01-02-abc\"}");
    scratch.put("damaged/history.jsonl", "not json\n");
    assert_eq!(codes(&scratch, "2026-01-02-abc"), [FindingCode::EmptyTwin]);
    assert_eq!(codes(&scratch, "2026-01-02-abcdef"), []);
    drop(repair(&scratch));
    for session in ["2026-01-02-abcdef", "2026-01-02-abc", "damaged"] {
        assert!(scratch.path(session).is_dir(), "{session}");
    }
    assert!(contents(&scratch.path("damaged")).contains(&b"not json\n".to_vec()));
}

#[test]
fn s03_a_name_that_is_none_becomes_one_and_nothing_is_hidden() {
    let scratch = Scratch::new();
    whole(&scratch, "-rf", &[user(1, "a")]);
    whole(&scratch, "rf", &[user(1, "another")]);
    scratch.put("bad name .jsonl", "{\"role\":\"user\",\"content\":\"flat\"}\n");
    let repaired = repair(&scratch);
    assert!(repaired.repairs.iter().all(|repair| repair.error.is_none()), "{repaired:?}");
    let names: Vec<_> = scratch.store().names().expect("it can be read").iter().map(SessionName::to_string).collect();
    assert_eq!(names, ["bad-name", "rf", "rf-2"]);
    assert_eq!(scratch.store().read_meta(&name("rf-2")).expect("it is there").meta.name, "rf-2");
    assert_eq!(scratch.store().load(&name("bad-name")).expect("it can be read").messages.len(), 1);
    assert_eq!(fixable(&scratch), []);
}

#[test]
fn i01_messages_whose_taker_died_wait_again_or_are_known_to_be_recorded() {
    let scratch = everything();
    drop(repair(&scratch));
    let inbox = scratch.path("inbox/inbox");
    let named = |dir: &Path| -> Vec<String> {
        let entries = fs::read_dir(dir).expect("it is there").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    assert!(named(&inbox).contains(&"2-2".to_owned()), "{:?}", named(&inbox));
    let claims = named(&inbox.join(".claims"));
    assert!(claims.iter().any(|claim| claim.starts_with("3-3.")) && claims.len() == 2, "{claims:?}");
}

#[test]
fn p03_a_stale_marker_goes_and_the_history_says_how_the_turn_ended() {
    let scratch = Scratch::new();
    let start = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"x.turn\",\"x\":{\"id\":\"t1\",\"phase\":\"start\"}}\n";
    whole(&scratch, "demo", &[start.into(), user(1, "a")]);
    let marker = format!(
        "{},\"turn\":\"t1\",\"started\":\"2026-01-02T03:04:05Z\"}}",
        identity_json(&crate::scratch::dead()).trim_end_matches('}')
    );
    scratch.put("demo/proc/.turn", &marker);
    assert_eq!(codes(&scratch, "demo"), [FindingCode::StaleTurn]);
    drop(repair(&scratch));
    let text = history(&scratch, "demo");
    assert!(text.contains("\"phase\":\"end\"") && text.contains("\"outcome\":\"crashed\""), "{text}");
    assert!(!scratch.path("demo/proc/.turn").exists());
    assert!(contents(&scratch.path("demo/.backup")).contains(&marker.into_bytes()));
    assert_eq!((codes(&scratch, "demo"), notices(&scratch, "demo")), (vec![FindingCode::Backup], 1));
}

#[test]
fn sessions_may_be_named_and_the_others_are_not_touched() {
    let scratch = Scratch::new();
    for session in ["one", "other"] {
        whole(&scratch, session, &["not json\n".into(), user(1, "a")]);
    }
    let before = picture(&scratch.path("other"));
    let repaired = scratch.store().repair(&asked(&[name("one")])).expect("it is there");
    assert_eq!((repaired.sessions, repaired.findings.len()), (1, 1));
    assert_eq!(picture(&scratch.path("other")), before);
    assert!(of(&scratch, "one").iter().all(|finding| finding.fix.is_none()));
}

#[test]
fn h03_a_history_of_a_newer_format_is_not_written_and_the_rest_is_repaired() {
    let header = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"x.session\",\"x\":{\"format\":99}}";
    // What is odd about the line does not make the format an older one.
    for (header, is_odd) in
        [(format!("{header}\n"), false), (format!("{header}\r\n"), true), (format!("\u{feff}{header}\n"), true)]
    {
        let scratch = Scratch::new();
        let dir = whole(&scratch, "demo", &[header.clone(), "not json\n".into(), user(1, "a")]);
        fs::set_permissions(&dir, Permissions::from_mode(0o755)).expect("it is ours");
        let before = history(&scratch, "demo");
        drop(repair(&scratch));
        assert_eq!(history(&scratch, "demo"), before, "{header:?}");
        let odd = is_odd.then_some(FindingCode::OddLine);
        let wanted: Vec<_> = odd.into_iter().chain([FindingCode::BadLine, FindingCode::NewerFormat]).collect();
        assert_eq!(codes(&scratch, "demo"), wanted, "{header:?}");
    }
}

#[test]
fn a_record_in_the_trash_without_its_session_is_removed_and_what_holds_something_is_not() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant three oaks")]);
    let (lone, held) = (scratch.dir(".session-store/trash/lone"), scratch.dir(".session-store/trash/held"));
    scratch.put(".session-store/trash/lone/record.json", "{}");
    scratch.put(".session-store/trash/held/acorn", "kept");
    for dir in [&lone, &held] {
        crate::scratch::touch(dir, at_second(1_700_000_000));
    }
    let found = scratch.store().examine(&Checkup::default()).expect("the store can be read").findings;
    let of = |path: &Path| found.iter().find(|finding| finding.path == path).map(|finding| finding.fix.is_some());
    assert_eq!((of(&lone), of(&held)), (Some(true), Some(false)), "{found:?}");

    drop(repair(&scratch));
    assert!(!lone.exists() && held.join("acorn").exists());
}
