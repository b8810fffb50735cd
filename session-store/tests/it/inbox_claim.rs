//! Claiming messages, and what becomes of them when somebody dies.

use crate::child::{self, Running};
use crate::inbox_deliver::{rows, user_line};
use crate::support::{Session, files, said};
use serde_json::Value;
use session_core::Event;
use session_proc::Identity;
use session_store::{Access, Drained, InboxMessage, StoreError, Unfit, inbox_ids, record_inbox_ids};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

pub(crate) fn own() -> Identity {
    Identity::own().expect("there is a /proc")
}

pub(crate) fn texts(drained: &Drained) -> Vec<&str> {
    drained.messages.iter().map(|claimed| claimed.message.text.as_str()).collect()
}

fn ids(drained: &Drained) -> Vec<&str> {
    drained.messages.iter().map(|claimed| claimed.id.as_str()).collect()
}

/// Makes a file old enough to be judged.
fn age(path: &Path) {
    let file = File::options().write(true).open(path).expect("it was just written");
    file.set_modified(SystemTime::now() - Duration::from_secs(3)).expect("a file has a time");
}

/// An identity whose process is gone: that of a child that was waited for.
pub(crate) fn dead() -> Identity {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("there is a sleep");
    let pid = i32::try_from(child.id()).expect("a pid is small");
    let identity = Identity::of(pid).expect("there is a /proc").expect("it sleeps");
    child.kill().expect("it sleeps");
    child.wait().expect("it was killed");
    identity
}

fn event_for(drained: &Drained, text: &str) -> Event {
    let mut event = said(text);
    record_inbox_ids(&mut event, ids(drained));
    event
}

/// Claims as a process that then dies.
fn claim_and_die(session: &Session) -> Drained {
    let drainer = session.inbox().drainer(Access::LockHolder, &dead()).expect("there is a /proc");
    session.claim_as(&drainer.expect("the lock is enough"))
}

fn put(dir: &Path, file: &Value) {
    let path = dir.join(file["name"].as_str().expect("a file has a name"));
    if file["dir"] == true {
        fs::create_dir(&path).expect("the inbox is new");
    } else if let Some(target) = file["link"].as_str() {
        symlink(target, &path).expect("the inbox is new");
    } else {
        let text = |member: &str| file[member].as_str().unwrap_or_default();
        let count = usize::try_from(file["count"].as_u64().unwrap_or(0)).expect("it is small");
        let bytes = format!("{}{}{}{}", text("text"), text("head"), text("repeat").repeat(count), text("tail"));
        fs::write(&path, bytes).expect("there is room");
        age(&path);
    }
}

#[test]
fn a_message_that_is_given_back_where_another_has_its_name_waits_beside_it_and_comes_first() {
    let session = Session::new();
    session.inbox().deliver(&user_line("plant")).expect("nothing forbids it");
    let taken = files(&session.paths.inbox());
    let drained = session.claim();
    fs::write(&taken[0], user_line("dig").to_json()).expect("the name is free");

    session.inbox().release(ids(&drained)).expect("it was claimed");
    assert_eq!(texts(&session.claim()), ["plant", "dig"]);
}

