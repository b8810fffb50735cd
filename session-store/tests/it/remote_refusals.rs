//! What stands against copying a session, each as an error of its own.

use crate::scratch::{Scratch, name, user};
use crate::support::quick;
use nix::errno::Errno;
use session_store::remote::{PullOptions, PushOptions, Remote, RemoteError, RemoteOptions};
use session_store::{Options, Session, StoreError};
use session_testing::s3::{S3, Trouble};
use session_testing::{Call, refusing};
use std::fs;
use std::thread;
use std::time::Duration;

fn options() -> RemoteOptions {
    let pause = Duration::from_millis(1);
    RemoteOptions { machine: "oak".to_owned(), first_pause: pause, longest_pause: pause, ..RemoteOptions::default() }
}

fn on_server(server: &S3, options: RemoteOptions) -> Remote {
    let options = RemoteOptions { endpoint: Some(server.endpoint()), anonymous: true, allow_http: true, ..options };
    Remote::open("s3://bucket/team", options).expect("the settings are whole")
}

fn garden() -> Scratch {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant three oaks")]);
    scratch
}

#[test]
fn what_a_newer_version_wrote_is_neither_read_nor_replaced() {
    let (scratch, store) = (garden(), tempfile::tempdir().expect("a scratch directory"));
    let remote = Remote::open(&store.path().display().to_string(), options()).expect("it is a directory");
    let session = scratch.store_with(quick()).open(&name("demo")).expect("it is there");
    remote.push(&session, &PushOptions::default()).expect("nothing forbids it");
    let manifest = store.path().join("manifests/demo.json");
    let text = fs::read_to_string(&manifest).expect("it was written");
    let newer = text.replacen("\"format\":1", "\"format\":99", 1);
    assert_ne!(newer, text);
    fs::write(&manifest, &newer).expect("it is ours");
    let elsewhere = Scratch::new();
    let pulled = remote.pull(&elsewhere.store(), &name("demo"), &PullOptions::default());
    assert!(matches!(pulled, Err(RemoteError::NewerFormat { format: 99, .. })), "{pulled:?}");
    assert!(!elsewhere.path("demo").exists());
    session.append_messages([session_core::Message::user("and a birch")]).expect("nothing forbids it");
    let pushed = remote.push(&session, &PushOptions::default());
    assert!(matches!(pushed, Err(RemoteError::NewerFormat { format: 99, .. })), "{pushed:?}");
    assert_eq!(fs::read_to_string(&manifest).expect("it is there"), newer);
}

#[test]
fn a_manifest_that_others_are_always_quicker_to_write_is_given_up() {
    let server = S3::start();
    let on_server = RemoteOptions { endpoint: Some(server.endpoint()), anonymous: true, allow_http: true, ..options() };
    let remote = Remote::open("s3://bucket/team", on_server).expect("the settings are whole");
    let lease = |session: &str| remote.lease(&name(session), Duration::from_secs(60));
    lease("warm").expect("nobody has it").release().expect("it is held");
    // A look, a write that comes too late, and a look at who won; again and again.
    (0..30).filter(|n| n % 3 == 1).for_each(|n| server.trouble(n, Trouble::Status(412)));
    let refused = lease("demo").map(|lease| lease.fence());
    assert!(matches!(&refused, Err(RemoteError::Contended { name }) if name.as_str() == "demo"), "{refused:?}");
    server.recovers();
    lease("demo").expect("nobody has it").release().expect("it is held");
}

#[test]
fn a_file_that_changes_while_it_is_copied_is_not_copied() {
    let server = S3::start();
    let remote = on_server(&server, RemoteOptions { tries: 10_000, ..options() });
    let scratch = garden();
    let session = scratch.store_with(quick()).open(&name("demo")).expect("it is there");
    remote.push(&session, &PushOptions::default()).expect("nothing forbids it");
    let spill = scratch.put("demo/tmp/spill", "three oaks\n".repeat(40_000));
    // Whether a large file is there already is asked before it is sent. The answer comes when it is another one.
    server.dies_at(0, Trouble::CutBefore);
    let met = server.met().len();
    let pushed = thread::scope(|scope| {
        let pushing = scope.spawn(|| remote.push(&session, &PushOptions::default()));
        crate::scratch::eventually(|| (server.met().len() > met).then_some(()));
        fs::write(&spill, "two elms\n".repeat(40_000)).expect("it is ours");
        server.recovers();
        pushing.join().expect("it does not panic")
    });
    assert!(matches!(&pushed, Err(RemoteError::KeepsChanging { path }) if *path == spill), "{pushed:?}");
    remote.push(&session, &PushOptions::default()).expect("it stands still now");
}

#[test]
fn without_anything_to_wait_with_no_request_is_sent() {
    let opened = refusing(Call::Epoll, Errno::EMFILE, || Remote::in_memory(options()).map(drop));
    let Err(RemoteError::Runtime(cause)) = opened else { panic!("{opened:?}") };
    assert_eq!(cause.raw_os_error(), Some(Errno::EMFILE as i32));
}

#[test]
fn what_stands_against_a_copy_here_is_told_as_the_store_tells_it() {
    let scratch = garden();
    let store = scratch.store_with(quick());
    let remote = Remote::in_memory(options()).expect("memory can be had");
    let session = store.open(&name("demo")).expect("it is there");
    remote.push(&session, &PushOptions::default()).expect("nothing forbids it");
    let lock = session.lock().expect("nobody holds it");
    let pulled = remote.pull(&store, &name("demo"), &PullOptions::default());
    assert!(matches!(pulled, Err(RemoteError::Store(StoreError::Locked { .. }))), "{pulled:?}");
    lock.release().expect("it is held");
    // A directory that anybody may open, under a name that no copy can have.
    let odd = scratch.session("-rf", &[user(1, "plant")]);
    let odd = Session::open_dir(&odd, Options::default()).expect("it is a directory with a history");
    let pushed = remote.push(&odd, &PushOptions::default());
    assert!(matches!(&pushed, Err(RemoteError::Store(StoreError::Name(error))) if error.name == "-rf"), "{pushed:?}");
}
