//! The cache of lists: it changes how long a list takes and never what it says.

use crate::cache_file;
use crate::scratch::{Scratch, name, user};
use serde_json::Value;
use session_core::{Event, Message};
use session_store::{Empties, SessionInfo, Store};
use std::cell::RefCell;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A store and a directory for its cache.
struct Cached {
    scratch: Scratch,
}

impl Cached {
    fn new() -> Self {
        Cached { scratch: Scratch::new() }
    }

    fn dir(&self) -> PathBuf {
        self.scratch.outside().join("cache")
    }

    fn store(&self) -> Store {
        self.scratch.store().with_cache_dir(self.dir())
    }

    fn history(&self, session: &str) -> PathBuf {
        self.scratch.path(format!("{session}/history.jsonl"))
    }

    fn append(&self, session: &str, bytes: &[u8]) {
        let mut file = OpenOptions::new().append(true).open(self.history(session)).expect("it is there");
        file.write_all(bytes).expect("it can be written");
    }

    /// The cache file.
    fn file(&self) -> PathBuf {
        cache_file::only(&self.dir())
    }

    /// Changes every entry.
    fn rewrite(&self, change: impl Fn(&str, &mut Value)) {
        cache_file::rewrite(&self.file(), change);
    }

    /// Lists, and makes what was kept look as if the files had been left alone for long before.
    fn settle(&self) {
        drop(self.store().list(Empties::Show).expect("the store can be read"));
        cache_file::age(&self.file());
    }

    /// Makes the cache claim what no file says, so that whoever believes it shows that.
    fn lie(&self) {
        self.settle();
        self.rewrite(|_, entry| {
            let counted = &mut entry["history"]["counted"];
            counted["all"]["messages"] = 7_000.into();
            counted["lines"]["sum"]["messages"] = 7_000.into();
        });
    }

    fn messages(&self, session: &str) -> Option<u64> {
        let listed = self.store().list(Empties::Show).expect("the store can be read");
        listed.iter().find(|info| info.name == session).expect("it is there").messages
    }
}

/// All that two lists say, compared as a person would read it.
fn shown(sessions: &[SessionInfo]) -> Vec<String> {
    sessions.iter().map(|info| format!("{info:?}")).collect()
}

fn agrees(cached: &Cached, after: &str) {
    let plain = cached.scratch.store().list(Empties::Show).expect("the store can be read");
    let with_cache = cached.store().list(Empties::Show).expect("the store can be read");
    assert_eq!(shown(&with_cache), shown(&plain), "after {after}");
    let newest = cached.store().newest(Empties::Show, 2, |_| true).expect("the store can be read");
    assert_eq!(shown(&newest), shown(&plain[..plain.len().min(2)]), "the newest, after {after}");
    let recent = cached.store().most_recent().expect("the store can be read");
    assert_eq!(recent, cached.scratch.store().most_recent().expect("the store can be read"), "after {after}");
}

/// Who leaves word in the session's directories.
fn word_that_is_left(cached: &Cached) -> Vec<Act<'_>> {
    let path = |path: &str| cached.scratch.path(path);
    let write = |file: &'static str, text: String| -> Box<dyn Fn()> {
        Box::new(move || {
            fs::create_dir_all(path(file).parent().expect("it has one")).expect("writable");
            fs::write(path(file), &text).expect("writable");
        })
    };
    let remove =
        |file: &'static str| -> Box<dyn Fn()> { Box::new(move || fs::remove_file(path(file)).expect("it is there")) };
    vec![
        ("a message in the inbox", write("elm/inbox/100-a", "plant three oaks\n".into())),
        ("another one", write("elm/inbox/101-b", "and an ash\n".into())),
        ("one that was taken", remove("elm/inbox/100-a")),
        ("a turn", write("elm/proc/turn.pid", format!("{}\n", std::process::id()))),
        ("another turn", write("ash/proc/turn.pid", format!("{}\n", std::process::id()))),
        ("its end", remove("elm/proc/turn.pid")),
        ("a marker that was left", write("elm/proc/turn.pid", "2147483647\n".into())),
        ("one that lives in its place", write("elm/proc/turn.pid", format!("{}\n", std::process::id()))),
    ]
}

#[test]
fn of_a_session_that_was_left_alone_the_directories_are_not_read_again() {
    let cached = Cached::new();
    cached.scratch.session("elm", &[user(1, "a")]);
    fs::create_dir_all(cached.scratch.path("elm/inbox")).expect("writable");
    cached.settle();
    cached.rewrite(|_, entry| entry["quiet"]["pending"] = 7_000.into());
    let pending = || cached.store().list(Empties::Show).expect("the store can be read")[0].inbox_pending;
    assert_eq!(pending(), 7_000);
    fs::write(cached.scratch.path("elm/inbox/100-a"), "plant three oaks\n").expect("writable");
    assert_eq!(pending(), 1);
}

/// Something that happens to a store, and its name.
type Act<'a> = (&'static str, Box<dyn Fn() + 'a>);