#[test]
fn what_the_reference_drains_is_claimed_and_what_it_deletes_unread_is_kept() {
    let rows = rows("drain.jsonl");
    assert_eq!(rows.len(), 5);
    for row in rows {
        let case = row["case"].as_str().expect("a row has a case");
        let session = Session::new();
        let inbox = session.paths.inbox();
        fs::create_dir(&inbox).expect("the session is new");
        let put_there = row["files"].as_array().expect("a row has files");
        put_there.iter().for_each(|file| put(&inbox, file));
        let drained = session.claim();

        let expected: Vec<&Value> = row["drained"].as_array().expect("a row has messages").iter().collect();
        assert_eq!(drained.messages.len(), expected.len(), "{case}");
        for (claimed, expected) in drained.messages.iter().zip(expected) {
            assert_eq!(claimed.message.kind, expected["kind"].as_str().expect("a message has a kind"), "{case}");
            let text = expected["text"].as_str().expect("a message has a text");
            match expected["text_bytes"].as_u64() {
                Some(bytes) => assert_eq!(claimed.message.text.len() as u64, bytes, "{case}"),
                None => assert_eq!(claimed.message.text, text, "{case}"),
            }
        }
        // Only what was claimed or is in `.failed` has left; the reference deletes the latter.
        let left: Vec<&str> =
            row["left"].as_array().expect("a row has what is left").iter().filter_map(Value::as_str).collect();
        let of_ours = [".claims", ".failed"].map(OsStr::new);
        let there: Vec<_> =
            files(&inbox).into_iter().filter_map(|path| path.file_name().map(OsStr::to_owned)).collect();
        let there: Vec<_> = there.into_iter().filter(|name| !of_ours.contains(&name.as_os_str())).collect();
        assert_eq!(there, left, "{case}");
        assert_eq!(drained.failed.len(), put_there.len() - drained.messages.len() - left.len(), "{case}");
        for failed in &drained.failed {
            let original = put_there.iter().find(|file| file["name"].as_str() == failed.name.to_str());
            assert!(original.is_some() && failed.path.exists(), "{case}: {failed:?}");
        }
    }
}

#[test]
fn the_json_of_the_reference_is_read_whatever_its_spaces_and_the_case_of_its_keys() {
    let read = |text: &str| InboxMessage::parse(text.as_bytes());
    let at = session_core::parse_time("2026-09-03T08:15:01.5+05:30").expect("it is well formed");
    let expected = InboxMessage { kind: "notice".into(), at, ..user_line(" n ") };
    let json = r#" { "Kind": "notice", "TEXT": " n ", "at": "2026-09-03T08:15:01.5+05:30", "more": 1 } "#;
    assert_eq!(read(json), Some(expected));
    for odd in [r#"{"kind":"k","text":5}"#, r#"{"kind":5,"text":"t"}"#, r#"{"kind":"k","at":"today"}"#, "[1]", "{"] {
        let message = read(odd).expect("it is a line of the user");
        assert_eq!((message.kind.as_str(), message.text.as_str()), ("user_line", odd));
    }
}

#[test]
fn i01_a_message_whose_taker_died_before_recording_it_is_handed_out_again() {
    let session = Session::new();
    session.inbox().deliver(&user_line("use tabs")).expect("it can be delivered");
    let first = claim_and_die(&session);
    assert_eq!(texts(&first), ["use tabs"]);
    let second = session.claim();
    assert_eq!(second.messages, first.messages, "the same message under the same id");
    // It is this process's now, which lives.
    assert!(session.claim().is_empty());

    session.append(&[event_for(&second, "use tabs")]).expect("it can be written");
    session.inbox().acknowledge(ids(&second)).expect("it was claimed");
    assert!(files(&session.paths.inbox().join(".claims")).is_empty());
    assert!(session.claim().is_empty());
}

#[test]
fn i01_a_message_whose_taker_died_after_recording_it_is_not_handed_out_again() {
    let session = Session::new();
    session.inbox().deliver(&user_line("a")).expect("it can be delivered");
    session.inbox().deliver(&user_line("b")).expect("it can be delivered");
    let first = claim_and_die(&session);
    // It recorded one of the two, and the conversation went on.
    let mut event = said("a");
    record_inbox_ids(&mut event, [ids(&first)[0]]);
    session
        .append(&[event.clone(), said("more"), Event::rollback(crate::support::ts(), 2)])
        .expect("it can be written");
    assert_eq!(inbox_ids(&event), [ids(&first)[0]]);

    let second = session.claim();
    assert_eq!(second.recorded, [ids(&first)[0]]);
    assert_eq!(second.messages, first.messages[1..]);
    assert_eq!(files(&session.paths.inbox().join(".claims")).len(), 1);
}

