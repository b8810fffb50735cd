//! Whatever stands in a store, the other sessions are listed, and nothing is hidden.

use crate::scratch::{Scratch, at_second, name, touch, unblocked, user};
use session_core::Limits;
use session_store::{Checkup, Damage, Empties, NameFault, Options, SessionInfo, SessionState, Store, StoreError};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo can be run").success());
}

fn listed(store: &Store) -> Vec<SessionInfo> {
    let store = store.clone();
    unblocked(move || store.list(Empties::Show).expect("the store can be read"))
}

fn of<'a>(listed: &'a [SessionInfo], name: &str) -> &'a SessionInfo {
    listed.iter().find(|info| info.name == name).unwrap_or_else(|| panic!("{name} is listed"))
}

#[test]
fn s03_names_that_are_none_are_listed_as_damaged_and_escaped_and_no_verb_takes_them() {
    let scratch = Scratch::new();
    scratch.session("good", &[user(1, "plant")]);
    let long = "x".repeat(200);
    let names: [&[u8]; 7] = [b"-rf", b".hidden", b"a\nb", b"\xff\xfe", b"end ", b"back\\slash", long.as_bytes()];
    for raw in names {
        let dir = scratch.path(OsStr::from_bytes(raw));
        scratch.put(dir.join("history.jsonl"), user(59, "odd"));
    }
    scratch.put(OsStr::from_bytes(b"flat\n.jsonl"), user(59, "odd"));
    let shown = ["-rf", ".hidden", r"a\u{a}b", r"\xff\xfe", r"end\u{20}", r"back\\slash", &long, r"flat\u{a}.jsonl"];
    let store = scratch.store();
    let listed = listed(&store);
    assert_eq!(listed.len(), shown.len() + 1);
    for shown in shown {
        let info = of(&listed, shown);
        assert_eq!((info.state, info.messages), (SessionState::Damaged, Some(1)), "{shown}");
        let is_text = shown != r"\xff\xfe";
        let is_told = match &info.damage[..] {
            [Damage::Name(NameFault::NotUtf8)] => !is_text,
            [Damage::Name(NameFault::Rule(_))] => is_text,
            _ => false,
        };
        assert!(is_told, "{shown}: {:?}", info.damage);
        assert!(session_core::SessionName::new(shown).is_err());
    }
    assert_eq!(of(&listed, "good").state, SessionState::Idle);
    assert_eq!(store.most_recent().expect("it can be read"), Some(name("good")));
}

