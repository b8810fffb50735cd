//! Secrets in the files of a session: all are found, masked in place, and nothing else changes.

use crate::garden::{FAIL, Garden, STOP, at_every_step_of};
use crate::scratch::{Scratch, identity_json, lines, name, picture};
use crate::support::ts;
use session_core::checkpoint::{CheckpointRef, CheckpointedFile};
use session_core::{Event, Message, Redact as _, ToolCall};
use session_disk::faults::{Fault, with};
use session_store::{Durability, NewSession, Options, ScrubBackup, Scrubbed, SecretScan, StoreError, TitleSource};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A token that nobody has, put together so that no scanner takes it for real.
fn token() -> String {
    ["gh", "p_q7Zr2LmX9aBv4Kd8", "TyW3nHs6Pj1FcG5uEo99"].concat()
}

/// Passwords that only their contexts tell: one stands in the history alone, the other in spilled output.
const IN_HISTORY: &str = "Birch-and-9-oaks";
const IN_SPILL: &str = "Larch-and-7-elms";

/// A session with secrets in every file.
fn planted() -> Scratch {
    let scratch = Scratch::new();
    let store = scratch.store_with(Options { durability: Durability::Os, ..Options::default() });
    let new = NewSession { name: Some(name("demo")), prompt: format!("use {}", token()), ..NewSession::default() };
    let session = store.create(&new).expect("it can be created");
    let call = ToolCall {
        id: format!("call_{}", token()).into(),
        call_type: "function".into(),
        name: "Shell".into(),
        arguments: format!("{{\"cmd\":\"curl https://oak:{IN_HISTORY}@example.org\\n\"}}"),
        ..ToolCall::default()
    };
    let mut assistant = Message { tool_calls: [call].into(), ..Message::assistant("planting") };
    assistant.extra.set("signature", &token().into());
    assistant.reasoning_content = format!("the token is\n{}", token()).into();
    let result = Message::tool_result(&format!("call_{}", token()), "Shell", format!("{{\"t\":\"{IN_SPILL}\"}} é\n"));
    session.append_messages([Message::user(format!("use {}", token())), assistant, result]).expect("it is there");
    session.set_title(&format!("With {}", token()), TitleSource::User).expect("it is there");
    drop(session);
    scratch.put(
        "demo/tmp/build-0123456789abcdef.txt",
        format!("DB_PASSWORD={IN_SPILL}\nthree oaks\nsaid {IN_HISTORY}.\n"),
    );
    let record = format!(
        "{{\"id\":\"bg1\",\"name\":\"t\",\"command\":\"T={} make\",\"cwd\":\"/w\",\"pid\":1,\"started\":\"2026-01-02T03:04:05Z\",\"report\":\"exit\",\"state\":\"exited\",\"exit_code\":0,\"ended\":\"2026-01-02T03:04:06Z\"}}\n",
        token()
    );
    scratch.put("demo/proc/bg1.json", record);
    scratch.put("demo/proc/bg1.log", format!("first\nlogged {}\nlast\n", token()));
    scratch.put(
        "demo/inbox/1767323045000000000-4711",
        format!("{{\"kind\":\"user_line\",\"text\":\"{}\",\"at\":\"2026-01-02T03:04:05Z\"}}", token()),
    );
    scratch.put("demo/.quarantine/history-0-9-0011223344556677", format!("{{\"ts\":\"2026 {}", token()));
    scratch.put("demo.jsonl.migrated", format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", token()));
    scratch
}

fn scan(scratch: &Scratch) -> SecretScan {
    scratch.store().scan_secrets(&name("demo"), None, &mut |_| {}).expect("it can be read")
}

fn scrub(scratch: &Scratch, backup: ScrubBackup) -> session_store::Result<Scrubbed> {
    scratch.store().scrub(&name("demo"), backup, None, &mut |_| {})
}

/// The files below the store with their bytes, but for locks and what the scrub keeps.
fn contents(scratch: &Scratch) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut open = vec![scratch.base()];
    let mut contents = BTreeMap::new();
    while let Some(path) = open.pop() {
        let is_passed_over = path.ends_with(".backup") || path.ends_with(".lock") || path.ends_with(".meta.lock");
        match path.is_dir() {
            _ if is_passed_over => {}
            true => open.extend(fs::read_dir(&path).expect("it can be read").flatten().map(|entry| entry.path())),
            false => drop(contents.insert(path.clone(), fs::read(&path).expect("it can be read"))),
        }
    }
    contents
}

