//! What a push sends and a pull brings in.

use super::{Machine, in_dir, named, on_s3, options, told};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use session_store::remote::{Change, PullOptions, PushOptions, Remote, RemoteError, RemoveOptions};
use session_testing::s3::S3;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::time::Duration;

/// What holds on every kind of store, for two machines that have nothing yet.
pub(super) const CLAIMS: [fn(&str, &Machine, &Machine); 8] = [
    goes_on_elsewhere,
    both_are_kept,
    is_not_written_over,
    plans,
    is_not_remembered,
    stays_until_settled,
    stays_removed,
    goes_out_after_a_pull,
];

const DAY: Duration = Duration::from_secs(86_400);

/// Two machines on each kind of store.
fn everywhere(claim: fn(&str, &Machine, &Machine)) {
    let memory = Remote::in_memory(options("oak")).expect("memory can be had");
    claim("memory", &Machine::new(memory.clone()), &Machine::new(memory.with_machine("elm")));
    let dir = tempfile::tempdir().expect("a scratch directory");
    let shared = dir.path().join("shared");
    claim("directory", &Machine::new(in_dir(&shared, "oak")), &Machine::new(in_dir(&shared, "elm")));
    let server = S3::start();
    claim("S3", &Machine::new(on_s3(&server, "oak")), &Machine::new(on_s3(&server, "elm")));
}

fn put(machine: &Machine, name: &str, path: &str, text: &str) {
    let at = machine.path(name).join(path);
    fs::create_dir_all(at.parent().expect("it is in the session")).expect("there is room");
    fs::write(at, text).expect("there is room");
}

fn read(machine: &Machine, name: &str, path: &str) -> Option<String> {
    fs::read_to_string(machine.path(name).join(path)).ok()
}

#[test]
fn a_copy_holds_the_session_and_another_machine_goes_on_with_it() {
    everywhere(goes_on_elsewhere);
}

fn goes_on_elsewhere(place: &str, oak: &Machine, elm: &Machine) {
    oak.create("two words");
    oak.says("two words", "plant three oaks");
    put(oak, "two words", "tmp/out-1", "a large output");
    put(oak, "two words", "checkpoints/repo.git/HEAD", "ref: refs/heads/turns\n");
    put(oak, "two words", "checkpoints/repo.git/objects/pack/pack-1.pack", "PACK");
    put(oak, "two words", "proc/bg1.json", "{}");
    put(oak, "two words", "inbox/1-a", "{}");
    let pushed = oak.push("two words").expect(place);
    assert_eq!((pushed.change, pushed.files, pushed.generation), (Change::Made, 4, 1), "{place}");

    let pulled = elm.pull("two words").expect(place);
    assert_eq!((pulled.change, pulled.files), (Change::Made, 3), "{place}");
    assert_eq!(elm.history("two words"), oak.history("two words"), "{place}");
    let meta = elm.session("two words").meta().expect(place).meta;
    assert_eq!((meta.title.as_str(), meta.name.as_str()), ("Plant three oaks", "two words"), "{place}");
    assert_eq!(read(elm, "two words", "tmp/out-1").as_deref(), Some("a large output"), "{place}");
    assert_eq!(read(elm, "two words", "checkpoints/repo.git/objects/pack/pack-1.pack").as_deref(), Some("PACK"));
    assert_eq!(read(elm, "two words", "proc/bg1.json"), None, "{place}: it would be taken for one of this machine");
    assert_eq!(read(elm, "two words", "inbox/1-a"), None, "{place}");
    let files = elm.remote.show(&named("two words")).expect(place).files;
    assert!(files.iter().any(|(path, _)| path == "proc/oak/bg1.json"), "{place}: {files:?}");

    elm.says("two words", "digging");
    put(elm, "two words", "checkpoints/repo.git/HEAD", "ref: refs/heads/other\n");
    assert_eq!(elm.push("two words").expect(place).change, Change::Added, "{place}");
    let pulled = oak.pull("two words").expect(place);
    assert_eq!((pulled.change, pulled.conflicts), (Change::Added, Vec::new()), "{place}");
    assert_eq!(oak.texts("two words"), ["plant three oaks", "digging"], "{place}");
    assert_eq!(read(oak, "two words", "checkpoints/repo.git/HEAD").as_deref(), Some("ref: refs/heads/other\n"));
    assert_eq!(read(oak, "two words", "proc/bg1.json").as_deref(), Some("{}"), "{place}");
    assert_eq!(oak.push("two words").expect(place).change, Change::Nothing, "{place}");
    assert_eq!(elm.push("two words").expect(place).change, Change::Nothing, "{place}");
    assert!(elm.remote.verify(&named("two words")).expect(place).faults.is_empty(), "{place}");
}