#[test]
fn i02_identical_texts_are_different_messages_and_so_is_a_name_that_comes_again() {
    let session = Session::new();
    let note = session.paths.inbox().join("1767323045000000000-7");
    session.inbox().deliver(&user_line("again")).expect("it can be delivered");
    session.inbox().deliver(&user_line("again")).expect("it can be delivered");
    fs::write(&note, "again").expect("there is room");
    let first = session.claim();
    assert_eq!(texts(&first), ["again"; 3]);
    session.append(&[event_for(&first, "again")]).expect("it can be written");
    session.inbox().acknowledge(ids(&first)).expect("they were claimed");

    // The same name once more, and its taker dies: it is not the one that was recorded.
    fs::write(&note, "again").expect("there is room");
    let lost = claim_and_die(&session);
    let second = session.claim();
    assert_eq!((ids(&second), texts(&second)), (ids(&lost), vec!["again"]));
    let all: BTreeSet<&str> = ids(&first).into_iter().chain(ids(&second)).collect();
    assert_eq!(all.len(), 4);
}

#[test]
fn i02_what_cannot_be_delivered_is_moved_aside_with_its_reason_and_told_once() {
    let session = Session::new();
    let inbox = session.paths.inbox();
    fs::create_dir(&inbox).expect("the session is new");
    fs::write(inbox.join("large"), vec![b'x'; 65_537]).expect("there is room");
    fs::write(inbox.join("old"), " \n").expect("there is room");
    age(&inbox.join("old"));
    fs::write(inbox.join("young"), "").expect("there is room");
    let drained = session.claim();
    let why: Vec<_> = drained.failed.iter().map(|failed| (failed.name.to_str(), failed.why.to_string())).collect();
    let large = "it has 65537 bytes, 65536 are allowed".to_owned();
    assert_eq!(why, [(Some("large"), large.clone()), (Some("old"), "it is empty".to_owned())]);
    assert!(matches!(drained.failed[0].why, Unfit::TooLarge { bytes: 65_537 }));
    assert_eq!(fs::read(&drained.failed[0].path).expect("it is kept").len(), 65_537);
    let mut reason = drained.failed[0].path.clone().into_os_string();
    reason.push(".reason");
    let reason = fs::read_to_string(reason).expect("the reason stands beside it");
    assert_eq!(reason, format!("\"large\" was not delivered: {large}\n"));
    assert!(session.claim().is_empty(), "it is told once");

    fs::write(inbox.join("young"), "now").expect("it still waits");
    assert_eq!(texts(&session.claim()), ["now"]);
}

#[test]
fn what_is_no_regular_file_is_left_alone_and_never_blocks() {
    let session = Session::new();
    let inbox = session.paths.inbox();
    fs::create_dir(&inbox).expect("the session is new");
    nix::unistd::mkfifo(&inbox.join("fifo"), nix::sys::stat::Mode::S_IRWXU).expect("the name is free");
    fs::write(session.base().join("outside"), "secret").expect("there is room");
    symlink(session.base().join("outside"), inbox.join("link")).expect("the name is free");
    fs::create_dir(inbox.join("dir")).expect("the name is free");
    fs::write(inbox.join(".dot"), "half written").expect("there is room");
    fs::write(inbox.join("note"), "hello").expect("there is room");
    let before = files(&inbox);
    assert_eq!(session.inbox().list().expect("it can be read").len(), 1);
    assert_eq!(texts(&session.claim()), ["hello"]);
    let after: Vec<_> = files(&inbox).into_iter().filter(|path| !path.ends_with(".claims")).collect();
    assert_eq!(after, before.into_iter().filter(|path| !path.ends_with("note")).collect::<Vec<_>>());
}

#[test]
fn i05_messages_come_in_the_order_of_their_names_and_the_orphans_first() {
    let session = Session::new();
    let inbox = session.paths.inbox();
    for n in 0..20_u32 {
        let at =
            session_core::parse_time(&format!("2026-01-02T03:04:{:02}Z", (n * 7) % 20)).expect("it is well formed");
        session.inbox().deliver(&InboxMessage { at, ..user_line(&at.to_rfc3339()) }).expect("it can be delivered");
    }
    fs::write(inbox.join("z"), "by hand").expect("there is room");
    let first = claim_and_die(&session);
    assert_eq!(first.messages.len(), 21);
    assert!(texts(&first)[..20].is_sorted());
    fs::write(inbox.join("1"), "later, but its name is the first").expect("there is room");
    let second = session.claim();
    assert_eq!(texts(&second).last(), Some(&"later, but its name is the first"));
    assert_eq!(second.messages.len(), 22);
}