fn holds(path: &Path, needle: &str) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
}

/// What each file becomes: the secrets masked, but for ids and signatures.
fn masked(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(bytes.to_vec()).expect("the files are text");
    let mask = |text: String, secret: &str| text.replace(secret, &"*".repeat(secret.len()));
    let kept = |text: &str| {
        text.replace(&format!("call_{}", token()), "call_#")
            .replace(&format!("\"signature\":\"{}", token()), "\"signature\":\"#")
    };
    let text = [&token(), IN_HISTORY, IN_SPILL].into_iter().fold(kept(&text), mask);
    text.replace("call_#", &format!("call_{}", token()))
        .replace("\"signature\":\"#", &format!("\"signature\":\"{}", token()))
        .into_bytes()
}

#[test]
fn s02_who_passes_on_a_part_of_a_session_knows_what_all_of_it_tells_to_be_a_secret() {
    let scratch = planted();
    let known = scratch.store().known_secrets(&name("demo")).expect("it can be read");
    let redactor = session_secrets::Redactor::knowing(&known);
    for secret in [IN_HISTORY, IN_SPILL, &token()] {
        let masked = redactor.text(&format!("said {secret}.")).expect("it can tell").into_owned();
        assert_eq!(masked, format!("said {}.", "*".repeat(secret.len())));
    }
}

#[test]
fn s01_every_file_is_looked_through_and_nothing_is_touched() {
    let scratch = planted();
    let before = picture(&scratch.base());
    let scan = scan(&scratch);
    assert_eq!(picture(&scratch.base()), before);
    let files: BTreeSet<&str> = scan.hits.iter().map(|hit| hit.file.as_str()).collect();
    let wanted = [
        ".meta.json",
        ".quarantine/history-0-9-0011223344556677",
        "demo.jsonl.migrated",
        "history.jsonl",
        "inbox/1767323045000000000-4711",
        "meta.json",
        "proc/bg1.json",
        "proc/bg1.log",
        "tmp/build-0123456789abcdef.txt",
    ];
    assert_eq!(files, BTreeSet::from(wanted));
    for hit in &scan.hits {
        let path =
            if hit.file.starts_with("demo.") { scratch.path(&hit.file) } else { scratch.path("demo").join(&hit.file) };
        let bytes = fs::read(path).expect("it is there");
        let at = usize::try_from(hit.offset).expect("files are small");
        assert!(bytes[at..].starts_with(hit.beginning.as_bytes()), "{hit:?}");
        assert!(hit.beginning.len() <= 4, "a secret is not told: {hit:?}");
    }
    let alone: Vec<(&str, Option<u64>)> = scan
        .hits
        .iter()
        .filter(|hit| hit.by_itself && hit.rule != "github-pat")
        .map(|hit| (hit.file.as_str(), hit.line))
        .collect();
    assert_eq!(alone, [("tmp/build-0123456789abcdef.txt", None), ("history.jsonl", Some(4))]);
    assert!(scan.unexamined.is_empty() && scan.backups.is_empty());
}

