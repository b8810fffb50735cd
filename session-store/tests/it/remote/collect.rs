//! Removing what no session names any more.

use super::{Clock, Machine, in_dir, named, on_s3};
use session_store::remote::{RemoteError, RemoveOptions};
use session_testing::s3::{S3, Trouble};
use std::fs;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

/// Two machines with one clock, and a server whose objects are as old as it says.
struct Scene {
    server: S3,
    clock: Clock,
    oak: Machine,
    elm: Machine,
}

impl Scene {
    /// `demo` and `other` share a file, and each has one of its own.
    fn new() -> Self {
        let (server, clock) = (S3::start(), Clock::from_now());
        let on = |machine| Machine::new(clock.of(on_s3(&server, machine)));
        let scene = Scene { oak: on("oak"), elm: on("elm"), clock, server };
        for name in ["demo", "other"] {
            scene.oak.create(name);
            scene.oak.says(name, "one");
            scene.put(name, "shared", "in both");
            scene.put(name, "own", name);
            scene.oak.push(name).expect("it can be sent");
        }
        scene
    }

    fn put(&self, name: &str, file: &str, text: &str) {
        fs::write(self.oak.path(name).join("tmp").join(file), text).expect("there is room");
    }

    fn remove(&self, name: &str) {
        self.oak.remote.remove(&named(name), &RemoveOptions::default()).expect("it can be removed");
    }

    fn passes(&self, time: Duration) {
        self.clock.pass(time);
        self.server.age(time);
    }

    fn shared(&self) -> usize {
        self.server.objects().keys().filter(|key| key.contains("/objects/")).count()
    }

    /// How many a visit condemned, and how many it removed.
    fn visit(&self) -> (u64, u64) {
        let collected = self.elm.remote.collect(false).expect("it can be looked through");
        (collected.condemned, collected.removed)
    }

    fn is_whole(&self, name: &str) {
        let faults = self.oak.remote.verify(&named(name)).expect("it is there").faults;
        assert!(faults.is_empty(), "{name}: {faults:?}");
    }
}

#[test]
fn what_no_session_names_is_removed_a_day_after_it_was_condemned_and_nothing_else() {
    let scene = Scene::new();
    assert_eq!(scene.shared(), 5, "a shared file, two of one session's own, two documents");
    scene.passes(HOUR * 48);
    assert_eq!(scene.visit(), (0, 0), "all of it is named");
    scene.remove("demo");
    let before = scene.server.objects();
    let planned = scene.elm.remote.collect(true).expect("it can be looked through");
    assert_eq!((planned.named, planned.condemned, planned.removed), (3, 2, 0));
    assert_eq!(scene.server.objects(), before, "a plan changes nothing");
    assert_eq!((scene.visit(), scene.shared()), ((2, 0), 5), "condemned, and still there");
    scene.passes(HOUR * 23);
    assert_eq!((scene.visit(), scene.shared()), ((2, 0), 5), "the day is not over");
    scene.passes(HOUR * 2);
    let planned = scene.elm.remote.collect(true).expect("it can be looked through");
    assert_eq!((planned.condemned, planned.removed), (0, 2));
    assert_eq!((scene.visit(), scene.shared()), ((0, 2), 3));
    assert_eq!(scene.visit(), (0, 0), "and no list is left");
    assert!(!scene.server.objects().contains_key("bucket/team/condemned.json"));
    scene.is_whole("other");
    scene.elm.pull("other").expect("it can be fetched");
    assert!(scene.elm.path("other").join("tmp/shared").exists());
}

#[test]
fn what_is_new_is_not_condemned_since_somebody_may_be_about_to_name_it() {
    let scene = Scene::new();
    scene.remove("demo");
    assert_eq!((scene.visit(), scene.shared()), ((0, 0), 5));
}

#[test]
fn what_is_needed_again_is_taken_off_the_list() {
    let scene = Scene::new();
    scene.passes(HOUR * 48);
    scene.remove("demo");
    assert_eq!(scene.visit().0, 2);
    // Its file and its document are those that are condemned.
    scene.oak.push("demo").expect("it can be sent");
    scene.passes(HOUR * 48);
    assert_eq!((scene.visit(), scene.shared()), ((0, 0), 5));
    scene.is_whole("demo");
}

#[test]
fn who_needs_what_is_just_being_removed_is_refused_until_that_is_over() {
    let scene = Scene::new();
    scene.passes(HOUR * 48);
    scene.remove("demo");
    scene.visit();
    scene.passes(HOUR * 25);
    let before = scene.server.met().len();
    let planned = scene.elm.remote.collect(true).expect("it can be looked through");
    assert_eq!(planned.removed, 2);
    let looks = scene.server.met().len() - before;
    // It marks the list, and dies.
    scene.server.dies_at(looks, Trouble::CutAfter);
    scene.elm.remote.collect(false).expect_err("the server is gone");
    scene.server.recovers();
    for refused in [scene.oak.push("demo").map(drop), scene.elm.remote.collect(false).map(drop)] {
        assert!(matches!(refused, Err(RemoteError::Collecting { .. })), "{refused:?}");
    }
    // Nobody else is in its way.
    scene.oak.says("other", "two");
    scene.put("other", "more", "of its own");
    scene.oak.push("other").expect("it needs nothing that is being removed");
    scene.passes(HOUR * 2);
    scene.oak.push("demo").expect("the mark is not believed any more");
    scene.visit();
    scene.is_whole("demo");
    scene.is_whole("other");
}

