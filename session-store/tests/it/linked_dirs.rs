//! Links in the place of a session's own directories: what is behind them is not the session's, and stays as it is.

use crate::doctor::of;
use crate::scratch::{Scratch, at_second, name, picture, touch, user};
use crate::support::{quick, said};
use session_store::{
    Checkup, FindingCode, InboxMessage, NewFork, PreviewSize, PrunePart, Result, ScrubBackup, Session, Store,
    StoreError, USER_LINE,
};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A session with a link in the place of a directory. What that leads to has something that each verb would touch.
struct Linked {
    scratch: Scratch,
    place: &'static str,
    before: Vec<String>,
}

const CLAIM: &str = "17-4.0000000a";

impl Linked {
    fn at(place: &'static str) -> Self {
        let scratch = Scratch::new();
        let torn = "{\"kind\":\"mess".to_owned();
        scratch.session("demo", &[user(1, "see tmp/plain.txt"), torn]);
        scratch.put("demo/meta.json", "{\"name\":\"demo\"}");
        // Beside a linked `.failed` it is to be moved there.
        scratch.put_at("demo/inbox/large.txt", "x".repeat(70_000), at_second(1_000));
        let victim = scratch.outside().join("victim");
        fs::create_dir(&victim).expect("it is new");
        let late = format!("history-20260102T030405Z-0-{:016x}", 1);
        for (file, bytes) in [
            ("plain.txt", "a note of somebody's".to_owned()),
            ("old.txt", "another".to_owned()),
            ("larger.txt", "x".repeat(70_000)),
            ("17-4", "{}".to_owned()),
            (&format!("{CLAIM}@1-1-elsewhere"), "take me".to_owned()),
            (".tmp-half-0000000000000001", "half".to_owned()),
            (&late, user(2, "late")),
        ] {
            let path = victim.join(file);
            fs::write(&path, bytes).expect("there is room");
            touch(&path, at_second(1_000));
        }
        let path = scratch.path("demo").join(place);
        if place == "inbox" {
            fs::remove_dir_all(&path).expect("it is ours");
        }
        symlink(&victim, path).expect("the name is free");
        let before = picture(&victim);
        Linked { scratch, place, before }
    }

    fn store(&self) -> Store {
        self.scratch.store_with(quick())
    }

    fn open(&self) -> Session {
        self.store().open(&name("demo")).expect("the session is no link")
    }

    fn link(&self) -> PathBuf {
        self.scratch.path("demo").join(self.place)
    }

    /// It is refused, and nothing behind the link has changed.
    fn refuses<T>(&self, what: &str, done: Result<T>) {
        let at = self.place;
        match done.map(drop) {
            Err(StoreError::Escapes { path }) => assert_eq!(path, self.link(), "{what} with {at}"),
            other => panic!("{what} with {at}: {other:?}"),
        }
        self.is_untouched(what);
    }

    fn is_untouched(&self, what: &str) {
        assert_eq!(picture(&self.scratch.outside().join("victim")), self.before, "{what} with {}", self.place);
    }
}

#[test]
fn s03_no_message_is_taken_from_behind_a_link_nor_put_there() {
    for place in ["inbox", "inbox/.claims"] {
        let linked = Linked::at(place);
        let (session, inbox) = (linked.open(), linked.open().inbox());
        linked.refuses("drain", session.drain_inbox());
        linked.refuses("acknowledge", inbox.acknowledge([CLAIM]));
        linked.refuses("release", inbox.release([CLAIM]));
        linked.refuses("undelivered", inbox.undelivered());
        linked.refuses("cancel", inbox.cancel(OsStr::new("17-4")));
    }
    let linked = Linked::at("inbox");
    let inbox = linked.open().inbox();
    linked.refuses("deliver", inbox.deliver(&InboxMessage::now(USER_LINE, "use tabs")));
    linked.refuses("list", inbox.list());
    linked.refuses("fate", inbox.fate(OsStr::new("plain.txt")));
    let linked = Linked::at("inbox/.failed");
    linked.refuses("drain", linked.open().drain_inbox());
    assert!(linked.scratch.path("demo/inbox/large.txt").exists(), "it stays where it was");
}