#[test]
fn s02_scrubbing_masks_the_secrets_and_changes_no_other_byte() {
    let scratch = planted();
    let before = contents(&scratch);
    let scrubbed = scrub(&scratch, ScrubBackup::Keep).expect("nothing forbids it");
    let after = contents(&scratch);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    for (path, bytes) in &before {
        let is_history = path.ends_with("history.jsonl");
        let now = if is_history { &after[path][..bytes.len()] } else { &after[path][..] };
        assert_eq!(String::from_utf8_lossy(now), String::from_utf8_lossy(&masked(bytes)), "{path:?}");
    }
    // One notice, and nothing to be found any more.
    let history = lines(&after[&scratch.path("demo/history.jsonl")]);
    let notices: Vec<&String> = history.iter().filter(|line| line.contains("\"notice\"")).collect();
    assert_eq!(notices.len(), 1);
    assert!(notices[0].contains("secrets were masked at") && notices[0].contains("github-pat"), "{notices:?}");
    assert_eq!(scan(&scratch).hits, []);
    // What was there before is kept, and told.
    assert_eq!(scan(&scratch).backups.len(), scrubbed.kept.len());
    let kept = |file: &str| {
        scrubbed
            .kept
            .iter()
            .map(|kept| scratch.path("demo").join(kept))
            .find(|kept| kept.to_string_lossy().contains(file))
    };
    let history = kept("history-").expect("it is kept");
    assert_eq!(fs::read(history).expect("it is there"), before[&scratch.path("demo/history.jsonl")]);
    let log = kept("scrub-").expect("it is kept").join("proc/bg1.log");
    assert_eq!(fs::read(log).expect("it is there"), before[&scratch.path("demo/proc/bg1.log")]);
    // The conversation is as long as it was, and the session can be used.
    let session = scratch.store().open(&name("demo")).expect("it is there");
    assert_eq!(session.load().expect("it can be read").messages.len(), 3);
    session.append_messages([Message::user("go on")]).expect("it can be written");
}

#[test]
fn s02_scrubbing_twice_is_scrubbing_once() {
    let scratch = planted();
    scrub(&scratch, ScrubBackup::Keep).expect("nothing forbids it");
    let before = contents(&scratch);
    let again = scrub(&scratch, ScrubBackup::Keep).expect("nothing forbids it");
    assert_eq!((again.files.len(), again.kept.len(), again.scan.hits.len()), (0, 0, 0));
    assert_eq!(contents(&scratch), before);
}

#[test]
fn s01_without_backups_no_file_holds_the_secret() {
    let scratch = planted();
    let scrubbed = scrub(&scratch, ScrubBackup::Drop).expect("nothing forbids it");
    assert_eq!((scrubbed.kept.len(), scrubbed.scan.backups.len()), (0, 0));
    let mut open = vec![scratch.base()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("it can be read").flatten().map(|entry| entry.path()));
        } else if !path.ends_with("history.jsonl") {
            assert!(![&token(), IN_HISTORY, IN_SPILL].iter().any(|secret| holds(&path, secret)), "{path:?}");
        }
    }
}

#[test]
fn s02_a_session_in_use_is_not_scrubbed() {
    let scratch = planted();
    let before = contents(&scratch);
    let session = scratch.store().open(&name("demo")).expect("it is there");
    let lock = session.lock().expect("it is free");
    let locked = scrub(&scratch, ScrubBackup::Keep).expect_err("somebody holds the lock");
    assert!(matches!(locked, StoreError::Locked { .. }), "{locked}");
    let turn = session.begin_turn(&lock, "t1").expect("nothing forbids it");
    let live = scrub(&scratch, ScrubBackup::Keep).expect_err("a turn is live");
    assert!(matches!(live, StoreError::LiveTurn { .. }), "{live}");
    drop(turn);
    let sleeper = crate::scratch::Sleeper::start();
    let (own, id) = (sleeper.identity(), scratch.path("demo/proc/.bg2.id"));
    scratch.put(&id, format!("{{\"process\":{},\"started\":\"2026-01-02T03:04:05Z\"}}", identity_json(&own)));
    let record = fs::read_to_string(scratch.path("demo/proc/bg1.json")).expect("it is there");
    let record = record
        .replace("bg1", "bg2")
        .replace("exited", "running")
        .replace("\"pid\":1,", &format!("\"pid\":{},", own.pid));
    scratch.put("demo/proc/bg2.json", record);
    lock.release().expect("it is held");
    let running = scrub(&scratch, ScrubBackup::Keep).expect_err("a process writes its log");
    assert!(matches!(running, StoreError::Running { .. }), "{running}");
    let after = contents(&scratch);
    assert!(before.iter().all(|(path, bytes)| path.to_string_lossy().contains("/proc/") || after[path] == *bytes));
}