#[test]
fn two_that_went_apart_are_refused_with_both_ends_and_can_both_be_kept() {
    everywhere(both_are_kept);
}

fn both_are_kept(place: &str, oak: &Machine, elm: &Machine) {
    oak.create("demo");
    oak.says("demo", "plant three oaks");
    oak.push("demo").expect(place);
    elm.pull("demo").expect(place);
    oak.says("demo", "here");
    elm.says("demo", "there, and longer");
    oak.push("demo").expect(place);
    let before = (elm.history("demo"), oak.remote.show(&named("demo")).expect(place));
    for refused in [elm.push("demo").map(drop), elm.pull("demo").map(drop)] {
        let Err(RemoteError::Diverged(apart)) = refused else { panic!("{place}: {refused:?}") };
        assert_eq!((apart.local.machine.as_str(), apart.remote.machine.as_str()), ("elm", "oak"), "{place}");
        assert_eq!(apart.local.bytes, elm.history("demo").len() as u64, "{place}");
        assert_eq!(apart.remote.bytes, oak.history("demo").len() as u64, "{place}");
    }
    let after = (elm.history("demo"), oak.remote.show(&named("demo")).expect(place));
    assert_eq!(before, after, "{place}: nothing was touched");

    let other = PullOptions { name: Some(named("demo-of-oak")), ..PullOptions::default() };
    elm.remote.pull(&elm.store, &named("demo"), &other).expect(place);
    assert_eq!(elm.texts("demo-of-oak"), ["plant three oaks", "here"], "{place}");
    let other = PushOptions { name: Some(named("demo-of-elm")), ..PushOptions::default() };
    elm.remote.push(&elm.session("demo"), &other).expect(place);
    let names: Vec<_> =
        oak.remote.list("").expect(place).sessions.into_iter().map(|copy| copy.name.to_string()).collect();
    assert_eq!(names, ["demo", "demo-of-elm"], "{place}");
}

#[test]
fn a_copy_that_is_ahead_is_not_written_over() {
    everywhere(is_not_written_over);
}

fn is_not_written_over(place: &str, oak: &Machine, elm: &Machine) {
    oak.create("demo");
    oak.says("demo", "one");
    oak.push("demo").expect(place);
    elm.pull("demo").expect(place);
    oak.says("demo", "two");
    oak.push("demo").expect(place);
    assert!(matches!(elm.push("demo"), Err(RemoteError::Behind { .. })), "{place}");
    let synced = elm.remote.sync(&elm.store, &named("demo"), false).expect(place);
    assert_eq!(synced.pulled.map(|pulled| pulled.change), Some(Change::Added), "{place}");
    assert_eq!(elm.texts("demo"), ["one", "two"], "{place}");
}

#[test]
fn a_plan_changes_nothing() {
    everywhere(plans);
}

fn plans(place: &str, oak: &Machine, elm: &Machine) {
    oak.create("demo");
    oak.says("demo", "one");
    let plan = PushOptions { dry_run: true, ..PushOptions::default() };
    let planned = oak.remote.push(&oak.session("demo"), &plan).expect(place);
    assert_eq!((planned.change, planned.new_bytes), (Change::Made, oak.history("demo").len() as u64), "{place}");
    assert!(oak.remote.list("").expect(place).sessions.is_empty(), "{place}");
    oak.push("demo").expect(place);
    let plan = PullOptions { dry_run: true, ..PullOptions::default() };
    let planned = elm.remote.pull(&elm.store, &named("demo"), &plan).expect(place);
    assert_eq!(planned.change, Change::Made, "{place}");
    assert!(!elm.path("demo").exists(), "{place}");
}