#[test]
fn s03_no_spilled_output_is_put_pruned_or_copied_through_a_link() {
    let linked = Linked::at("tmp");
    let store = linked.store();
    linked.refuses("spill", linked.open().spill().bytes("out", b"oaks", PreviewSize::default()));
    linked.refuses("prune", store.plan_prune_part(&name("demo"), PrunePart::Tmp));
    let fork = NewFork { over_damage: true, ..NewFork::default() };
    linked.refuses("fork", store.fork(&name("demo"), &fork, None));
}

#[test]
fn s03_what_comes_back_from_the_trash_does_not_go_through_a_link() {
    let linked = Linked::at("tmp");
    fs::remove_file(linked.link()).expect("it is a link");
    let file = linked.scratch.put_at("demo/tmp/pruned.txt", "oaks", at_second(1_000));
    linked.scratch.session("demo", &[user(1, "plant")]);
    let store = linked.store();
    let plan = store.plan_prune_part(&name("demo"), PrunePart::Tmp).expect("it is no link");
    let entry = store.prune_part(&plan).expect("nothing forbids it").expect("there was something");
    fs::remove_dir(file.parent().expect("it is in a directory")).expect("it is empty");
    symlink(linked.scratch.outside().join("victim"), linked.link()).expect("the name is free");
    linked.refuses("restore", store.restore_from_trash(&entry.id));
    fs::remove_file(linked.link()).expect("it is a link");
    store.restore_from_trash(&entry.id).expect("nothing is in the way");
    assert_eq!(fs::read(file).expect("it is back"), b"oaks");
}

#[test]
fn s03_what_an_append_isolates_stays_in_the_history_where_the_quarantine_is_a_link() {
    let linked = Linked::at(".quarantine");
    let mut appended = linked.open().append(&[said("go on")]).expect("the event has its place");
    let isolated = appended.isolated.pop().expect("there was a torn line");
    linked.refuses("append", isolated.quarantine);
    let history = fs::read_to_string(linked.scratch.path("demo/history.jsonl")).expect("it is text");
    assert!(history.contains("{\"kind\":\"mess\n"), "{history}");
}

#[test]
fn s03_nothing_is_kept_behind_a_link_nor_taken_for_a_backup_there() {
    let linked = Linked::at(".backup");
    let store = linked.store();
    linked.refuses("scrub", store.scrub(&name("demo"), ScrubBackup::Keep, None, &mut |_| {}));
    linked.refuses("scan", store.scan_secrets(&name("demo"), None, &mut |_| {}));
}

#[test]
fn s03_the_doctor_names_a_link_in_the_place_of_a_directory_once_and_repairs_nothing_behind_it() {
    for place in ["proc", "inbox", "inbox/.claims", "inbox/.failed", "tmp", ".quarantine", ".backup"] {
        let linked = Linked::at(place);
        let found = of(&linked.scratch, "demo");
        let unreadable: Vec<_> = found.iter().filter(|finding| finding.code == FindingCode::Unreadable).collect();
        let [finding] = &unreadable[..] else { panic!("{place}: {unreadable:?}") };
        assert_eq!((&finding.path, &finding.fix), (&linked.link(), &None));
        assert!(finding.text.ends_with("leads out of the store"), "{}", finding.text);
        let behind = |path: &PathBuf| path.starts_with(linked.link()) && *path != linked.link();
        assert!(!found.iter().any(|finding| behind(&finding.path)), "{place}: {found:?}");
        drop(linked.store().repair(&Checkup::default()).expect("what can be repaired is"));
        linked.is_untouched("repair");
    }
}

#[test]
fn s03_a_list_says_that_an_inbox_is_a_link_and_counts_nothing_behind_it() {
    let linked = Linked::at("inbox");
    let listed = linked.store().list(Default::default()).expect("the store can be read");
    let [info] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!(info.inbox_pending, 0);
    assert!(info.damage.iter().any(|damage| damage.to_string().contains("leads out of the store")), "{info:?}");
}
