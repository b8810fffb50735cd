//! What single calls on a session cost, absolutely: for finding out which of them changed. Ratios to the floor of the
//! system and to SQLite are in `session-bench`.

use divan::Bencher;
use session_core::{Event, Extension, Message, SessionName, Usage, parse_time};
use session_store::{Durability, Empties, NewSession, Options, Session, Store};
use tempfile::TempDir;

fn main() {
    divan::main();
}

/// A store in a scratch directory, and a session of it with some messages.
fn begin(durability: Durability) -> (TempDir, Store, Session) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let options = Options { durability, ..Options::default() };
    let store = Store::open_at(scratch.path().join("sessions")).with_options(options);
    let new = NewSession { name: SessionName::new("demo").ok(), ..NewSession::default() };
    let session = store.create(&new).expect("its name is free");
    session.append_messages((0..100).map(|n| Message::user(n.to_string()))).expect("there is room");
    (scratch, store, session)
}

fn message() -> Event {
    let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
    Event::message(ts, Message::assistant("The third oak stands. ".repeat(40)))
}

#[divan::bench(args = [Durability::Os, Durability::Data])]
fn append(bencher: Bencher<'_, '_>, durability: Durability) {
    let (_scratch, _store, session) = begin(durability);
    let event = [message()];
    bencher.bench_local(|| session.append(&event).expect("there is room"));
}

#[divan::bench(args = [Durability::Os, Durability::Data])]
fn append_ten_at_once(bencher: Bencher<'_, '_>, durability: Durability) {
    let (_scratch, _store, session) = begin(durability);
    let events = vec![message(); 10];
    bencher.bench_local(|| session.append(&events).expect("there is room"));
}

#[divan::bench]
fn append_usage(bencher: Bencher<'_, '_>) {
    let (_scratch, _store, session) = begin(Durability::Os);
    let ts = message().ts.expect("it has one");
    let usage = [Extension::Usage(Usage { cost: Some(0.25), ..Usage::default() }).into_event(ts)];
    bencher.bench_local(|| session.append(&usage).expect("there is room"));
}

#[divan::bench]
fn open_and_close(bencher: Bencher<'_, '_>) {
    let (_scratch, store, session) = begin(Durability::Os);
    let name = SessionName::new(session.name()).expect("it is one");
    bencher.bench_local(|| store.open(&name).expect("it is there").close());
}

#[divan::bench]
fn change_metadata(bencher: Bencher<'_, '_>) {
    let (_scratch, _store, session) = begin(Durability::Os);
    let mut n = 0_u64;
    bencher.bench_local(|| {
        n += 1;
        session.update_meta(|meta| meta.model = n.to_string()).expect("there is room")
    });
}

#[divan::bench]
fn lock_and_release(bencher: Bencher<'_, '_>) {
    let (_scratch, _store, session) = begin(Durability::Os);
    bencher.bench_local(|| session.lock().expect("it is free").release());
}

#[divan::bench]
fn create_and_delete(bencher: Bencher<'_, '_>) {
    let (_scratch, store, _session) = begin(Durability::Os);
    bencher.bench_local(|| {
        let session = store.create(&NewSession::default()).expect("its name is new");
        let name = SessionName::new(session.name()).expect("it is one");
        drop(session);
        store.delete(&name, session_store::Deletion::Careful).expect("nothing forbids it");
    });
}

#[divan::bench(args = [10, 100])]
fn list_without_a_cache(bencher: Bencher<'_, '_>, sessions: u32) {
    let (_scratch, store, session) = begin(Durability::Os);
    drop(session);
    for _ in 1..sessions {
        let session = store.create(&NewSession::default()).expect("its name is new");
        session.append(&[message()]).expect("there is room");
    }
    bencher.bench_local(|| store.list(Empties::Show).expect("it can be read").len());
}
