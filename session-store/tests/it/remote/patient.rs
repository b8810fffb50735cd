//! Others who are quicker, answers that are lost, and servers that have no conditions at all.

use super::{Clock, Machine, named, on_s3, on_s3_with, options};
use crate::child;
use session_store::remote::{Change, PushOptions, RemoteError, RemoteOptions, RemoveOptions, Traffic};
use session_testing::s3::{S3, Trouble};
use std::fs;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const MANIFEST: &str = "bucket/team/manifests/demo.json";

/// A machine whose session is in the copy, but for one event.
fn ahead(server: &S3, options: RemoteOptions) -> Machine {
    let oak = Machine::new(on_s3_with(server, options));
    oak.create("demo");
    oak.says("demo", "plant three oaks");
    oak.push("demo").expect("it can be sent");
    oak.says("demo", "and a birch");
    oak
}

/// The requests from `from` on that wrote the manifest, by how many came before them.
fn writes(server: &S3, from: usize) -> Vec<usize> {
    let met = &server.met()[from..];
    let is_one = |n: &usize| met[*n].method == "PUT" && met[*n].target.contains("/manifests/demo.json");
    (0..met.len()).filter(is_one).collect()
}

/// Makes every write of the manifest come too late while `act` is at work.
///
/// Which requests these are is found out one after the other: each run makes one more of them late, until it is given up.
fn always_too_late<T>(server: &S3, mut act: impl FnMut() -> Result<T, RemoteError>) -> RemoteError {
    let mut late = Vec::new();
    loop {
        let from = server.met().len();
        late.iter().for_each(|n| server.trouble(*n, Trouble::Status(412)));
        let done = act();
        server.recovers();
        match done {
            Err(error) => return error,
            Ok(_) => late.push(*writes(server, from).last().expect("it has written")),
        }
        assert!(late.len() < 100, "it gives up");
    }
}

#[test]
fn who_never_gets_to_write_a_copy_is_told_so() {
    let server = S3::start();
    let oak = ahead(&server, options("oak"));
    let is_told = |error: &RemoteError| matches!(error, RemoteError::Contended { name } if name.as_str() == "demo");
    let mut n = 0;
    let error = always_too_late(&server, || {
        n += 1;
        oak.says("demo", &format!("tree {n}"));
        oak.push("demo")
    });
    assert!(is_told(&error), "{error:?}");
    let before = server.objects()[MANIFEST].clone();
    let lease = oak.remote.lease(&named("demo"), MINUTE).expect("it is free");
    let error = always_too_late(&server, || lease.renew());
    assert!(is_told(&error), "{error:?}");
    lease.release().expect("it is still held");
    let fence = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).expect("it is JSON")["fence"].clone();
    assert_eq!((fence(&before), fence(&server.objects()[MANIFEST])), (0.into(), 1.into()));
    // The copy is not a lost one: the next try does what this one could not.
    oak.push("demo").expect("nobody is quicker any more");
    let elm = Machine::new(on_s3(&server, "elm"));
    elm.pull("demo").expect("it can be fetched");
    assert_eq!(elm.history("demo"), oak.history("demo"));
    (0..30).filter(|n| n % 3 == 1).for_each(|n| server.trouble(n, Trouble::Status(412)));
    // A look, a write that comes too late, and a look at who won; again and again.
    let refused = oak.remote.remove(&named("demo"), &RemoveOptions::default());
    server.recovers();
    assert!(refused.as_ref().is_err_and(is_told), "{refused:?}");
    assert!(oak.remote.verify(&named("demo")).expect("it is there").faults.is_empty(), "nothing was removed");
}

#[test]
fn a_write_whose_answer_was_lost_is_known_as_ones_own() {
    let server = S3::start();
    let oak = ahead(&server, RemoteOptions { tries: 3, ..options("oak") });
    // A segment, and the manifest: it is written, nobody hears of it, and the second try comes too late.
    server.trouble(1, Trouble::CutAfter);
    let before = server.met().len();
    assert_eq!(oak.push("demo").expect("it is done").change, Change::Added);
    let written: Vec<u16> = writes(&server, before).into_iter().map(|n| server.met()[before + n].status).collect();
    assert_eq!(written, [200, 412]);
    assert_eq!(oak.push("demo").expect("nothing is left to do").change, Change::Nothing);
    // So it is with the list of what is condemned.
    fs::write(oak.path("demo").join("tmp/out"), "three holes").expect("there is room");
    oak.push("demo").expect("it can be sent");
    oak.remote.remove(&named("demo"), &RemoveOptions::default()).expect("it can be removed");
    server.age(MINUTE * 60 * 48);
    let before = server.met().len();
    oak.remote.collect(true).expect("it can be looked through");
    server.trouble(server.met().len() - before, Trouble::CutAfter);
    let before = server.met().len();
    assert_eq!(oak.remote.collect(false).expect("it is done").condemned, 2);
    let met = server.met();
    let lists = met[before..].iter().filter(|met| met.method == "PUT" && met.target.ends_with("/condemned.json"));
    assert_eq!(lists.map(|met| met.status).collect::<Vec<_>>(), [200, 412]);
}

#[test]
fn a_plain_write_that_a_server_refuses_is_told_as_a_write_and_not_as_an_object_that_is_lost() {
    let server = S3::start();
    let oak = ahead(&server, options("oak"));
    let before = server.objects();
    for status in [409, 412] {
        server.trouble(0, Trouble::Status(status));
        let refused = oak.push("demo");
        let Err(RemoteError::Request { doing: "write", object, source }) = &refused else { panic!("{refused:?}") };
        assert!(object.starts_with("history/demo/") && source.to_string().contains("PUT"), "{source}");
        assert!(server.objects() == before, "nothing was written");
    }
    oak.push("demo").expect("it is taken");
}

