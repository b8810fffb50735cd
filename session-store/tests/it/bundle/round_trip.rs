//! Out and in again: nothing is lost, nothing is added, and the copy goes on.

use super::{Elsewhere, bundle, files, how, import, imported};
use crate::garden::Garden;
use crate::scratch::{dead, identity_json, name, picture, user};
use crate::support::ts;
use session_checkpoint::{Attached, Cancel, Options as CheckpointOptions};
use session_core::checkpoint::{ChangesOf, CheckpointRef, Checkpointer as _, OnConflict};
use session_core::{Event, Extension, Message, PathRule, SessionPathError, Usage};
use session_store::{
    BundleImport, BundleLimits, Checkup, InboxMessage, LeftOutWhy, PreviewSize, Store, StoreError, TitleSource,
    USER_LINE,
};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What a session ends up with after a long life.
pub(super) fn rich() -> Garden {
    let garden = Garden::of_two_turns();
    let session = garden.open("demo");
    let spilled = session.spill().bytes("shell", "three oaks\n".repeat(5_000).as_bytes(), PreviewSize::default());
    let preview = spilled.expect("there is room").text();
    session.append_messages([Message::tool_result("c1", "Shell", preview)]).expect("nothing forbids it");
    session.append_messages([Message::user("no")]).expect("nothing forbids it");
    session.rollback(1).expect("nothing forbids it");
    let usage = Usage { model: "oak".into(), response: "r1".into(), cost: Some(0.5), ..Usage::default() };
    session.append(&[Extension::Usage(usage).into_event(ts())]).expect("nothing forbids it");
    session.set_title("Three \"oaks\"", TitleSource::User).expect("nothing forbids it");
    session.pin().expect("nothing forbids it");
    session.inbox().deliver(&InboxMessage::now(USER_LINE, "use tabs")).expect("nothing forbids it");
    drop(session);
    let mut history =
        OpenOptions::new().append(true).open(garden.scratch.path("demo/history.jsonl")).expect("it is there");
    history.write_all(b"not json \xff\n\0\0\n{\"ts\":\"2026\n").expect("there is room");
    history.write_all(user(59, "after that").as_bytes()).expect("there is room");
    let meta = fs::read_to_string(garden.scratch.path("demo/meta.json")).expect("it is there");
    garden.scratch.put("demo/meta.json", meta.replacen('{', "{\n  \"tags\": [\"trees\"],", 1));
    for (path, text) in [
        ("meta.json.bad-20260102T030405Z", "{"),
        (".quarantine/history-7-5-0011223344556677", "{\"ts\""),
        (".backup/history-20260102T030405Z-3-0011", "{}\n"),
        (".raw/unknown.jsonl", "{}\n"),
        ("inbox/.failed/1-2-0011223344556677", "late"),
        ("inbox/.failed/1-2-0011223344556677.reason", "it is late"),
        ("proc/bg1.log", "planted\n"),
        ("proc/bg1.exit", "0\n"),
        ("proc/.bg1.cut", "{\"head_bytes\":3,\"marker_bytes\":1,\"skipped_bytes\":9}\n"),
        ("notes of mine/木.txt", "three oaks"),
    ] {
        garden.scratch.put(Path::new("demo").join(path), text);
    }
    let record = "{\n  \"id\": \"bg1\",\n  \"name\": \"t\",\n  \"command\": \"make\",\n  \"cwd\": \"/w\",\n  \"pid\": 4711,\n  \"started\": \"2026-01-02T03:04:05Z\",\n  \"report\": \"exit\",\n  \"state\": \"exited\",\n  \"exit_code\": 0,\n  \"ended\": \"2026-01-02T03:04:06Z\"\n}\n";
    garden.scratch.put("demo/proc/bg1.json", record);
    garden
        .scratch
        .put("demo/proc/.bg1.id", format!("{{\"process\":{},\"told\":{{\"end\":true}}}}\n", identity_json(&dead())));
    garden
}

/// The files of a session with their bytes, but for what belongs to the machine.
fn own_files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files(dir);
    let here =
        [".lock", ".meta.lock", ".bundle", "checkpoints/lock", "checkpoints/statcache", "checkpoints/repo.git/config"];
    files.retain(|path, _| !here.iter().any(|here| path == Path::new(here)));
    files
}