fn lines_that_come(cached: &Cached) -> Vec<Act<'_>> {
    let append = |session: &'static str, text: String| -> Box<dyn Fn()> {
        Box::new(move || cached.append(session, text.as_bytes()))
    };
    vec![
        ("nothing", Box::new(|| ())),
        ("an append", append("elm", user(40, "more"))),
        ("a rollback", append("elm", "{\"kind\":\"rollback\",\"dropped\":2}\n".into())),
        ("a bad line", append("ash", "not json\n".into())),
        ("a rollback across it", append("ash", "{\"kind\":\"rollback\",\"dropped\":1}\n".into())),
        ("a torn line", append("oak", "{\"ts\":\"2026".into())),
        ("its end", append("oak", "\"}\n".into())),
        ("an event without a newline", append("oak", user(50, "last").trim_end().into())),
        ("what follows it", append("oak", format!("\n{}", user(51, "next")))),
    ]
}

fn files_that_change(cached: &Cached) -> Vec<Act<'_>> {
    let time = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).expect("it has one");
    let in_place = |path: &Path| OpenOptions::new().write(true).open(path).expect("it is there");
    vec![
        (
            "a file of the same length and time in its place",
            Box::new(move || {
                let path = cached.history("elm");
                let (bytes, time) = (fs::read(&path).expect("readable"), time(&path));
                let other = String::from_utf8(bytes).expect("text").replace("rollback", "rollbach");
                fs::remove_file(&path).expect("it is there");
                fs::write(&path, other).expect("writable");
                in_place(&path).set_modified(time).expect("it can be set");
            }),
        ),
        (
            "a byte changed in place, and the time put back",
            Box::new(move || {
                let path = cached.history("ash");
                let time = time(&path);
                in_place(&path).write_all_at(b"X", 0).expect("writable");
                in_place(&path).set_modified(time).expect("it can be set");
            }),
        ),
        ("a cut", Box::new(move || in_place(&cached.history("oak")).set_len(150).expect("writable"))),
        (
            "other lines behind the cut",
            Box::new(|| cached.append("oak", &[b"x\n".repeat(400), user(3, "new").into()].concat())),
        ),
        ("a lost history", Box::new(|| fs::remove_file(cached.history("oak")).expect("it is there"))),
    ]
}

fn what_is_beside_them(cached: &Cached) -> Vec<Act<'_>> {
    let path = |path: &str| cached.scratch.path(path);
    let remove =
        |file: &'static str| -> Box<dyn Fn()> { Box::new(move || fs::remove_file(path(file)).expect("it is there")) };
    let set_cost = || {
        let session = cached.scratch.store().open(&name("elm")).expect("it exists");
        session.update_meta(|meta| meta.cost = 2.5).expect("it can be written");
    };
    let flat = "{\"role\":\"user\",\"content\":\"a\"}\n";
    vec![
        ("metadata", Box::new(set_cost)),
        ("metadata without a copy", remove("elm/.meta.json")),
        ("no metadata", remove("elm/meta.json")),
        ("a new session", Box::new(|| drop(cached.scratch.session("fir", &[user(59, "hello")])))),
        ("a flat file beside it", Box::new(move || fs::write(path("fir.jsonl"), flat).expect("writable"))),
        ("a lost session", Box::new(move || fs::remove_dir_all(path("ash")).expect("it is there"))),
    ]
}

#[test]
fn i32_whatever_happens_to_a_store_a_list_says_the_same_with_and_without_the_cache() {
    let cached = Cached::new();
    for (session, second) in [("elm", 1), ("oak", 20), ("ash", 10)] {
        cached.scratch.session(session, &[user(second, "plant"), user(second + 1, "water")]);
    }
    for acts in [word_that_is_left, lines_that_come, files_that_change, what_is_beside_them] {
        for (what, act) in acts(&cached) {
            cached.settle();
            act();
            agrees(&cached, what);
            agrees(&cached, &format!("{what}, once more"));
        }
    }
}

#[test]
fn what_has_not_changed_is_believed_and_what_has_grown_is_counted_on() {
    let cached = Cached::new();
    cached.scratch.session("oak", &[user(1, "plant")]);
    cached.lie();
    assert_eq!(cached.messages("oak"), Some(7_000), "the cache is believed");
    cached.append("oak", user(2, "water").as_bytes());
    assert_eq!(cached.messages("oak"), Some(7_001), "the count goes on from what was counted");
    assert_eq!(cached.store().newest(Empties::Show, 1, |_| true).expect("readable")[0].messages, Some(7_001));
}

#[test]
fn what_was_written_just_before_it_was_counted_is_counted_again() {
    let cached = Cached::new();
    cached.scratch.session("oak", &[user(1, "plant")]);
    cached.lie();
    cached.rewrite(|_, entry| entry["history"]["seen"] = entry["history"]["key"]["changed"].clone());
    assert_eq!(cached.messages("oak"), Some(1), "the key is not believed");
    cached.lie();
    cached.rewrite(|_, entry| entry["history"]["seen"] = entry["history"]["key"]["changed"].clone());
    cached.append("oak", user(2, "water").as_bytes());
    assert_eq!(cached.messages("oak"), Some(2), "neither is the count a place to go on from");
}