#[test]
fn a_lease_says_whose_it_is_and_until_when() {
    let (server, clock) = (S3::start(), Clock::new());
    let oak = Machine::new(clock.of(on_s3(&server, "oak")));
    let now = *clock.0.lock().expect("nobody panics with it");
    let lease = oak.remote.lease(&named("demo"), MINUTE).expect("it is free");
    assert_eq!((lease.name().as_str(), lease.fence(), lease.until()), ("demo", 1, now + MINUTE));
    clock.pass(MINUTE / 2);
    lease.renew().expect("it is held");
    assert_eq!(lease.until(), now + MINUTE + MINUTE / 2);
    lease.release().expect("it is held");
}

#[test]
fn a_session_that_is_not_here_is_brought_in_by_a_sync() {
    let server = S3::start();
    let oak = ahead(&server, options("oak"));
    let elm = Machine::new(on_s3(&server, "elm"));
    let plan = elm.remote.sync(&elm.store, &named("demo"), true).expect("it can be looked at");
    assert_eq!(plan.pulled.map(|pulled| pulled.change), Some(Change::Made));
    assert!(!elm.path("demo").exists(), "a plan brings nothing in");
    let synced = elm.remote.sync(&elm.store, &named("demo"), false).expect("it can be fetched");
    assert_eq!(synced.pulled.map(|pulled| pulled.change), Some(Change::Made));
    assert!(synced.pushed.is_none(), "there is nothing to send");
    assert_eq!(elm.texts("demo"), ["plant three oaks"]);
    // A copy that is behind is sent to, and one that is ahead is fetched from.
    let pushed = oak.remote.sync(&oak.store, &named("demo"), false).expect("it can be sent");
    assert_eq!((pushed.pulled.is_none(), pushed.pushed.map(|pushed| pushed.change)), (true, Some(Change::Added)));
    let plan = elm.remote.sync(&elm.store, &named("demo"), true).expect("it can be looked at");
    assert_eq!((plan.pulled.map(|pulled| pulled.change), plan.pushed.is_none()), (Some(Change::Added), true));
    assert_eq!(elm.texts("demo"), ["plant three oaks"], "a plan brings nothing in");
    let missing = elm.remote.sync(&elm.store, &named("elms"), false);
    assert!(matches!(missing, Err(RemoteError::NotThere { .. })), "{missing:?}");
}

#[test]
fn what_several_operations_have_sent_adds_up() {
    let server = S3::start();
    let oak = ahead(&server, options("oak"));
    let before = server.met().len();
    let mut all = Traffic::default();
    let pushed = oak.push("demo").expect("it can be sent").traffic;
    let elm = Machine::new(on_s3(&server, "elm"));
    let pulled = elm.pull("demo").expect("it can be fetched").traffic;
    all.add(pushed);
    all.add(pulled);
    assert_eq!(all.requests, (server.met().len() - before) as u64);
    assert_eq!(all.sent_bytes, pushed.sent_bytes);
    assert_eq!(all.received_bytes, pulled.received_bytes);
    assert!(all.sent_bytes > 0 && all.received_bytes > 0, "{all:?}");
}

/// A secret that is none, which a child has in its environment.
const SECRET: &str = "no-key-opens-this-garden";

#[test]
fn a_server_for_which_conditions_are_turned_off_keeps_copies_and_their_former_generations() {
    let server = S3::start();
    let mut command = child::command("remote::patient::without_conditions", &[&server.endpoint()]);
    command.env("AWS_CONDITIONAL_PUT", "disabled");
    command.env("AWS_ACCESS_KEY_ID", "gardener").env("AWS_SECRET_ACCESS_KEY", SECRET).env("AWS_REGION", "grove");
    assert!(child::Running::start(command).wait().success());
    let objects = server.objects();
    let manifest = |key: &str| serde_json::from_slice::<serde_json::Value>(&objects[key]).expect("it is JSON");
    assert_eq!(manifest(MANIFEST)["generation"], 2);
    assert_eq!(manifest("bucket/team/generations/demo/1.json")["generation"], 1);
    assert_eq!(manifest("bucket/team/store.json")["conditional_writes"], false);
}

/// Not a test of its own: a child's part.
#[test]
fn without_conditions() {
    let Some(task) = child::task() else { return };
    let options = RemoteOptions { endpoint: Some(task[0].clone()), allow_http: true, ..options("oak") };
    let remote = session_store::remote::Remote::open("s3://bucket/team", options).expect("the settings are whole");
    assert!(!format!("{remote:?}").contains(SECRET), "it is not shown");
    let oak = Machine::new(remote);
    oak.create("demo");
    oak.says("demo", "plant three oaks");
    oak.push("demo").expect("it can be sent");
    let refused = oak.remote.lease(&named("demo"), MINUTE);
    assert!(matches!(refused, Err(RemoteError::NoConditionalWrites { .. })), "{refused:?}");
    let history = oak.path("demo").join("history.jsonl");
    let scrubbed = String::from_utf8(oak.history("demo")).expect("it is text").replace("oaks", "****");
    fs::remove_file(&history).expect("it is there");
    fs::write(&history, scrubbed).expect("there is room");
    let pushed = oak.remote.push(&oak.session("demo"), &PushOptions::default()).expect("it can be sent");
    assert_eq!((pushed.change, pushed.generation), (Change::Replaced, 2));
    let elm = Machine::new(oak.remote.clone().with_machine("elm"));
    elm.pull("demo").expect("it can be fetched");
    assert_eq!(elm.texts("demo"), ["plant three ****"]);
}