#[test]
fn e03_a_session_comes_back_byte_for_byte_and_so_does_its_bundle() {
    let garden = rich();
    let before = picture(&garden.scratch.path("demo"));
    let first = bundle(&garden.store(), &["demo"]);
    assert_eq!(picture(&garden.scratch.path("demo")), before, "nothing is written to the session");
    let elsewhere = Elsewhere::new();
    assert_eq!(imported(&elsewhere.store(), &first), ["demo"]);
    let (mut here, there) = (own_files(&garden.scratch.path("demo")), own_files(&elsewhere.0.path("demo")));
    // What led to a process is all that is missing.
    let known = here.insert(
        "proc/.bg1.id".into(),
        b"{\"told\":{\"end\":true,\"output\":0,\"searched\":0,\"open_line_told\":false}}\n".to_vec(),
    );
    assert!(known.is_some_and(|known| known.starts_with(b"{\"process\"")));
    assert_eq!(here.keys().collect::<Vec<_>>(), there.keys().collect::<Vec<_>>());
    for (path, bytes) in &here {
        assert!(bytes == &there[path], "{}: {}", path.display(), String::from_utf8_lossy(&there[path]));
    }
    assert!(here.len() > 20, "{}", here.len());
    let second = bundle(&elsewhere.store(), &["demo"]);
    assert!(first == second, "{} and {} bytes", first.len(), second.len());
    let third = Elsewhere::new();
    imported(&third.store(), &second);
    assert!(bundle(&third.store(), &["demo"]) == first);
}

#[test]
fn e03_a_copy_goes_on_as_the_session_would_have() {
    let garden = rich();
    let elsewhere = Elsewhere::new();
    let store = elsewhere.store();
    imported(&store, &bundle(&garden.store(), &["demo"]));
    let loaded = store.load(&name("demo")).expect("it can be read");
    assert_eq!(loaded.messages, garden.store().load(&name("demo")).expect("it can be read").messages);
    assert_eq!(loaded.defects.len(), 3);
    let (here, there) = (garden.store().read_meta(&name("demo")), store.read_meta(&name("demo")));
    assert_eq!(there.expect("it can be read").meta, here.expect("it can be read").meta);
    let info = store.list(session_store::Empties::Hide).expect("it can be read");
    assert_eq!(info[0].title.as_deref(), Some("Three \"oaks"));
    // The spill is where its message says.
    let said = crate::support::texts(&loaded);
    let path =
        said.iter().find_map(|text| text.split("all of it is in ").nth(1)?.split(']').next()).expect("it says where");
    assert_eq!(fs::metadata(elsewhere.0.path("demo").join(path)).expect("it is there").len(), 55_000);

    let session = store.open(&name("demo")).expect("it is there");
    let lock = session.lock().expect("nobody holds it");
    let turn = session.begin_turn(&lock, "t9").expect("nothing runs");
    assert_eq!(session.steering().take().expect("nothing forbids it").messages, [Message::user("use tabs")]);
    session.append_messages([Message::assistant("tabs")]).expect("nothing forbids it");
    turn.end("done", None).expect("it runs");
    lock.release().expect("it is held");
    assert_eq!(session.load().expect("it can be read").messages.len(), loaded.messages.len() + 2);
}

/// What is wrong with the session of a store, by the codes of it.
fn codes(store: &Store) -> Vec<session_store::FindingCode> {
    let examined = store.examine(&Checkup::default()).expect("it can be read");
    let mut codes: Vec<_> = examined.findings.into_iter().map(|finding| finding.code).collect();
    codes.sort_by_key(|code| format!("{code:?}"));
    codes
}

#[test]
fn e03_a_copy_is_as_healthy_as_the_session() {
    let garden = rich();
    let elsewhere = Elsewhere::new();
    imported(&elsewhere.store(), &bundle(&garden.store(), &["demo"]));
    assert_eq!(codes(&elsewhere.store()), codes(&garden.store()));
}

/// The most memory that this process has had.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the kernel counts it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is there");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number") << 10
}

#[test]
fn e03_a_large_session_goes_out_and_in_in_little_memory() {
    const LARGE: u64 = 256 << 20;
    let garden = Garden::new();
    garden.scratch.session("oaks", &[user(5, "plant")]);
    let log = garden.scratch.put("oaks/proc/bg1.log", "");
    fs::File::options().write(true).open(&log).and_then(|file| file.set_len(LARGE)).expect("it is sparse");
    let before = peak_bytes();
    let packed = bundle(&garden.store(), &["oaks"]);
    let limits = BundleLimits { max_expansion: u64::MAX, ..BundleLimits::default() };
    let contents = garden.store().examine_bundle(how().file, &packed[..], &limits).expect("it is a good one");
    assert!(contents.sessions[0].bytes > LARGE);
    assert!(peak_bytes() - before < 64 << 20, "{} bytes", peak_bytes() - before);
}

