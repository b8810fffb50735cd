//! Metadata that is damaged, lost or strange.

use session_core::{Message, MetaFault, TitleSource, parse_time};
use session_store::{MetaDamage, MetaReading, MetaSource, NewSession, Session, Store};
use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// A session with a conversation, a title and a parent, closed.
fn session() -> (TempDir, Store, session_core::SessionName) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"))
        .with_clock(|| parse_time("2026-01-02T12:04:05+09:00").expect("it is well formed"));
    let name: session_core::SessionName = "demo".parse().expect("it is a name");
    let parent = Some("before".parse().expect("it is a name"));
    let new = NewSession { name: Some(name.clone()), workspace: "/w".into(), parent, ..NewSession::default() };
    let session = store.create(&new).expect("the name is free");
    session.append_messages([Message::user("plant three oaks"), Message::user("now")]).expect("it can be appended to");
    session.settings("oak", false, Vec::new()).expect("it can be appended to");
    session.set_title("Oaks", TitleSource::User).expect("it can be set");
    session.close().expect("it can be closed");
    (dir, store, name)
}

/// Damages `meta.json`, long ago, and removes our copy of it.
fn damage(store: &Store, name: &session_core::SessionName, bytes: &[u8]) {
    let paths = store.paths(name).expect("it is in the store");
    fs::remove_file(paths.meta_copy()).expect("it is there");
    fs::write(paths.meta(), bytes).expect("it can be written");
    make_old(&paths.meta());
}

fn make_old(path: &Path) {
    let old = SystemTime::now() - Duration::from_secs(60);
    let file = File::options().append(true).open(path).expect("it is there");
    file.set_times(FileTimes::new().set_modified(old)).expect("it is ours");
}