#[test]
fn i37_a_visit_that_is_cut_at_any_request_removes_nothing_that_is_named_and_is_done_by_the_next_one() {
    for first in [Trouble::CutBefore, Trouble::CutAfter] {
        for at in 0.. {
            let scene = Scene::new();
            scene.passes(HOUR * 48);
            scene.remove("demo");
            scene.visit();
            scene.passes(HOUR * 48);
            scene.server.dies_at(at, first);
            let cut = scene.elm.remote.collect(false);
            scene.server.recovers();
            scene.is_whole("other");
            scene.passes(HOUR * 2);
            scene.visit();
            assert_eq!(scene.shared(), 3, "{first:?} at {at}");
            scene.is_whole("other");
            if cut.is_ok() {
                assert!(at > 8, "every request was met: {at}");
                break;
            }
        }
    }
}

#[test]
fn where_something_cannot_be_read_nothing_is_removed() {
    let scene = Scene::new();
    scene.passes(HOUR * 48);
    scene.remove("demo");
    scene.visit();
    scene.passes(HOUR * 48);
    let whole = scene.server.objects();
    let manifest = "bucket/team/manifests/other.json";
    let document = serde_json::from_slice::<serde_json::Value>(&whole[manifest]).expect("it is JSON")["files"].clone();
    let document = document.as_str().expect("it is named");
    let document = format!("bucket/team/objects/{}/{document}.zst", &document[..2]);
    for key in [manifest, document.as_str(), "bucket/team/condemned.json"] {
        scene.server.corrupt(key, b"{".to_vec());
        let refused = scene.elm.remote.collect(false);
        assert!(matches!(refused, Err(RemoteError::Corrupt { .. })), "{key}: {refused:?}");
        assert_eq!(scene.shared(), 5, "{key}");
        scene.server.corrupt(key, whole[key].clone());
    }
    scene.passes(HOUR);
    assert_eq!(scene.visit(), (0, 2));
}

#[test]
fn a_former_generation_keeps_its_files() {
    let scene = Scene::new();
    let history = scene.oak.path("demo").join("history.jsonl");
    let scrubbed = String::from_utf8(scene.oak.history("demo")).expect("it is text").replace("one", "***");
    fs::remove_file(&history).expect("it is there");
    fs::write(&history, scrubbed).expect("there is room");
    fs::remove_file(scene.oak.path("demo").join("tmp/own")).expect("it is there");
    assert_eq!(scene.oak.push("demo").expect("it can be sent").generation, 2);
    scene.passes(HOUR * 48);
    assert_eq!(scene.visit(), (0, 0), "the former manifest names them");
    scene.oak.remote.remove_superseded(&named("demo"), false).expect("it can be removed");
    assert_eq!(scene.visit().0, 2, "its document and the file");
}

#[test]
fn a_store_without_conditional_writes_collects_nothing() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let remote = in_dir(dir.path(), "oak");
    assert_eq!(remote.collect(true).expect("a plan can be made").named, 0);
    let refused = remote.collect(false);
    assert!(matches!(refused, Err(RemoteError::NoConditionalWrites { .. })), "{refused:?}");
}

/// A push that was cut when it had sent its segment, and so left one that no manifest names.
fn with_a_segment_left() -> Scene {
    let scene = Scene::new();
    scene.oak.create("cut");
    scene.oak.says("cut", "one");
    let keys = || scene.server.objects().into_keys().filter(|key| key.contains("/history/cut/")).count();
    for at in 0.. {
        scene.server.dies_at(at, Trouble::CutBefore);
        scene.oak.push("cut").expect_err("the server is gone");
        scene.server.recovers();
        if keys() > 0 {
            break;
        }
    }
    assert!(!scene.server.objects().contains_key("bucket/team/manifests/cut.json"));
    scene
}

#[test]
fn segments_that_a_push_left_without_a_manifest_are_removed_like_anything_that_nobody_names() {
    let scene = with_a_segment_left();
    let there = || scene.server.objects().into_keys().filter(|key| key.contains("/history/")).collect::<Vec<_>>();
    assert_eq!(there().len(), 3, "of demo, of other, and the one that was left");
    assert_eq!(scene.visit(), (0, 0), "it is new: the push may be about to name it");
    scene.passes(HOUR * 48);
    assert_eq!((scene.visit(), there().len()), ((1, 0), 3));
    scene.passes(HOUR * 25);
    assert_eq!((scene.visit(), there().len()), ((0, 1), 2));
    assert!(there().iter().all(|key| !key.contains("/cut/")), "{:?}", there());
    scene.is_whole("demo");
    scene.is_whole("other");
}

#[test]
fn a_copy_that_is_made_of_a_name_that_is_condemned_keeps_its_segments() {
    let scene = with_a_segment_left();
    scene.passes(HOUR * 48);
    assert_eq!(scene.visit(), (1, 0));
    // The same history: its segment has the name of the one that is condemned.
    scene.oak.push("cut").expect("it can be sent");
    scene.passes(HOUR * 25);
    assert_eq!(scene.visit(), (0, 0));
    scene.is_whole("cut");
    scene.elm.pull("cut").expect("it can be fetched");
}

#[test]
fn a_copy_of_a_name_whose_segments_are_just_being_removed_is_refused_until_that_is_over() {
    let scene = with_a_segment_left();
    scene.passes(HOUR * 48);
    scene.visit();
    scene.passes(HOUR * 25);
    let before = scene.server.met().len();
    scene.elm.remote.collect(true).expect("it can be looked through");
    scene.server.dies_at(scene.server.met().len() - before, Trouble::CutAfter);
    scene.elm.remote.collect(false).expect_err("the server is gone");
    scene.server.recovers();
    let refused = scene.oak.push("cut");
    assert!(matches!(refused, Err(RemoteError::Collecting { .. })), "{refused:?}");
    scene.passes(HOUR * 2);
    scene.oak.push("cut").expect("the mark is not believed any more");
    scene.visit();
    scene.is_whole("cut");
}
