//! Going on with what was cut.

use super::{Machine, named, on_s3, on_s3_with, options};
use session_store::remote::{RemoteOptions, RemoveOptions};
use session_testing::s3::{Met, S3, Trouble};
use std::collections::BTreeSet;
use std::fs;

/// A machine that fetches one object after the other.
fn one_by_one(server: &S3) -> Machine {
    Machine::new(on_s3_with(server, RemoteOptions { parallel: 1, ..options("elm") }))
}

/// The objects of which a session is made, without the document that names its files.
fn parts(server: &S3) -> BTreeSet<String> {
    let objects = server.objects();
    let manifest: serde_json::Value =
        serde_json::from_slice(&objects["bucket/team/manifests/demo.json"]).expect("it is JSON");
    let document = manifest["files"].as_str().expect("there are files");
    let is_part = |key: &&String| (key.contains("/history/") || key.contains("/objects/")) && !key.contains(document);
    objects.keys().filter(is_part).map(|key| format!("/{key}")).collect()
}

fn fetched(met: &[Met], parts: &BTreeSet<String>) -> Vec<String> {
    let is_one = |met: &&Met| met.status == 200 && parts.contains(&met.target);
    met.iter().filter(is_one).map(|met| met.target.clone()).collect()
}

fn staged(machine: &Machine) -> usize {
    fs::read_dir(machine.root().join("sessions/.session-store/staging")).map_or(0, Iterator::count)
}

#[test]
fn a_pull_of_a_new_session_that_was_cut_fetches_nothing_twice() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    oak.create("demo");
    for n in 0..5 {
        fs::write(oak.path("demo").join(format!("tmp/out-{n}")), format!("output {n}")).expect("there is room");
        oak.says("demo", &format!("event {n}"));
        oak.push("demo").expect("it can be sent");
    }
    let segments = oak.remote.show(&named("demo")).expect("it is there").segments.len();
    // What was put together is not fetched.
    oak.remote.remove_superseded(&named("demo"), false).expect("it can be removed");
    let parts = parts(&server);
    assert!(segments == 5 && parts.len() >= 10, "{parts:?}");
    for at in 0.. {
        let elm = one_by_one(&server);
        let before = server.met().len();
        server.dies_at(at, Trouble::CutBefore);
        let cut = elm.pull("demo");
        server.recovers();
        let first = fetched(&server.met()[before..], &parts);
        let after = server.met().len();
        elm.pull("demo").unwrap_or_else(|error| panic!("{at}: {error}"));
        let second = fetched(&server.met()[after..], &parts);
        let again: Vec<_> = second.iter().filter(|target| first.contains(target)).collect();
        assert!(again.is_empty(), "{at}: {again:?}");
        assert_eq!(elm.history("demo"), oak.history("demo"), "{at}");
        for n in 0..5 {
            let text = fs::read_to_string(elm.path("demo").join(format!("tmp/out-{n}"))).expect("it came in");
            assert_eq!(text, format!("output {n}"), "{at}");
        }
        assert_eq!((staged(&elm), fs::read_dir(elm.path("demo").join("tmp")).expect("it is there").count()), (0, 5));
        if cut.is_ok() {
            assert!(at >= 12, "every request was met: {at}");
            break;
        }
    }
}

#[test]
fn what_a_pull_has_left_is_used_only_as_far_as_the_copy_still_holds_it() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    let elm = one_by_one(&server);
    oak.create("demo");
    for n in 0..4 {
        fs::write(oak.path("demo").join(format!("tmp/out-{n}")), format!("output {n}")).expect("there is room");
        oak.says("demo", &format!("event {n}"));
        oak.push("demo").expect("it can be sent");
    }
    server.dies_at(8, Trouble::CutBefore);
    elm.pull("demo").expect_err("the server is gone");
    server.recovers();
    assert_eq!(staged(&elm), 1, "something was fetched");

    // Another session of the same name, with another file of the same name.
    oak.remote.remove(&named("demo"), &RemoveOptions::default()).expect("it can be removed");
    fs::remove_dir_all(oak.path("demo")).expect("it is there");
    oak.create("demo");
    oak.says("demo", "something else");
    fs::write(oak.path("demo").join("tmp/out-0"), "other").expect("there is room");
    oak.push("demo").expect("it can be sent");
    elm.pull("demo").expect("it can be fetched");
    assert_eq!(elm.history("demo"), oak.history("demo"));
    assert_eq!(crate::support::files(&elm.path("demo").join("tmp")), [elm.path("demo").join("tmp/out-0")]);
    assert_eq!(fs::read(elm.path("demo").join("tmp/out-0")).expect("it came in"), b"other");
    assert_eq!(staged(&elm), 0);
}