fn names(session: &Path) -> Vec<String> {
    let entries = fs::read_dir(session).expect("it is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn assert_is_from_history(reading: &MetaReading) {
    let meta = &reading.meta;
    assert_eq!(reading.source, MetaSource::History);
    assert_eq!(
        [&meta.name, &meta.workspace, &meta.first_prompt, &meta.title, &meta.model, &meta.parent],
        ["demo", "/w", "plant three oaks", "Oaks", "oak", "before"]
    );
    let time = parse_time("2026-01-02T03:04:05Z");
    assert_eq!((meta.created, meta.updated), (time, time));
    assert_eq!(meta.x.get("rebuilt"), Some("true"));
    assert_eq!(meta.x.get("title_by"), Some(r#""user""#));
}

#[test]
fn m02_a_session_with_damaged_metadata_opens_with_what_its_history_says() {
    for (bytes, damaged) in [
        (&b"{\"name\":"[..], None),
        (b"", Some(MetaDamage::Empty)),
        (b"[]", Some(MetaDamage::Content(MetaFault::NotAnObject))),
        (b"{\"title\":7}", Some(MetaDamage::Content(MetaFault::WrongType { field: "title" }))),
        (&[0; 64], None),
    ] {
        let (_dir, store, name) = session();
        damage(&store, &name, bytes);
        let reading = store.open(&name).expect("it opens").meta().expect("it can be read");
        assert_is_from_history(&reading);
        assert!(reading.damage.is_some());
        assert!(damaged.is_none() || reading.damage == damaged, "{:?}", reading.damage);
    }
}

#[test]
fn m02_what_stands_in_the_place_of_metadata_hinders_nobody() {
    type Put = fn(&Path);
    let puts: [Put; 4] = [
        |path| fs::create_dir(path).expect("the name is free"),
        |path| std::os::unix::fs::symlink("/etc/passwd", path).expect("the name is free"),
        |path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).expect("the name is free"),
        |path| File::create(path).and_then(|file| file.set_len(1 << 30)).expect("it can be made"),
    ];
    for put in puts {
        let (_dir, store, name) = session();
        damage(&store, &name, b"");
        let path = store.paths(&name).expect("it is in the store").meta();
        fs::remove_file(&path).expect("it is there");
        put(&path);
        let session = store.open(&name).expect("it opens");
        let reading = session.meta().expect("it can be read");
        assert_is_from_history(&reading);
        assert!(matches!(reading.damage, Some(MetaDamage::Unreadable { .. })), "{:?}", reading.damage);
        session.update_meta(|meta| meta.cost = 1.0).expect("it can be written");
        let reading = session.meta().expect("it can be read");
        assert_eq!((reading.source, reading.meta.cost), (MetaSource::File, 1.0));
        assert!(names(session.dir()).iter().any(|name| name.starts_with("meta.json.bad-")));
    }
}

#[test]
fn our_copy_stands_in_for_a_file_that_is_not_whole() {
    let (_dir, store, name) = session();
    let paths = store.paths(&name).expect("it is in the store");
    store.open(&name).expect("it opens").update_meta(|meta| meta.cost = 2.5).expect("it can be written");
    fs::write(paths.meta(), "{\"name\":\"de").expect("it can be written");
    let reading = store.read_meta(&name).expect("it can be read");
    assert_eq!((reading.source, reading.meta.cost, reading.meta.title.as_str()), (MetaSource::Copy, 2.5, "Oaks"));
    fs::remove_file(paths.meta()).expect("it is there");
    let reading = store.read_meta(&name).expect("it can be read");
    assert_eq!((reading.source, reading.damage, reading.meta.cost), (MetaSource::Copy, None, 2.5));
}

#[test]
fn m03_a_corrupt_file_is_kept_when_it_is_replaced_and_never_touched_by_reading() {
    let corrupt = br#"{"parent":"before","title":"Elms","cost":"#;
    let (_dir, store, name) = session();
    damage(&store, &name, corrupt);
    let dir = store.paths(&name).expect("it is in the store").dir().to_owned();
    let before = names(&dir);
    let session = store.open(&name).expect("it opens");
    session.meta().expect("it can be read");
    store.read_meta(&name).expect("it can be read");
    assert_eq!(names(&dir), before);
    assert_eq!(fs::read(dir.join("meta.json")).expect("it is there"), corrupt);

    session.notice("one more").expect("it can be appended to");
    session.close().expect("it can be closed");
    let added: Vec<String> = names(&dir).into_iter().filter(|name| !before.contains(name)).collect();
    assert_eq!(added, [".meta.json", "meta.json.bad-20260102T030405Z"]);
    assert_eq!(fs::read(dir.join(&added[1])).expect("it is there"), corrupt);
    let meta = store.read_meta(&name).expect("it can be read").meta;
    assert_eq!((meta.title.as_str(), meta.x.get("rebuilt")), ("Oaks", Some("true")));
}

#[test]
fn m03_two_corrupt_files_of_one_second_are_both_kept() {
    let (_dir, store, name) = session();
    let session = store.open(&name).expect("it opens");
    for bytes in ["first", "second"] {
        fs::write(session.paths().meta(), bytes).expect("it can be written");
        session.update_meta(|meta| meta.cost += 1.0).expect("it can be written");
    }
    let kept = |name: &str| fs::read_to_string(session.dir().join(name)).expect("it is there");
    assert_eq!(kept("meta.json.bad-20260102T030405Z"), "first");
    assert_eq!(kept("meta.json.bad-20260102T030405Z-2"), "second");
}

#[test]
fn a_corrupt_copy_of_ours_is_kept_too() {
    let (_dir, store, name) = session();
    let session = store.open(&name).expect("it opens");
    fs::write(session.paths().meta_copy(), "not json").expect("it can be written");
    assert_eq!(session.meta().expect("it can be read").meta.workspace, "/w");
    session.update_meta(|meta| meta.cost = 1.0).expect("it can be written");
    let kept = session.dir().join(".meta.json.bad-20260102T030405Z");
    assert_eq!(fs::read_to_string(kept).expect("it is there"), "not json");
}

#[test]
fn m04_times_are_utc_and_only_the_date_in_a_name_is_local() {
    for (now, date, stored) in [
        ("2026-03-08T00:30:00+09:00", "2026-03-08", "2026-03-07T15:30:00Z"),
        ("2026-03-07T23:30:00-08:00", "2026-03-07", "2026-03-08T07:30:00Z"),
    ] {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let store = Store::open_at(dir.path()).with_clock(|| parse_time(now).expect("it is well formed"));
        let session = store.create(&NewSession::default()).expect("it can be created");
        session.append_messages([Message::user("plant three oaks")]).expect("it can be appended to");
        session.update_meta(|meta| meta.cost = 1.0).expect("it can be written");
        assert!(session.name().starts_with(&format!("{date}-")), "{}", session.name());
        let meta = fs::read_to_string(session.paths().meta()).expect("it is there");
        for field in ["created", "updated"] {
            assert!(meta.contains(&format!("\"{field}\": \"{stored}\"")), "{meta}");
        }
        let history = fs::read_to_string(session.paths().history()).expect("it is there");
        assert!(history.lines().all(|line| line.starts_with(&format!("{{\"ts\":\"{stored}\""))), "{history}");
    }
}

#[test]
fn m09_the_directorys_name_is_the_sessions() {
    let (_dir, store, name) = session();
    let path = store.paths(&name).expect("it is in the store").meta();
    for (bytes, said) in [(r#"{"name":""}"#, "demo"), (r#"{"name":"other"}"#, "other")] {
        fs::remove_file(store.paths(&name).expect("it is in the store").meta_copy()).expect("it is there");
        fs::write(&path, bytes).expect("it can be written");
        let session: Session = store.open(&name).expect("it opens");
        assert_eq!((session.name(), session.meta().expect("it can be read").meta.name.as_str()), ("demo", said));
        session.update_meta(|meta| meta.cost += 1.0).expect("it can be written");
    }
}
