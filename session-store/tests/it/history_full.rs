//! A full disk, and a limit on the size of files.

use crate::child;
use crate::support::{Session, line, quick, said};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};
use session_store::{History, Options, SessionPaths, StoreError};
use std::error::Error as _;
use std::fs;
use std::io;
use std::path::Path;

/// Appends until there is no room, and once more when there is.
fn fill_and_retry(dir: &Path, no_room: io::ErrorKind, make_room: impl FnOnce()) {
    let paths = SessionPaths::new(dir);
    let mut history = History::new(paths.clone(), "demo", Options::default());
    let mut written = 0;
    let error = loop {
        // Several lines a call, so that a short write cuts inside and between them.
        let events: Vec<_> = (0..3).map(|n| said(&format!("{}-{}", written + n, "x".repeat(700)))).collect();
        match history.append(&events, Vec::new) {
            Ok(_) => written += 3,
            Err(error) => break error,
        }
        assert!(written < 10_000, "there is always room");
    };
    let StoreError::Append { path, whole_events, source } = &error else { panic!("{error}") };
    assert_eq!((path, *whole_events, source.kind()), (&paths.history(), 0, no_room));
    assert!(error.to_string().contains("history.jsonl"), "{error}");
    assert!(error.source().is_some());

    let numbers = |bytes: &[u8]| -> Vec<usize> {
        let view = session_core::Conversation::read(bytes, Default::default()).expect("a slice has no read errors");
        assert_eq!(view.defects, []);
        let of = |text: &str| text.split_once('-').and_then(|(n, _)| n.parse().ok()).expect("the text has a number");
        view.messages.iter().map(|message| of(&message.content.text())).collect()
    };
    let bytes = fs::read(paths.history()).expect("it is there");
    assert_eq!(bytes.last(), Some(&b'\n'), "the file ends on a line boundary");
    assert_eq!(numbers(&bytes), (0..written).collect::<Vec<_>>());

    make_room();
    let events: Vec<_> = (0..3).map(|n| said(&format!("{}-x", written + n))).collect();
    history.append(&events, Vec::new).expect("there is room again");
    let bytes = fs::read(paths.history()).expect("it is there");
    assert_eq!(numbers(&bytes), (0..written + 3).collect::<Vec<_>>());
}

#[test]
fn h22_over_a_size_limit_an_append_fails_with_path_and_cause_and_works_again_with_room() {
    let session = Session::new();
    let dir = session.paths.dir().display().to_string();
    let command = child::command_ignoring_xfsz("history_full::child_with_a_size_limit", &[&dir]);
    assert!(child::Running::start(command).wait().success());
    assert!(session.texts().len() > 3, "the child has done its part");
}

#[test]
fn child_with_a_size_limit() {
    let Some(task) = child::task() else { return };
    let (_, hard) = getrlimit(Resource::RLIMIT_FSIZE).expect("a process knows its limits");
    // No multiple of a line's length.
    setrlimit(Resource::RLIMIT_FSIZE, 50_001, hard).expect("a limit can be lowered");
    fill_and_retry(Path::new(&task[0]), io::ErrorKind::FileTooLarge, || {
        assert_eq!(hard, RLIM_INFINITY, "the test needs a process without a limit");
        setrlimit(Resource::RLIMIT_FSIZE, hard, hard).expect("and raised to what it was");
    });
}

#[test]
fn h22_on_a_full_disk_an_append_fails_with_path_and_cause_and_works_again_with_room() {
    let session = Session::new();
    let dir = session.paths.dir().display().to_string();
    let report = session.base().join("report").display().to_string();
    let command = child::command("history_full::child_on_a_small_disk", &[&dir, &report]);
    assert!(child::Running::start(command).wait().success());
    // Who may not mount has the size limit's test for this.
    assert_eq!(Path::new(&report).exists(), nix::unistd::geteuid().is_root());
}

#[test]
fn child_on_a_small_disk() {
    let Some(task) = child::task() else { return };
    let dir = Path::new(&task[0]);
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    unshare(CloneFlags::CLONE_NEWNS).expect("root has mounts of its own");
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)
        .expect("which nobody else sees");
    mount(Some("small"), dir, Some("tmpfs"), MsFlags::empty(), Some("size=64k")).expect("root may mount");
    let ballast = dir.join("ballast");
    fs::write(&ballast, vec![0; 16 << 10]).expect("there is room");
    fill_and_retry(dir, io::ErrorKind::StorageFull, || fs::remove_file(&ballast).expect("it is there"));
    fs::write(&task[1], "done").expect("the report is elsewhere");
}

#[test]
fn h08_a_size_limit_in_the_middle_of_a_call_leaves_exactly_one_copy_after_a_retry() {
    let session = Session::with_history(&line(&said("old")));
    let dir = session.paths.dir().display().to_string();
    let command = child::command_ignoring_xfsz("history_full::child_with_every_size_limit", &[&dir]);
    assert!(child::Running::start(command).wait().success());
}

#[test]
fn child_with_every_size_limit() {
    let Some(task) = child::task() else { return };
    let paths = SessionPaths::new(&task[0]);
    let (_, hard) = getrlimit(Resource::RLIMIT_FSIZE).expect("a process knows its limits");
    let old = fs::read(paths.history()).expect("the parent wrote it");
    let call = [said("a"), said("b")];
    let all: Vec<u8> = call.iter().flat_map(line).collect();
    for room in 0..all.len() {
        fs::write(paths.history(), &old).expect("there is no limit yet");
        let mut history = History::new(paths.clone(), "demo", quick());
        setrlimit(Resource::RLIMIT_FSIZE, (old.len() + room) as u64, hard).expect("a limit can be lowered");
        let error = history.append(&call, Vec::new).expect_err("there is no room");
        setrlimit(Resource::RLIMIT_FSIZE, hard, hard).expect("and raised to what it was");
        assert!(matches!(error, StoreError::Append { whole_events: 0, .. }), "{error:?}");
        history.append(&call, Vec::new).expect("there is room");
        let bytes = fs::read(paths.history()).expect("it is there");
        let mut blank = vec![b' '; room];
        blank.last_mut().into_iter().for_each(|last| *last = b'\n');
        assert_eq!(bytes, [&old[..], &blank, &all].concat(), "room for {room} bytes");
    }
}