#[test]
fn a_small_push_to_a_large_session_takes_two_requests_and_less_than_ten_kilobytes() {
    let megabytes = session_testing::usually(80, 500);
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    let session = oak.create("demo");
    session.append(&[crate::support::said("plant three oaks")]).expect("there is room");
    let history = fs::OpenOptions::new().append(true).open(session.paths().history()).expect("it is there");
    let mut history = BufWriter::new(history);
    for n in 0..megabytes * 16 {
        let line = crate::support::line(&crate::support::said(&format!("{n} {}", "oak ".repeat(16 << 10))));
        history.write_all(&line).expect("there is room");
    }
    history.flush().expect("there is room");
    let first = oak.remote.push(&session, &PushOptions::default()).expect("it can be sent");
    assert!(first.history_bytes > megabytes << 20);
    let mut random = StdRng::seed_from_u64(7);
    let mut sent = Vec::new();
    // Each eighth push puts eight segments together and sends more, and each 64th sixty-four.
    for n in 1..=70 {
        // As hard to make smaller as what agents write: to a third.
        let text: Vec<String> = (0..165).map(|_| random.random_range(0..99_999).to_string()).collect();
        session.append(&[crate::support::said(&text.join(" "))]).expect("there is room");
        let before = server.met().len();
        let pushed = oak.remote.push(&session, &PushOptions::default()).expect("it can be sent");
        let met = &server.met()[before..];
        let bytes = met.iter().map(|met| met.received_bytes).sum::<u64>();
        let limit = if n % 64 == 0 { 40_000 } else { 10_000 };
        assert!(met.len() == 2 && bytes < limit, "{n}: {bytes} bytes, {met:?}");
        assert_eq!(pushed.traffic.requests, 2);
        sent.push(bytes);
    }
    sent.sort_unstable();
    let (median, second, most) = (sent[35], sent[68], sent[69]);
    told(&format!(
        "1 KB to {megabytes} MiB: 2 requests; {median} bytes in the median, {second} where eight segments are put together, \
         {most} where 64 are, heads included"
    ));
    let elm = Machine::new(on_s3(&server, "elm"));
    elm.pull("demo").expect("it can be fetched");
    assert!(elm.history("demo") == oak.history("demo"), "it is the same");
}

#[test]
fn a_hundred_pushes_leave_few_objects_to_fetch() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    let session = oak.create("demo");
    for n in 0..100 {
        session.append(&[crate::support::said(&format!("event {n}"))]).expect("there is room");
        oak.remote.push(&session, &PushOptions::default()).expect("it can be sent");
    }
    let segments = oak.remote.show(&named("demo")).expect("it is there").segments;
    assert!(segments.len() < 24, "{segments:?}");
    let elm = Machine::new(on_s3(&server, "elm"));
    elm.pull("demo").expect("it can be fetched");
    assert_eq!(elm.history("demo"), oak.history("demo"));
    let removed = oak.remote.remove_superseded(&named("demo"), false).expect("it can be looked through");
    assert_eq!(removed.objects, 0, "somebody may be about to name what is new");
    server.age(DAY * 2);
    let removed = oak.remote.remove_superseded(&named("demo"), false).expect("it can be removed");
    assert!(removed.objects >= 70, "{removed:?}");
    assert!(oak.remote.verify(&named("demo")).expect("it is there").faults.is_empty());
}

#[test]
fn what_is_remembered_is_not_believed() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    oak.create("demo");
    oak.says("demo", "one");
    oak.push("demo").expect("it can be sent");
    let state = fs::read_dir(oak.path("demo").join(".remote")).expect("it is there").next().expect("there is one");
    let state = state.expect("it can be read").path();
    let good = fs::read(&state).expect("it is there");
    for bad in [&b"{}"[..], b"", &good[..good.len() / 2]] {
        fs::write(&state, bad).expect("there is room");
        assert_eq!(oak.push("demo").expect("it can be compared").change, Change::Nothing);
    }
    oak.says("demo", "two");
    let old = fs::read(&state).expect("it is there");
    oak.push("demo").expect("it can be sent");
    // An older state than the copy's: what is there is looked at, and is a continuation.
    fs::write(&state, old).expect("there is room");
    oak.says("demo", "three");
    assert_eq!(oak.push("demo").expect("it can be sent").change, Change::Added);
    // The copy is gone, whatever is remembered.
    oak.remote.remove(&named("demo"), &RemoveOptions::default()).expect("it can be removed");
    assert_eq!(oak.push("demo").expect("it can be sent").change, Change::Made);
    let elm = Machine::new(on_s3(&server, "elm"));
    elm.pull("demo").expect("it can be fetched");
    assert_eq!(elm.texts("demo"), ["one", "two", "three"]);
}

#[test]
fn a_push_that_cannot_be_remembered_is_done_all_the_same() {
    everywhere(is_not_remembered);
}