#[test]
fn a_claimed_message_can_be_given_back() {
    let session = Session::new();
    let name = session.inbox().deliver(&user_line("a")).expect("it can be delivered");
    let first = session.claim();
    session.inbox().release([ids(&first)[0]]).expect("it was claimed");
    assert_eq!(files(&session.paths.inbox().join(".claims")), [] as [std::path::PathBuf; 0]);
    let listed = session.inbox().list().expect("it can be read");
    assert_eq!(listed[0].name.to_str(), Some(&*name));
    assert_eq!(texts(&session.claim()), ["a"]);
}

#[test]
fn an_id_that_names_no_claim_is_an_error_and_the_others_are_removed() {
    let session = Session::new();
    session.inbox().deliver(&user_line("a")).expect("it can be delivered");
    let drained = session.claim();
    let error = session.inbox().acknowledge(["../../x", ids(&drained)[0]]).expect_err("one of them is none");
    assert!(matches!(error, StoreError::NoSuchClaim { ref id, .. } if id == "../../x"), "{error}");
    assert!(files(&session.paths.inbox().join(".claims")).is_empty());
    session.inbox().release([ids(&drained)[0]]).expect_err("it is gone");
}

/// Claims, records and acknowledges until nothing comes any more.
#[test]
fn child_that_drains() {
    let Some(task) = child::task() else { return };
    let [dir, rounds] = &task[..] else { panic!("{task:?}") };
    let paths = session_store::SessionPaths::new(dir);
    let inbox = session_store::Inbox::new(paths.clone(), "demo", session_store::Durability::Os);
    let mut history = session_store::History::new(paths.clone(), "demo", crate::support::quick());
    let drainer = inbox.drainer(Access::Forced, &own()).expect("there is a /proc").expect("that is enough");
    for _ in 0..rounds.parse().expect("a number") {
        let view = || session_store::HistoryView::open(&paths, Default::default());
        let recorded = |ids: &BTreeSet<String>| session_store::recorded_inbox_ids(&view()?, ids);
        let drained = inbox.claim(&drainer, recorded).expect("it can be drained");
        for claimed in drained.messages {
            let mut event = said(&claimed.message.text);
            record_inbox_ids(&mut event, [&*claimed.id]);
            history.append(&[event], Vec::new).expect("it can be written");
            inbox.acknowledge([&*claimed.id]).expect("it was claimed");
        }
        if child::is_orphan() {
            return;
        }
    }
}

#[test]
fn i01_i28_drainers_that_race_and_are_killed_record_each_message_exactly_once() {
    let session = Session::new();
    let dir = session.paths.dir().display().to_string();
    let start = |rounds: &str| Running::start(child::command("inbox_claim::child_that_drains", &[&*dir, rounds]));
    let mut delivered = Vec::new();
    for round in 0..6 {
        let mut drainers = [start("1000000"), start("1000000")];
        for n in 0..40 {
            delivered.push(format!("{round}-{n}"));
            session.inbox().deliver(&user_line(&delivered[delivered.len() - 1])).expect("it can be delivered");
        }
        // In the middle of their work, as a rule.
        let limit = Instant::now() + Duration::from_secs(60);
        while session.inbox().list().expect("it can be read").len() > 10 {
            assert!(Instant::now() < limit, "nobody drains");
            thread::yield_now();
        }
        drainers.iter_mut().for_each(Running::kill);
    }
    assert!(start("2").wait().success());
    let mut texts = session.texts();
    texts.sort();
    delivered.sort();
    assert_eq!(texts, delivered);
    assert_eq!(session.load().defects, []);
    assert!(files(&session.paths.inbox().join(".claims")).is_empty());
}