#[test]
fn a_busy_history_is_counted_from_where_it_had_been_left_alone() {
    let cached = Cached::new();
    cached.scratch.session("oak", &[user(1, "plant")]);
    cached.lie();
    for n in 1..5 {
        cached.append("oak", user(2, "water").as_bytes());
        // Each of these counts is of a file that has just been written; the first place stays the one to go on from.
        assert_eq!(cached.messages("oak"), Some(7_000 + n));
    }
}

#[test]
fn lines_that_were_skipped_and_blanked_later_are_not_counted_on() {
    let cached = Cached::new();
    let first = user(1, "plant");
    cached.scratch.session("oak", &[first.clone(), "{\"ts\":\"2026\n".into(), user(2, "water")]);
    cached.settle();
    let file = OpenOptions::new().write(true).open(cached.history("oak")).expect("it is there");
    file.write_all_at(&[b' '; 11], first.len() as u64).expect("writable");
    cached.append("oak", user(3, "more").as_bytes());
    agrees(&cached, "blanking in front of what was compared");
}

#[test]
fn a_cache_that_is_damaged_cut_or_of_another_store_is_passed_over() {
    let cached = Cached::new();
    cached.scratch.session("oak", &[user(1, "plant")]);
    cached.lie();
    let lie = fs::read(cached.file()).expect("readable");
    let other = Cached::new();
    other.scratch.session("oak", &[user(1, "plant")]);
    other.lie();
    let stranger = fs::read(other.file()).expect("readable");
    let mut cases: Vec<Vec<u8>> = (0..lie.len()).step_by(7).map(|cut| lie[..cut].to_vec()).collect();
    cases.extend((0..lie.len()).step_by(3).map(|at| {
        let mut changed = lie.clone();
        changed[at] ^= 1;
        changed
    }));
    cases.push(stranger);
    for case in cases {
        fs::write(cached.file(), &case).expect("writable");
        assert_eq!(cached.messages("oak"), Some(1), "{}", String::from_utf8_lossy(&case));
    }
}

#[test]
fn a_cache_that_cannot_be_kept_costs_nothing_but_time() {
    let cached = Cached::new();
    cached.scratch.session("oak", &[user(1, "plant")]);
    fs::write(cached.dir(), "a file where the directory should be").expect("writable");
    agrees(&cached, "a file in the place of the directory");
    assert_eq!(fs::read_to_string(cached.dir()).expect("readable"), "a file where the directory should be");
}

#[test]
fn the_cache_is_the_user_s_alone_and_no_place_of_the_store_s() {
    let cached = Cached::new();
    cached.scratch.session("oak", &[user(1, "plant")]);
    let tree = || fs::read_dir(cached.scratch.base()).expect("readable").count();
    let before = tree();
    cached.settle();
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&cached.dir()), tree()), (0o700, before));
    drop(cached.store().list(Empties::Hide).expect("readable"));
    assert_eq!(mode(&cached.file()) & 0o077, 0);
}

#[test]
fn the_most_recent_session_is_known_by_a_look_at_each_file() {
    let cached = Cached::new();
    for (session, second) in [("elm", 1), ("oak", 20), ("ash", 10)] {
        cached.scratch.session(session, &[user(second, "plant")]);
    }
    cached.settle();
    // If the end of a history were read again, this would be seen.
    cached.rewrite(|session, entry| {
        if session == "elm" {
            entry["history"]["newest"][0] = 1_900_000_000.into();
        }
    });
    let clock = || SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
    let store = cached.store().with_clock(move || chrono::DateTime::<chrono::Utc>::from(clock()).fixed_offset());
    assert_eq!(store.most_recent().expect("readable"), Some(name("elm")));
}

#[test]
fn sessions_that_nobody_asked_for_are_not_counted() {
    let cached = Cached::new();
    for (session, second) in [("elm", 1), ("oak", 20), ("ash", 10)] {
        cached.scratch.session(session, &[user(second, "plant")]);
    }
    let newest = cached.store().newest(Empties::Hide, 1, |_| true).expect("readable");
    assert_eq!(newest.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["oak"]);
    let counted = RefCell::new(Vec::new());
    cached.rewrite(|session, entry| {
        if !entry["history"]["counted"].is_null() {
            counted.borrow_mut().push(session.to_owned());
        }
    });
    assert_eq!(counted.into_inner(), ["oak"]);
}

#[test]
fn a_session_that_another_handle_writes_is_listed_as_it_stands() {
    let cached = Cached::new();
    let session = cached.scratch.store().open_or_create(&name("oak")).expect("it can be made");
    let ts = session_core::parse_time("2026-01-02T03:04:05Z").expect("well formed");
    for n in 1..20 {
        session.append(&[Event::message(ts, Message::user("more"))]).expect("it can be written");
        assert_eq!(cached.messages("oak"), Some(n));
    }
}