#[test]
fn e03_checkpoints_of_a_copy_restore_what_was() {
    let garden = rich();
    let elsewhere = Elsewhere::new();
    imported(&elsewhere.store(), &bundle(&garden.store(), &["demo"]));
    let options = CheckpointOptions::new(garden.work(), elsewhere.0.path("demo/checkpoints"));
    let mut checkpoints = Attached::new(options, Vec::new(), Cancel::new());
    assert_eq!(garden.oaks(), "3");
    checkpoints.restore(CheckpointRef::Taken(1), OnConflict::Stop).map(drop).expect("it is whole");
    assert_eq!(garden.oaks(), "1");
    garden.plant("9");
    assert!(checkpoints.take("", ChangesOf::Session).expect("it goes on") > 3);
}

#[test]
fn e03_importing_again_changes_nothing() {
    let garden = rich();
    let elsewhere = Elsewhere::new();
    let store = elsewhere.store();
    let bundle = bundle(&garden.store(), &["demo"]);
    imported(&store, &bundle);
    let session = store.open(&name("demo")).expect("it is there");
    session.append_messages([Message::user("it has gone on since")]).expect("nothing forbids it");
    drop(session);
    let before = picture(&elsewhere.0.path("demo"));
    let again = import(&store, &bundle).expect("it is known");
    assert_eq!((again.len(), again[0].name.as_str(), again[0].is_known), (1, "demo", true));
    assert_eq!(picture(&elsewhere.0.path("demo")), before);
    assert_eq!(store.names().expect("it can be read").len(), 1);
    // Also under another name.
    store.rename(&name("demo"), &name("oaks")).expect("nothing forbids it");
    assert_eq!(imported(&store, &bundle), ["oaks"]);
}

#[test]
fn e03_a_name_that_is_taken_gives_a_new_one() {
    let garden = rich();
    let store = garden.store();
    let bundle = bundle(&store, &["demo"]);
    let before = picture(&garden.scratch.path("demo"));
    let came = import(&store, &bundle).expect("there are other names");
    assert_eq!((came[0].name.as_str(), came[0].was.as_str(), came[0].is_known), ("demo-2", "demo", false));
    assert_eq!(picture(&garden.scratch.path("demo")), before);
    assert_eq!(garden.said("demo-2"), garden.said("demo"));
    assert_eq!(store.read_meta(&name("demo-2")).expect("it can be read").meta.name, "demo-2");
    let other = BundleImport { sha256: "cd", ..how() };
    assert_eq!(store.import_bundle(&other, &bundle[..]).expect("there are more")[0].name.as_str(), "demo-3");
    let wished = name("birches");
    let named = BundleImport { sha256: "ef", name: Some(&wished), ..how() };
    assert_eq!(store.import_bundle(&named, &bundle[..]).expect("it is free")[0].name, wished);
    let taken = BundleImport { sha256: "01", ..named };
    assert!(matches!(store.import_bundle(&taken, &bundle[..]), Err(StoreError::Exists { .. })));
    assert_eq!(store.names().expect("it can be read").len(), 4);
}

#[test]
fn e03_a_session_without_a_history_comes_back_too() {
    let garden = Garden::new();
    let new = session_store::NewSession { name: Some(name("empty")), title: "Oaks".into(), ..Default::default() };
    garden.store().create(&new).expect("it is free");
    let first = bundle(&garden.store(), &["empty"]);
    let elsewhere = Elsewhere::new();
    assert_eq!(imported(&elsewhere.store(), &first), ["empty"]);
    let meta = elsewhere.store().read_meta(&name("empty")).expect("it can be read").meta;
    assert_eq!(meta.title, "Oaks");
    assert!(bundle(&elsewhere.store(), &["empty"]) == first);
}

#[test]
fn e03_a_look_says_what_is_in_a_bundle() {
    let garden = rich();
    let bundle = bundle(&garden.store(), &["demo"]);
    let elsewhere = Elsewhere::new();
    let contents = elsewhere.store().examine_bundle(how().file, &bundle[..], &how().limits).expect("it is a good one");
    let session = &contents.sessions[0];
    assert_eq!((contents.masked, contents.sessions.len(), session.name.as_str()), (false, 1, "demo"));
    assert_eq!((session.messages, session.title.as_str()), (6, "Three \"oaks"));
    assert!(session.members > 20 && session.bytes > 55_000);
    assert!(elsewhere.is_empty());
}