#[test]
fn fifos_links_directories_and_giants_keep_nobody_from_being_listed() {
    let scratch = Scratch::new();
    scratch.session("good", &[user(1, "plant")]);
    let outside = scratch.outside().join("outside");
    fs::create_dir(&outside).expect("it is ours");
    fs::write(outside.join("history.jsonl"), user(2, "elsewhere")).expect("it is ours");

    fifo(&scratch.dir("fifo-history").join("history.jsonl"));
    fifo(&scratch.path("fifo-flat.jsonl"));
    fifo(&scratch.session("fifo-meta", &[user(1, "a")]).join("meta.json"));
    fifo(&scratch.session("fifo-inbox", &[user(1, "a")]).join("inbox"));
    symlink(&outside, scratch.path("link-dir")).expect("it is ours");
    symlink("nowhere", scratch.path("dangling")).expect("it is ours");
    symlink("nowhere", scratch.path("dangling-flat.jsonl")).expect("it is ours");
    symlink(outside.join("history.jsonl"), scratch.dir("link-history").join("history.jsonl")).expect("it is ours");
    scratch.dir("dir-history/history.jsonl");
    scratch.dir("dir-meta/meta.json");
    scratch.put("dir-meta/history.jsonl", user(2, "a"));
    let giant = scratch.put("giant/history.jsonl", user(1, "a"));
    let file = File::options().write(true).open(giant).expect("it is ours");
    file.set_len(64 << 20).expect("a hole takes no room");
    scratch.put("giant/meta.json", "{}");
    let file = File::options().write(true).open(scratch.path("giant/meta.json")).expect("it is ours");
    file.set_len(1 << 40).expect("a hole takes no room");

    let limits = Limits { max_line_bytes: 1 << 20 };
    let store = scratch.store_with(Options { limits, ..Options::default() });
    let listed = listed(&store);
    let shown = |state| {
        let mut names: Vec<_> = listed.iter().filter(|i| i.state == state).map(|i| i.name.as_str()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(shown(SessionState::Idle), ["good"]);
    let damaged =
        ["dangling-flat", "dir-history", "dir-meta", "fifo-flat", "fifo-history", "fifo-inbox", "fifo-meta", "giant"];
    assert_eq!(shown(SessionState::Damaged), [&damaged[..], &["link-dir", "link-history"]].concat());
    assert_eq!(listed.len(), 11);
    assert!(matches!(of(&listed, "link-dir").damage[..], [Damage::Link]));
    assert_eq!(of(&listed, "link-dir").messages, None);
    assert_eq!(of(&listed, "link-history").messages, None);
    assert_eq!(of(&listed, "fifo-meta").messages, Some(1));
    assert_eq!((of(&listed, "giant").messages, of(&listed, "giant").defects), (Some(1), 1));
    assert!(listed.iter().all(|info| (info.state == SessionState::Idle) == info.notes().is_empty()));

    for link in ["link-dir", "link-history", "dangling-flat"] {
        assert!(store.load(&name(link)).is_err(), "{link}");
    }
    assert!(matches!(store.load(&name("link-dir")), Err(StoreError::Escapes { .. })));
    // Damage is no reason to pass a session over, if its conversation can be read; dir-meta has the newest event.
    let recent = unblocked(move || store.most_recent().expect("it can be read"));
    assert_eq!(recent, Some(name("dir-meta")));
}

#[test]
fn s03_a_flat_file_s_name_that_leads_out_of_the_store_is_followed_by_nobody() {
    let scratch = Scratch::new();
    fs::write(scratch.outside().join("history.jsonl"), user(1, "a") + &user(2, "b")).expect("it is ours");
    fs::write(scratch.outside().join("meta.json"), "{\"title\":\"outside\"}").expect("it is ours");
    scratch.put("meta.json", "{\"title\":\"base\"}");
    for stem in ["", ".", ".."] {
        scratch.put(format!("{stem}.jsonl"), user(1, "a"));
    }
    let store = scratch.store();
    for info in listed(&store) {
        assert_eq!((info.messages, info.title, info.state), (Some(1), None, SessionState::Damaged), "{}", info.name);
    }
    let examined = store.examine(&Checkup::default()).expect("it can be read");
    assert!(examined.findings.iter().all(|finding| finding.path.starts_with(scratch.base())));
    assert_eq!((listed(&store).len(), examined.sessions), (3, 3));
}

#[test]
fn m02_one_malformed_metadata_file_flags_its_session_and_hides_none() {
    let scratch = Scratch::new();
    for session in ["cut", "empty", "directory", "null", "array", "good"] {
        scratch.session(session, &[user(3, "plant three oaks"), user(9, "now")]);
    }
    scratch.put_at("cut/meta.json", "{\"name\":", at_second(1));
    scratch.put_at("empty/meta.json", "", at_second(1));
    scratch.dir("directory/meta.json");
    scratch.put_at("null/meta.json", "null", at_second(1));
    scratch.put_at("array/meta.json", "[]", at_second(1));
    scratch.put_at("good/meta.json", "{\"name\":\"good\",\"title\":\"Oaks\"}", at_second(1));
    let listed = listed(&scratch.store());
    assert_eq!(listed.len(), 6);
    for info in &listed {
        assert_eq!(info.messages, Some(2), "{}", info.name);
        assert_eq!(info.updated.as_ref().map(session_core::format_time).as_deref(), Some("2026-01-02T03:04:09Z"));
    }
    for session in ["cut", "empty", "directory", "array"] {
        let info = of(&listed, session);
        assert_eq!(info.state, SessionState::Damaged, "{session}");
        assert!(matches!(info.damage[..], [Damage::Meta(_)]));
        assert_eq!(info.created.as_ref().map(session_core::format_time).as_deref(), Some("2026-01-02T03:04:03Z"));
    }
    assert_eq!((of(&listed, "null").state, of(&listed, "good").state), (SessionState::Idle, SessionState::Idle));
    assert_eq!(of(&listed, "good").title.as_deref(), Some("Oaks"));
}

#[test]
fn m09_the_directory_s_name_is_the_session_s_whatever_its_metadata_says() {
    let scratch = Scratch::new();
    for (session, said) in [("copied", "original"), ("unnamed", "")] {
        scratch.session(session, &[user(3, "plant")]);
        scratch.put(format!("{session}/meta.json"), format!("{{\"name\":\"{said}\",\"title\":\"Oaks\"}}"));
        touch(&scratch.path(format!("{session}/history.jsonl")), at_second(1));
    }
    let listed = listed(&scratch.store());
    let shown: Vec<_> = listed.iter().map(|info| (info.name.as_str(), info.state, info.title.as_deref())).collect();
    assert_eq!(shown, [("copied", SessionState::Idle, Some("Oaks")), ("unnamed", SessionState::Idle, Some("Oaks"))]);
}

#[test]
fn a_list_counts_what_loading_gives_and_what_waits() {
    let scratch = Scratch::new();
    let session = scratch.session(
        "demo",
        &[
            user(1, "a"),
            "not json\n".into(),
            user(2, "b"),
            "{\"kind\":\"rollback\",\"dropped\":1}\n".into(),
            user(3, "c"),
        ],
    );
    scratch.put("demo/inbox/1-a", "hi");
    scratch.put("demo/inbox/2-b", "hi");
    scratch.put("demo/inbox/.tmp-x", "half");
    scratch.put(
        "demo/meta.json",
        "{\"name\":\"demo\",\"model\":\"m\",\"workspace\":\"/w\",\"cost\":1.5,\"parent\":\"p\"}",
    );
    let listed = listed(&scratch.store());
    let [info] = &listed[..] else { panic!("one session") };
    assert_eq!(info.messages, Some(scratch.store().load(&name("demo")).expect("it exists").messages.len() as u64));
    assert_eq!((info.messages, info.defects, info.inbox_pending, info.cost), (Some(2), 1, 2, Some(1.5)));
    assert_eq!(
        (info.model.as_deref(), info.workspace.as_deref(), info.parent.as_deref()),
        (Some("m"), Some("/w"), Some("p"))
    );
    assert_eq!(info.bytes, fs::metadata(session.join("history.jsonl")).expect("it is there").len());
    assert!(matches!(info.damage[..], [Damage::Lines { skipped: 1, uncertain: false }]));
}

#[test]
fn a_running_turn_is_shown_with_its_process() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "a")]);
    scratch.session("idle", &[user(1, "a")]);
    scratch.put("idle/proc/turn.pid", "2147483647\n");
    let marker = session_proc::TurnMarker::start(&scratch.dir("demo/proc"), "t1").expect("nothing runs");
    let pid = i32::try_from(std::process::id()).expect("pids are small");
    let store = scratch.store();
    let rows = listed(&store);
    assert_eq!((of(&rows, "demo").state, of(&rows, "demo").pid), (SessionState::Running, Some(pid)));
    assert_eq!((of(&rows, "idle").state, of(&rows, "idle").pid), (SessionState::Idle, None));
    let active = store.active_turns().expect("it can be read");
    assert_eq!(
        active.turns.iter().map(|turn| (turn.session.as_str(), turn.turn.pid)).collect::<Vec<_>>(),
        [("demo", pid)]
    );
    marker.end().expect("it is ours");
    assert_eq!(of(&listed(&store), "demo").state, SessionState::Idle);
    assert_eq!(store.active_turns().expect("it can be read").turns, []);
}
