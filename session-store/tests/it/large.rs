//! What large histories and large stores cost: counted in bytes that the system was asked for, never in time.
//!
//! Each test runs in a process of its own, so that nobody else's reading is counted.

use crate::cache_file;
use crate::scratch::{Scratch, name, user};
use session_core::{Event, Limits, Message};
use session_store::{Empties, HistoryView};
use std::fs;

/// How many bytes this process has read, from whatever file.
fn bytes_read() -> u64 {
    let io = fs::read_to_string("/proc/self/io").expect("the kernel counts it");
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("it is there");
    line.parse().expect("it is a number")
}

/// How many bytes `act` reads.
fn reads<T>(act: impl FnOnce() -> T) -> (T, u64) {
    let before = bytes_read();
    let done = act();
    (done, bytes_read() - before)
}

/// A user's messages of about a kilobyte.
fn lines(count: u32) -> Vec<String> {
    (0..count).map(|n| user(n % 60, &format!("{n} {}", "three oaks ".repeat(80)))).collect()
}

#[test]
fn h15_the_end_of_a_large_history_is_read_without_the_rest_and_an_append_does_not_read_it() {
    let scratch = Scratch::new();
    let mut lines = lines(20_000);
    lines.push("{\"kind\":\"settings\",\"model\":\"acorn-4\"}\n".into());
    lines.push(user(59, "last"));
    scratch.session("oak", &lines);
    let session = scratch.store().open(&name("oak")).expect("it exists");
    let view = || HistoryView::open(session.paths(), Limits::default()).expect("it can be read");
    assert!(view().len_bytes() > 15 << 20, "it is large");
    let (last, bytes) = reads(|| view().last_messages(20).expect("it can be read"));
    assert_eq!(last.messages.last(), Some(&Message::user("last")));
    assert!(bytes < 100 << 10, "the last messages: {bytes}");
    let (model, bytes) = reads(|| view().last_model().expect("it can be read"));
    assert_eq!(model.as_deref(), Some("acorn-4"));
    assert!(bytes < 100 << 10, "the last model: {bytes}");
    let event = Event::notice(session_core::parse_time("2026-01-02T03:04:05Z").expect("it is a time"), "appended");
    session.append(std::slice::from_ref(&event)).expect("it can be written");
    let ((), bytes) = reads(|| {
        for _ in 0..100 {
            session.append(std::slice::from_ref(&event)).expect("it can be written");
        }
    });
    assert!(bytes < 100 << 10, "a hundred appends: {bytes}");
}

#[test]
fn h15_a_load_reads_a_large_history_once() {
    let scratch = Scratch::new();
    scratch.session("oak", &lines(20_000));
    let view = HistoryView::open(scratch.store().open(&name("oak")).expect("it exists").paths(), Limits::default());
    let view = view.expect("it can be read");
    let (loaded, bytes) = reads(|| view.load().expect("it can be read"));
    assert_eq!(loaded.messages.len(), 20_000);
    // Several threads read parts of it, and each looks for the newline where its own ends.
    assert!(bytes < view.len_bytes() + (4 << 20), "{bytes} of {}", view.len_bytes());
}

/// A store of sessions with much to read in each, one of them a giant.
fn forest() -> (Scratch, u64) {
    let scratch = Scratch::new();
    let lines = lines(120);
    for n in 0..60 {
        scratch.session(&format!("oak-{n:02}"), &lines);
    }
    scratch.session("giant", &[user(1, &"x".repeat(8 << 20)), user(2, "and more")]);
    let bytes = |info: &session_store::SessionInfo| info.bytes;
    let all = scratch.store().list(Empties::Hide).expect("it can be read").iter().map(bytes).sum();
    (scratch, all)
}

#[test]
fn ls01_the_newest_are_found_by_the_end_of_each_history_and_only_they_are_read() {
    let (scratch, all) = forest();
    let (newest, bytes) = reads(|| scratch.store().newest(Empties::Hide, 3, |_| true).expect("it can be read"));
    assert_eq!(newest.len(), 3);
    assert!(bytes < all / 4, "{bytes} of {all}");
}

#[test]
fn ls01_a_list_that_knows_its_sessions_reads_its_cache_and_no_history() {
    let (scratch, all) = forest();
    let dir = scratch.outside().join("cache");
    let store = scratch.store().with_cache_dir(&dir);
    assert_eq!(store.list(Empties::Hide).expect("it can be read").len(), 61);
    cache_file::age(&cache_file::only(&dir));
    let (listed, bytes) = reads(|| store.list(Empties::Hide).expect("it can be read"));
    assert_eq!(listed.len(), 61);
    assert!(bytes < 200 << 10, "{bytes} of {all}");
    let (_, bytes) = reads(|| store.most_recent().expect("it can be read"));
    assert!(bytes < 200 << 10, "{bytes} of {all}");
}
