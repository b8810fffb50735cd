//! Histories that were replaced, and copies without secrets.

use super::{Machine, named, on_s3};
use session_core::{Redact, RedactError, TitleSource};
use session_store::StoreError;
use session_store::remote::{Change, PushOptions, RemoteError};
use session_testing::s3::S3;
use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::Duration;

/// Masks one word.
struct Masks(&'static str);

impl Redact for Masks {
    fn text<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, RedactError> {
        if text.contains("poison") {
            return Err("cannot tell".into());
        }
        Ok(if text.contains(self.0) { text.replace(self.0, "*******").into() } else { text.into() })
    }
}

fn redacted() -> PushOptions {
    PushOptions { redactor: Some(Arc::new(Masks("hunter2"))), ..PushOptions::default() }
}

/// Replaces a word in a history as a scrub does: by a new file in the place of the old one.
fn scrub(machine: &Machine, name: &str) {
    let path = machine.path(name).join("history.jsonl");
    let text = String::from_utf8(machine.history(name)).expect("it is text").replace("hunter2", "*******");
    let backup = machine.path(name).join(".backup");
    std::fs::create_dir_all(&backup).expect("there is room");
    std::fs::rename(&path, backup.join("history-20260102T030405Z-9999-0000000000000000")).expect("there is room");
    std::fs::write(&path, text).expect("there is room");
}

#[test]
fn a_history_that_was_scrubbed_is_a_new_generation_and_replaces_only_what_it_continues() {
    let server = S3::start();
    let (oak, elm, ash) =
        (Machine::new(on_s3(&server, "oak")), Machine::new(on_s3(&server, "elm")), Machine::new(on_s3(&server, "ash")));
    oak.create("demo");
    oak.says("demo", "the password is hunter2");
    oak.push("demo").expect("it can be sent");
    elm.pull("demo").expect("it can be fetched");
    ash.pull("demo").expect("it can be fetched");
    ash.says("demo", "something of its own");
    scrub(&oak, "demo");
    oak.says("demo", "scrubbed");
    let pushed = oak.push("demo").expect("it can be sent");
    assert_eq!((pushed.change, pushed.generation), (Change::Replaced, 2));
    // Nothing was written over: the first generation can still be read.
    let former = "bucket/team/generations/demo/1.json";
    assert!(server.objects().contains_key(former));

    let pulled = elm.pull("demo").expect("it can be fetched");
    assert_eq!((pulled.change, pulled.generation), (Change::Replaced, 2));
    assert_eq!(elm.texts("demo"), ["the password is *******", "scrubbed"]);
    assert_eq!(std::fs::read_dir(elm.path("demo").join(".backup")).expect("it is kept").count(), 1);
    assert!(matches!(ash.pull("demo"), Err(RemoteError::Diverged(_))), "it has what the copy lacks");
    assert!(matches!(ash.push("demo"), Err(RemoteError::Diverged(_))));
    assert_eq!(elm.push("demo").expect("it can be sent").change, Change::Nothing);

    let holds_secret = |server: &S3| {
        let unpacked = |bytes: &Vec<u8>| zstd::decode_all(&bytes[..]).unwrap_or_else(|_| bytes.clone());
        server.objects().values().any(|bytes| String::from_utf8_lossy(&unpacked(bytes)).contains("hunter2"))
    };
    assert!(holds_secret(&server), "of the first generation");
    server.age(Duration::from_secs(2 * 86_400));
    oak.remote.remove_superseded(&named("demo"), false).expect("it can be removed");
    assert!(!holds_secret(&server) && !server.objects().contains_key(former));
    assert!(oak.remote.verify(&named("demo")).expect("it is there").faults.is_empty());
}

/// What a machine remembers of the copies of a session; changed, and written again.
fn remembers(machine: &Machine, name: &str, change: impl FnOnce(&mut serde_json::Value)) {
    let state =
        std::fs::read_dir(machine.path(name).join(".remote")).expect("it is there").next().expect("there is one");
    let path = state.expect("it can be read").path();
    let mut state = serde_json::from_slice(&std::fs::read(&path).expect("it is there")).expect("it is JSON");
    change(&mut state);
    std::fs::write(&path, state.to_string()).expect("there is room");
}

#[test]
fn i21_a_history_that_took_the_place_of_another_is_a_new_generation_also_where_it_was_given_the_same_inode() {
    for tells_birth in [true, false] {
        let server = S3::start();
        let (oak, elm) = (Machine::new(on_s3(&server, "oak")), Machine::new(on_s3(&server, "elm")));
        oak.create("demo");
        oak.says("demo", "the password is hunter2");
        // Its end and its length stay as they are.
        oak.says("demo", &"oak ".repeat(20_000));
        oak.push("demo").expect("it can be sent");
        elm.pull("demo").expect("it can be fetched");
        scrub(&oak, "demo");
        let inode = std::fs::metadata(oak.path("demo").join("history.jsonl")).expect("it is there").ino();
        for (machine, inode) in [(&oak, Some(inode)), (&elm, None)] {
            remembers(machine, "demo", |state| {
                let history = &mut state["history"];
                inode.into_iter().for_each(|inode| history["inode"] = inode.into());
                if !tells_birth {
                    // As a program wrote it that did not know of it, or where a file system does not tell.
                    history.as_object_mut().expect("it is one").remove("made");
                }
            });
        }
        let pushed = oak.push("demo").expect("it can be sent");
        assert_eq!((pushed.change, pushed.generation), (Change::Replaced, 2), "{tells_birth}");
        let pulled = elm.pull("demo").expect("it can be fetched");
        assert_eq!((pulled.change, pulled.generation), (Change::Replaced, 2), "{tells_birth}");
        assert_eq!(elm.texts("demo")[0], "the password is *******");
        assert_eq!(oak.push("demo").expect("it can be sent").change, Change::Nothing);
    }
}

#[test]
fn a_redacted_copy_holds_no_secret_and_goes_on_as_the_session_does() {
    let server = S3::start();
    let (oak, elm) = (Machine::new(on_s3(&server, "oak")), Machine::new(on_s3(&server, "elm")));
    let session = oak.create("demo");
    for text in ["the password is hunter2", "again: hunter2"] {
        oak.says("demo", text);
        std::fs::write(oak.path("demo").join("tmp/out"), "hunter2").expect("there is room");
        oak.remote.push(&session, &redacted()).expect("it can be sent");
    }
    for bytes in server.objects().values() {
        let text = zstd::decode_all(&bytes[..]).unwrap_or_else(|_| bytes.clone());
        assert!(!String::from_utf8_lossy(&text).contains("hunter2"));
    }
    elm.pull("demo").expect("it can be fetched");
    assert_eq!(elm.texts("demo"), ["the password is *******", "again: *******"]);
    assert!(matches!(oak.push("demo"), Err(RemoteError::Redaction { is_redacted: true, .. })));
    assert!(matches!(oak.pull("demo"), Err(RemoteError::Diverged(_))), "the masked text is none of this session's");
}

#[test]
fn a_redacted_copy_holds_no_secret_of_metadata_nor_of_lines_that_are_no_events() {
    let server = S3::start();
    let (oak, elm) = (Machine::new(on_s3(&server, "oak")), Machine::new(on_s3(&server, "elm")));
    let session = oak.create("demo");
    oak.says("demo", "the password is hunter2");
    session.set_title("Of hunter2", TitleSource::User).expect("nothing forbids it");
    session.update_meta(|meta| meta.summary = "hunter2 opens it".into()).expect("nothing forbids it");
    let mut history = OpenOptions::new().append(true).open(session.paths().history()).expect("it is there");
    // No JSON; two events in one line, as a torn write leaves them; no text at all.
    let event = |text: &str| String::from_utf8(crate::support::line(&crate::support::said(text))).expect("it is text");
    let two = event("first hunter2").trim_end().to_owned() + &event("second hunter2");
    for line in [b"hunter2 is no JSON\n".as_slice(), two.as_bytes(), b"hunter2 \xff\n"] {
        history.write_all(line).expect("there is room");
    }
    oak.says("demo", "still hunter2");
    oak.remote.push(&session, &redacted()).expect("it can be sent");
    for bytes in server.objects().values() {
        let text = zstd::decode_all(&bytes[..]).unwrap_or_else(|_| bytes.clone());
        assert!(!String::from_utf8_lossy(&text).contains("hunter2"));
    }
    elm.pull("demo").expect("it can be fetched");
    let meta = elm.session("demo").meta().expect("it can be read").meta;
    assert_eq!((meta.title.as_str(), meta.summary.as_str()), ("Of *******", "******* opens it"));
    let texts = elm.texts("demo");
    assert_eq!((texts.first(), texts.last()), (Some(&"the password is *******".into()), Some(&"still *******".into())));
    let lines = crate::scratch::lines(&elm.history("demo"));
    assert!(lines.contains(&"******* is no JSON".to_owned()) && lines.contains(&String::new()), "{lines:?}");
    assert_eq!(lines.len(), oak.history("demo").split(|byte| *byte == b'\n').count() - 1, "each line has its own");
    assert!(oak.history("demo").windows(7).any(|window| window == b"hunter2"), "here everything stays");
}

#[test]
fn what_is_known_to_be_a_secret_later_only_is_masked_in_the_copy_by_the_next_push() {
    let server = S3::start();
    let (oak, elm) = (Machine::new(on_s3(&server, "oak")), Machine::new(on_s3(&server, "elm")));
    let session = oak.create("demo");
    oak.says("demo", "the password is hunter3");
    // The end of what was sent stays as it is.
    oak.says("demo", &"oak ".repeat(20_000));
    let push = |word| {
        let redactor: Option<Arc<dyn Redact>> = Some(Arc::new(Masks(word)));
        oak.remote.push(&session, &PushOptions { redactor, ..PushOptions::default() }).expect("it can be sent")
    };
    assert_eq!(push("hunter2").change, Change::Made);
    elm.pull("demo").expect("it can be fetched");
    let pushed = push("hunter3");
    assert_eq!((pushed.change, pushed.generation), (Change::Replaced, 2));
    assert_eq!(push("hunter3").change, Change::Nothing);
    assert_eq!(elm.pull("demo").expect("it can be fetched").change, Change::Replaced);
    assert_eq!(elm.texts("demo")[0], "the password is *******");
}

#[test]
fn where_the_redactor_cannot_tell_nothing_is_sent() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    let session = oak.create("demo");
    oak.says("demo", "plant three oaks");
    oak.remote.push(&session, &redacted()).expect("it can tell");
    let before = server.objects();
    let is_refused = |of: &str| {
        let refused = oak.remote.push(&session, &redacted());
        let Err(RemoteError::Store(StoreError::NotRedacted { path, .. })) = &refused else { panic!("{refused:?}") };
        assert!(path.ends_with(of), "{path:?}");
        assert!(server.objects() == before, "nothing was sent");
    };
    session.update_meta(|meta| meta.summary = "of poison".into()).expect("nothing forbids it");
    is_refused("meta.json");
    session.update_meta(|meta| meta.summary = "of oaks".into()).expect("nothing forbids it");
    oak.says("demo", "drink poison");
    is_refused("history.jsonl");
}