#[test]
fn s02_a_scrub_that_fails_or_dies_at_any_step_loses_nothing_and_is_ended_by_repeating_it() {
    at_every_step_of(&[FAIL, STOP], 20, |fault| {
        // A disk that stops is tried at every operation; of one that fails once a sample is enough.
        let is_long = session_testing::is_long();
        if matches!(fault, Fault::Fail { at } if at % 4 != 0) && !is_long {
            return true;
        }
        let scratch = planted();
        let before = contents(&scratch);
        let run = with(fault, || scrub(&scratch, ScrubBackup::Keep));
        // Each file is old, or has some of its secrets masked; none is shorter.
        let between = contents(&scratch);
        for (path, bytes) in &before {
            let now = between.get(path).unwrap_or_else(|| panic!("{fault:?}: {path:?} is gone"));
            let wanted = masked(bytes);
            let is_between = now.len() >= bytes.len()
                && now.iter().zip(bytes.iter().zip(&wanted)).all(|(now, (old, new))| now == old || now == new);
            assert!(is_between, "{fault:?}: {path:?}");
        }
        scrub(&scratch, ScrubBackup::Keep).unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        let after = contents(&scratch);
        for (path, bytes) in &before {
            assert!(after[path].starts_with(&masked(bytes)), "{fault:?}: {path:?}");
        }
        assert_eq!(scan(&scratch).hits, [], "{fault:?}");
        run.hit
    });
}

#[test]
fn a_session_that_another_goes_on_with_is_scrubbed_by_its_own_name() {
    let scratch = planted();
    let store = scratch.store();
    let session = store.open(&name("demo")).expect("it is there");
    let lock = session.lock().expect("it is free");
    let compaction = session_store::Compaction { name: Some(name("next")), summary: "oaks".into() };
    store.compact(&session, &lock, &compaction, None).map(drop).expect("nothing forbids it");
    drop((lock, session));
    let scrubbed = scrub(&scratch, ScrubBackup::Drop).expect("nothing forbids it");
    assert!(scrubbed.files.contains(&"history.jsonl".to_owned()));
    assert_eq!(scan(&scratch).hits, []);
}

#[test]
fn s01_checkpoints_that_hold_a_secret_are_told_and_stay() {
    let garden = Garden::new();
    let session = garden.create("demo");
    fs::write(garden.work().join("config.sh"), format!("A=1\nT={}\n", token())).expect("the workspace is ours");
    garden.take(&session);
    fs::write(garden.work().join("more"), "four").expect("the workspace is ours");
    garden.take(&session);
    session.append(&[Event::message(ts(), Message::user("hello"))]).expect("nothing forbids it");
    let scrubbed = garden
        .store()
        .scrub(&name("demo"), ScrubBackup::Keep, Some(&garden.checkpoints("demo")), &mut |_| {})
        .expect("nothing forbids it");
    let wanted = CheckpointedFile { checkpoint: CheckpointRef::Taken(2), path: "config.sh".into() };
    assert_eq!((&scrubbed.scan.checkpoints[..], &scrubbed.scan.unexamined[..]), (&[wanted][..], &[][..]));
    assert_eq!((scrubbed.scan.hits.len(), scrubbed.files.len()), (0, 0));
}

#[test]
fn a_flat_file_is_scanned_as_it_stands() {
    let scratch = Scratch::new();
    scratch.put("demo.jsonl", format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", token()));
    let before = picture(&scratch.base());
    let hits = scan(&scratch).hits;
    assert_eq!(hits.iter().map(|hit| (hit.file.as_str(), hit.line)).collect::<Vec<_>>(), [("demo.jsonl", Some(1))]);
    assert_eq!(picture(&scratch.base()), before);
    scrub(&scratch, ScrubBackup::Drop).expect("nothing forbids it");
    assert_eq!(scan(&scratch).hits, []);
}