fn is_not_remembered(place: &str, oak: &Machine, elm: &Machine) {
    oak.create("demo");
    oak.says("demo", "one");
    fs::write(oak.path("demo").join(".remote"), "no directory").expect("there is room");
    for (text, change) in [("two", Change::Made), ("three", Change::Added)] {
        oak.says("demo", text);
        let pushed = oak.push("demo").expect(place);
        assert_eq!((pushed.change, pushed.not_remembered.is_some()), (change, true), "{place}");
    }
    let pushed = oak.push("demo").expect(place);
    assert_eq!(pushed.history_bytes, oak.history("demo").len() as u64, "{place}");
    elm.pull("demo").expect(place);
    assert_eq!(elm.history("demo"), oak.history("demo"), "{place}");
    fs::remove_file(oak.path("demo").join(".remote")).expect("it is there");
    oak.says("demo", "four");
    assert!(oak.push("demo").expect(place).not_remembered.is_none(), "{place}");
}

#[test]
fn a_file_that_was_changed_in_both_places_stays_as_it_is_in_each_until_somebody_settles_it() {
    everywhere(stays_until_settled);
}

/// Oak has made `demo` with one file beside its history, and both have that.
fn both_have(place: &str, oak: &Machine, elm: &Machine, (path, text): (&str, &str)) {
    oak.create("demo");
    oak.says("demo", "one");
    put(oak, "demo", path, text);
    oak.push("demo").expect(place);
    elm.pull("demo").expect(place);
}

fn stays_until_settled(place: &str, oak: &Machine, elm: &Machine) {
    let head = "checkpoints/repo.git/HEAD";
    both_have(place, oak, elm, (head, "first"));
    put(oak, "demo", head, "of oak");
    put(elm, "demo", head, "of elm, longer");
    oak.push("demo").expect(place);
    for _ in 0..3 {
        assert_eq!(elm.pull("demo").expect(place).conflicts, [head], "{place}");
        assert!(elm.remote.sync(&elm.store, &named("demo"), false).expect(place).pulled.is_none(), "{place}");
        elm.says("demo", "more");
        assert_eq!(elm.push("demo").expect(place).conflicts, [head], "{place}");
        assert_eq!(read(elm, "demo", head).as_deref(), Some("of elm, longer"), "{place}");
    }
    oak.pull("demo").expect(place);
    assert_eq!(read(oak, "demo", head).as_deref(), Some("of oak"), "{place}");
    put(elm, "demo", head, "of oak");
    assert_eq!(elm.pull("demo").expect(place).conflicts, [""; 0], "{place}: settled");
}

#[test]
fn what_was_removed_here_stays_so_however_often_is_pulled_and_goes_out_with_the_next_push() {
    everywhere(stays_removed);
}

fn stays_removed(place: &str, oak: &Machine, elm: &Machine) {
    both_have(place, oak, elm, ("tmp/log", "spilled"));
    fs::remove_file(oak.path("demo").join("tmp/log")).expect("it is there");
    for text in ["two", "three"] {
        elm.says("demo", text);
        elm.push("demo").expect(place);
        oak.pull("demo").expect(place);
        assert_eq!(read(oak, "demo", "tmp/log"), None, "{place}: {text}");
    }
    oak.push("demo").expect(place);
    assert_eq!(oak.remote.show(&named("demo")).expect(place).files, [], "{place}");
    oak.pull("demo").expect(place);
    assert_eq!((read(oak, "demo", "tmp/log"), read(elm, "demo", "tmp/log")), (None, Some("spilled".into())), "{place}");
}

#[test]
fn a_file_that_was_changed_here_only_is_sent_also_after_a_pull() {
    everywhere(goes_out_after_a_pull);
}

fn goes_out_after_a_pull(place: &str, oak: &Machine, elm: &Machine) {
    let head = "checkpoints/repo.git/HEAD";
    both_have(place, oak, elm, (head, "first"));
    put(oak, "demo", head, "of oak");
    elm.says("demo", "two");
    elm.push("demo").expect(place);
    assert_eq!(oak.pull("demo").expect(place).conflicts, [""; 0], "{place}");
    assert_eq!(oak.push("demo").expect(place).conflicts, [""; 0], "{place}");
    elm.pull("demo").expect(place);
    assert_eq!(read(elm, "demo", head).as_deref(), Some("of oak"), "{place}");
}