#[test]
fn e03_what_no_archive_should_have_is_left_out_and_told() {
    let garden = Garden::new();
    garden.scratch.session("oaks", &[user(5, "plant")]);
    let dir = garden.scratch.dir("oaks/tmp");
    std::os::unix::fs::symlink("/etc/passwd", dir.join("link")).expect("the scratch directory is ours");
    nix::unistd::mkfifo(&dir.join("fifo"), nix::sys::stat::Mode::S_IRWXU).expect("the scratch directory is ours");
    garden.scratch.put("oaks/tmp/a\nb", "x");
    garden.scratch.put("oaks/proc/bg1.json", "{");
    let store = garden.store();
    let mut plan = store.bundle(session_store::BundleSecrets::Keep);
    let told = plan.add(&name("oaks"), None, &mut |_| {}).expect("the rest goes along").clone();
    let control = SessionPathError { path: "tmp/a\nb".to_owned(), rule: PathRule::Control };
    let left: Vec<(&str, &LeftOutWhy)> = told.left_out.iter().map(|left| (left.path.as_str(), &left.why)).collect();
    assert_eq!(
        left,
        [
            ("tmp/a\nb", &LeftOutWhy::Name(control)),
            ("tmp/fifo", &LeftOutWhy::Special),
            ("tmp/link", &LeftOutWhy::Link),
            ("proc/bg1.json", &LeftOutWhy::Unreadable),
        ]
    );
    assert_eq!(told.members, 1);
}

#[test]
fn e03_nothing_of_the_moment_is_in_a_bundle() {
    let garden = Garden::new();
    let long = "very-".repeat(25);
    garden.scratch.session("oaks", &[user(5, "plant")]);
    garden.scratch.session(&long, &[user(5, "plant")]);
    garden.scratch.put(format!("{long}/tmp/{}.txt", "x".repeat(200)), "a name that is too long for a header");
    let store = garden.store();
    let one = bundle(&store, &["oaks", &long]);
    assert!(one == bundle(&store, &[&long, "oaks"]), "the order does not count");
    for path in ["oaks/history.jsonl".to_owned(), format!("{long}/history.jsonl")] {
        let path = garden.scratch.path(path);
        crate::scratch::touch(&path, crate::scratch::at_second(1_000_000_000));
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).expect("it is ours");
    }
    assert!(one == bundle(&store, &["oaks", &long]), "times and modes do not count");
    let elsewhere = Elsewhere::new();
    assert_eq!(imported(&elsewhere.store(), &one), ["oaks", &long]);
    assert!(one == bundle(&elsewhere.store(), &["oaks", &long]));
    let ours = elsewhere.0.path("oaks");
    for (path, mode) in [(ours.clone(), 0o700), (ours.join("history.jsonl"), 0o600)] {
        let found = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).expect("it is there").permissions());
        assert_eq!(found & 0o777, mode);
    }
}

#[test]
fn e03_stock_programs_read_a_bundle() {
    let garden = Garden::new();
    garden.scratch.session("oaks", &[user(5, "plant")]);
    let bytes = bundle(&garden.store(), &["oaks"]);
    let tar = zstd::decode_all(&bytes[..]).expect("it is one frame");
    let mut archive = tar::Archive::new(&tar[..]);
    let paths: Vec<String> = archive
        .entries()
        .expect("it is an archive")
        .map(|entry| entry.expect("it is whole").path().expect("it is text").display().to_string())
        .collect();
    assert_eq!(paths, [".bundle.json", "oaks/history.jsonl"]);
}

#[test]
fn e03_an_event_of_the_reference_alone_is_a_session_too() {
    // The reference makes directories without our files, and a history that ends in the middle of a line.
    let garden = Garden::new();
    let mut torn = user(5, "plant").into_bytes();
    torn.extend_from_slice(b"{\"ts\":\"2026-01-02T03:04:06Z\",\"kind\":\"mess");
    garden.scratch.put("oaks/history.jsonl", &torn);
    let first = bundle(&garden.store(), &["oaks"]);
    let elsewhere = Elsewhere::new();
    imported(&elsewhere.store(), &first);
    assert_eq!(fs::read(elsewhere.0.path("oaks/history.jsonl")).expect("it is there"), torn, "no byte is lost");
    assert!(bundle(&elsewhere.store(), &["oaks"]) == first);
    let session = elsewhere.store().open(&name("oaks")).expect("it is there");
    session.append(&[Event::notice(ts(), "it goes on")]).expect("the end is set apart");
}
