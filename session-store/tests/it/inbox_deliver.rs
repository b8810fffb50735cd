//! Delivering messages, and looking at what waits.

use crate::support::{Session, files, ts};
use serde_json::Value;
use session_core::{layout, parse_time};
use session_store::{Durability, Inbox, InboxMessage, StoreError, Terms, USER_LINE};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// The rows of a recorded vector.
pub(crate) fn rows(name: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/inbox").join(name);
    let text = fs::read_to_string(path).expect("the vectors are ASCII");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

pub(crate) fn user_line(text: &str) -> InboxMessage {
    InboxMessage { kind: USER_LINE.to_owned(), text: text.to_owned(), at: ts(), terms: Terms::default() }
}

#[test]
fn a_delivered_message_has_the_references_name_mode_and_bytes() {
    let mut compared = 0;
    for row in rows("deliver.jsonl") {
        let text = |member: &str| row[member].as_str().unwrap_or_default();
        // Without a time the reference takes the local one; ours is always in UTC.
        let Some(at) = row["at"].as_str() else { continue };
        let at = parse_time(at).expect("a recorded time is well formed");
        let message = InboxMessage { kind: text("kind").to_owned(), at, ..user_line(text("text")) };
        let session = Session::new();
        let name = session.inbox().deliver(&message).expect("it can be delivered");

        let (time, random) = name.split_once('-').expect("a name has two parts");
        assert_eq!(text("file_name").strip_suffix("-<random digits>"), Some(time));
        assert!(!random.is_empty() && random.bytes().all(|byte| byte.is_ascii_digit()));
        let path = session.paths.inbox().join(&name);
        assert_eq!(fs::read_to_string(&path).expect("it was delivered"), text("bytes"));
        assert_eq!(fs::metadata(&path).expect("it was delivered").permissions().mode() & 0o777, 0o600);
        assert_eq!(files(&session.paths.inbox()), [path], "nothing is left over");
        compared += 1;
    }
    assert_eq!(compared, 5);
}

#[test]
fn a_message_that_the_reference_would_delete_unread_is_refused() {
    let session = Session::new();
    let frame = user_line("").to_json().len();
    let limit = usize::try_from(layout::MAX_INBOX_BYTES).expect("it is small");
    session.inbox().deliver(&user_line(&"x".repeat(limit - frame))).expect("this one fits");
    let error = session.inbox().deliver(&user_line(&"x".repeat(limit - frame + 1))).expect_err("this one does not");
    assert!(matches!(error, StoreError::MessageTooLarge { bytes: 65_537, limit: 65_536, .. }), "{error}");
    assert_eq!(files(&session.paths.inbox()).len(), 1);
    assert_eq!(session.claim().messages.len(), 1);
}

#[test]
fn a_message_to_a_session_that_is_gone_creates_nothing() {
    let session = Session::new();
    let inbox = session.inbox();
    fs::remove_dir(session.paths.dir()).expect("it is empty");
    let error = inbox.deliver(&user_line("a")).expect_err("there is no session");
    assert!(matches!(error, StoreError::Deleted { .. }), "{error}");
    assert!(files(session.base()).is_empty());
    assert_eq!(inbox.list().expect("there is nothing to fail"), []);
}

#[test]
fn s04_everything_in_the_inbox_is_private() {
    let session = Session::new();
    let inbox = Inbox::new(session.paths.clone(), "demo", Durability::Data);
    inbox.deliver(&user_line("a")).expect("it can be delivered");
    fs::write(session.paths.inbox().join("large"), vec![b'x'; 70_000]).expect("there is room");
    drop(session.claim());
    for dir in [session.paths.inbox(), session.paths.inbox().join(".claims"), session.paths.inbox().join(".failed")] {
        assert_eq!(fs::metadata(dir).expect("it is there").permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn what_waits_is_listed_in_order_and_can_be_taken_back() {
    let session = Session::new();
    let inbox = session.inbox();
    let names: Vec<String> =
        (0..3).map(|n| inbox.deliver(&user_line(&n.to_string())).expect("it can be delivered")).collect();
    fs::write(session.paths.inbox().join("note.txt"), " by hand \n").expect("there is room");
    fs::write(session.paths.inbox().join("young"), "").expect("there is room");
    let listed = inbox.list().expect("it can be read");
    assert_eq!(listed.len(), 5);
    assert!(listed.is_sorted_by_key(|pending| pending.name.clone()));
    let texts: Vec<_> = listed.iter().map(|pending| pending.message.as_ref().map(|m| m.text.as_str())).collect();
    assert_eq!(texts[3..], [Some("by hand"), None]);

    let cancelled = inbox.cancel(OsStr::new(&names[1])).expect("it can be removed").expect("it waits");
    assert_eq!(cancelled.message, Some(user_line("1")));
    for nothing in [&names[1], "", ".", "..", "../history.jsonl", ".claims", "/etc/passwd", "a/b"] {
        assert_eq!(inbox.cancel(OsStr::new(nothing)).expect("there is nothing to fail"), None, "{nothing:?}");
    }
    let left: Vec<String> = session.claim().messages.into_iter().map(|claimed| claimed.message.text).collect();
    assert_eq!(left.len(), 3);
    assert!(!left.contains(&"1".to_owned()));
}
