//! A server that goes away, says no, or lies; a client that dies.

use super::{Machine, named, on_s3, on_s3_with, options};
use crate::support::said;
use session_store::remote::{Remote, RemoteError, RemoteOptions};
use session_testing::s3::{S3, Trouble};
use std::time::Duration;

const CUTS: [Trouble; 2] = [Trouble::CutBefore, Trouble::CutAfter];

/// A machine with a session of a few events and a file, never sent.
fn with_session(remote: Remote) -> Machine {
    let machine = Machine::new(remote);
    let session = machine.create("demo");
    for n in 0..3 {
        session.append(&[said(&format!("event {n}"))]).expect("there is room");
    }
    std::fs::write(machine.path("demo").join("tmp/out"), "a large output").expect("there is room");
    machine
}

#[test]
fn i37_a_push_that_is_cut_at_any_request_is_done_by_the_next_one() {
    for first in CUTS {
        for at in 0.. {
            let server = S3::start();
            let oak = with_session(on_s3(&server, "oak"));
            server.dies_at(at, first);
            let cut = oak.push("demo");
            server.recovers();
            // Whoever asks meanwhile sees a whole copy or none.
            let elm = Machine::new(on_s3(&server, "elm"));
            match elm.pull("demo") {
                Ok(_) => assert_eq!(elm.history("demo"), oak.history("demo"), "{first:?} at {at}"),
                Err(error) => assert!(matches!(error, RemoteError::NotThere { .. }), "{first:?} at {at}: {error}"),
            }
            // A dead process remembers nothing.
            let oak = Machine { remote: on_s3(&server, "oak"), ..oak };
            oak.push("demo").unwrap_or_else(|error| panic!("{first:?} at {at}: {error}"));
            let ash = Machine::new(on_s3(&server, "ash"));
            ash.pull("demo").unwrap_or_else(|error| panic!("{first:?} at {at}: {error}"));
            assert_eq!(ash.history("demo"), oak.history("demo"), "{first:?} at {at}");
            assert!(ash.path("demo").join("tmp/out").exists(), "{first:?} at {at}");
            if cut.is_ok() {
                assert!(at > 8, "every request was met: {at}");
                break;
            }
        }
    }
}

#[test]
fn a_push_of_one_more_event_that_is_cut_at_any_request_is_done_by_the_next_one() {
    for first in CUTS {
        for at in 0..3 {
            let server = S3::start();
            let oak = with_session(on_s3(&server, "oak"));
            oak.push("demo").expect("it can be sent");
            oak.says("demo", "one more");
            server.dies_at(at, first);
            let cut = oak.push("demo");
            assert_eq!(cut.is_ok(), at == 2, "{first:?} at {at}: two requests");
            server.recovers();
            oak.push("demo").unwrap_or_else(|error| panic!("{first:?} at {at}: {error}"));
            let elm = Machine::new(on_s3(&server, "elm"));
            elm.pull("demo").unwrap_or_else(|error| panic!("{first:?} at {at}: {error}"));
            assert_eq!(elm.texts("demo"), ["event 0", "event 1", "event 2", "one more"], "{first:?} at {at}");
        }
    }
}

#[test]
fn i37_a_pull_that_is_cut_at_any_request_leaves_nothing_or_a_beginning_and_is_done_by_the_next_one() {
    let server = S3::start();
    let oak = with_session(on_s3(&server, "oak"));
    oak.push("demo").expect("it can be sent");
    for (first, is_here) in [(Trouble::CutBefore, false), (Trouble::CutAfter, true)] {
        for at in 0.. {
            let elm = Machine::new(on_s3(&server, "elm"));
            if is_here {
                elm.pull("demo").expect("it can be fetched");
                oak.says("demo", "one more");
                oak.push("demo").expect("it can be sent");
            }
            let before = elm.history("demo");
            server.dies_at(at, first);
            let cut = elm.pull("demo");
            server.recovers();
            if cut.is_err() && !is_here {
                assert!(!elm.path("demo").exists(), "all or nothing: {at}");
            }
            let now = elm.history("demo");
            assert!(now.starts_with(&before) && oak.history("demo").starts_with(&now), "{at}");
            elm.pull("demo").unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(elm.history("demo"), oak.history("demo"), "{at}");
            assert!(elm.path("demo").join("tmp/out").exists(), "{at}");
            if cut.is_ok() {
                assert!(at > 1, "every request was met: {at}");
                break;
            }
        }
    }
}

#[test]
fn a_server_that_asks_for_patience_is_tried_again_within_a_bound() {
    let server = S3::start();
    let patient = RemoteOptions { tries: 4, ..options("oak") };
    let oak = with_session(on_s3_with(&server, patient));
    for (n, trouble) in [Trouble::Status(429), Trouble::Status(503), Trouble::Status(500)].into_iter().enumerate() {
        server.trouble(n, trouble);
    }
    oak.push("demo").expect("the fourth try is answered");
    assert!(oak.remote.verify(&named("demo")).expect("it is there").faults.is_empty());
    oak.says("demo", "one more");
    let before = server.met().len();
    server.dies_at(0, Trouble::Status(503));
    let error = oak.push("demo").expect_err("nobody is there");
    assert!(matches!(error, RemoteError::Request { .. }), "{error}");
    assert!(server.met().len() - before <= 4, "it is given up");
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let server = S3::start();
    let hasty = RemoteOptions { request_timeout: Duration::from_millis(200), ..options("oak") };
    let oak = with_session(on_s3_with(&server, hasty));
    server.trouble(0, Trouble::Delay(Duration::from_secs(2)));
    let error = oak.push("demo").expect_err("it takes too long");
    assert!(matches!(error, RemoteError::Request { .. }), "{error}");
    oak.push("demo").expect("it answers again");
}

#[test]
fn a_changed_or_lost_object_is_named_and_nothing_of_it_comes_in() {
    let server = S3::start();
    let oak = with_session(on_s3(&server, "oak"));
    oak.push("demo").expect("it can be sent");
    let whole = server.objects();
    let named_by_copy: Vec<_> =
        whole.keys().filter(|key| key.contains("/history/") || key.contains("/objects/")).collect();
    assert_eq!(named_by_copy.len(), 3, "a segment, a file, and the document of files: {named_by_copy:?}");
    for key in named_by_copy {
        let mut bytes = whole[key].clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xFF;
        server.corrupt(key, bytes);
        let is_about = |error: &RemoteError| match error {
            RemoteError::Corrupt { object, .. } | RemoteError::Missing { object } => key.ends_with(object.as_str()),
            _ => false,
        };
        for lost in [false, true] {
            if lost {
                server.lose(key);
            }
            let faults = oak.remote.verify(&named("demo")).expect("the manifest is whole").faults;
            assert!(faults.iter().any(is_about), "{key}: {faults:?}");
            let elm = Machine::new(on_s3(&server, "elm"));
            let error = elm.pull("demo").expect_err("it is damaged");
            assert!(is_about(&error), "{key}: {error}");
            assert!(!elm.path("demo").exists(), "nothing came in");
        }
        server.corrupt(key, whole[key].clone());
    }
    assert!(oak.remote.verify(&named("demo")).expect("it is there").faults.is_empty());
}

#[test]
fn what_a_server_answers_is_not_told() {
    let server = S3::start();
    let oak = with_session(on_s3(&server, "oak"));
    server.trouble(0, Trouble::Status(403));
    let error = oak.push("demo").expect_err("it is forbidden");
    let text = format!("{error}: {error:?}");
    assert!(text.contains("403") && !text.contains("AWSAccessKeyId"), "{text}");
}
