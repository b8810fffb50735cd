//! Taking snapshots.

use super::Garden;
use crate::support::SESSION;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

#[test]
fn a_snapshot_prints_its_number_and_the_history_tells_of_it() {
    let garden = Garden::new();
    garden.write("a", "1");
    assert_eq!(garden.ok(&["create", "oaks", "--label", "first"]), "1\n");
    garden.write("a", "2");
    garden.write("b", "new");
    let document = garden.json(&["create", "oaks"]);
    assert_eq!((&document["schema"], &document["complete"]), (&"session/checkpoint-create.v1".into(), &true.into()));
    assert_eq!((&document["turn"], &document["files"], &document["existed"]), (&2.into(), &2.into(), &false.into()));
    let changed: Vec<_> = document["changed"].as_array().expect("a list").iter().map(|one| &one["path"]).collect();
    assert_eq!(changed, ["a", "b"]);
    let marks: Vec<_> = garden.events().into_iter().filter(|(kind, _)| kind == "x.checkpoint").collect();
    let told: Vec<_> = marks.iter().map(|(_, event)| (&event["x"]["action"], &event["x"]["turn"])).collect();
    assert_eq!(told, [(&"taken".into(), &1.into()), (&"taken".into(), &2.into())]);
    assert_eq!(marks[0].1["x"]["note"], "first");
}

#[test]
fn c21_a_retry_takes_nothing_and_a_number_that_was_passed_is_refused() {
    let garden = Garden::new();
    garden.write("a", "1");
    assert_eq!(garden.ok(&["create", "oaks", "--turn", "3"]), "3\n");
    garden.write("a", "2");
    assert_eq!(garden.ok(&["create", "oaks", "--turn", "3"]), "3\n");
    assert!(garden.ok(&["diff", "oaks", "3"]).contains("+2"), "the first snapshot stands");
    assert_eq!(garden.run(&["create", "oaks", "--turn", "2"]).code, 5);
    assert_eq!(garden.events().iter().filter(|(kind, _)| kind == "x.checkpoint").count(), 1);
}

#[test]
fn c27_secrets_are_told_and_what_is_too_large_makes_it_partial() {
    let garden = Garden::new();
    garden.write(".env", "KEY=1");
    garden.write("a", "1");
    let ran = garden.run(&["create", "oaks"]);
    assert!(ran.code == 0 && ran.stderr.contains(".env: secret"), "{ran:?}");
    garden.write("large", "0123456789");
    let ran = garden.run(&["create", "oaks", "--max-file-bytes", "5"]);
    assert!((ran.code, ran.stdout.as_str()) == (3, "2\n") && ran.stderr.contains("large: too big, 10 B"), "{ran:?}");
    let document = garden.json(&["create", "oaks"]);
    assert_eq!(document["complete"], false, "the limit of the newest checkpoint goes on: {document}");
    let reasons: Vec<_> = document["skipped"].as_array().expect("a list").iter().map(|one| &one["reason"]).collect();
    assert_eq!(reasons, ["secret", "too_big"]);
}

#[test]
fn excludes_stay_until_others_are_given() {
    let garden = Garden::new();
    garden.write("target/out", "built");
    garden.write("a", "1");
    garden.ok(&["create", "oaks", "--exclude", "target/"]);
    garden.write("target/more", "built");
    garden.create();
    assert_eq!(garden.ok(&["show", "oaks", "2"]), "");
    assert_eq!(garden.ok(&["diff", "oaks"]), "");
}

#[test]
fn ck28_c01_the_root_and_the_home_directory_are_refused_and_nothing_is_made() {
    let garden = Garden::new();
    let home = garden.scratch.home();
    let above = home.parent().expect("it is in the scratch").to_owned();
    for dir in ["/", home.to_str().expect("text"), above.to_str().expect("text")] {
        let ran = garden.run(&["create", "oaks", "--workspace", dir]);
        assert!(ran.code == 6 && ran.stderr.contains("refusing"), "{dir}: {ran:?}");
    }
    assert!(!garden.store().join("repo.git").exists());
    let ran = garden.run(&["create", "oaks", "--max-files", "0"]);
    assert_eq!(ran.code, 0, "an empty workspace is none too broad: {ran:?}");
    garden.write("a", "1");
    assert_eq!(garden.run(&["create", "oaks", "--max-files", "0"]).code, 6);
}

#[test]
fn c01_c17_a_snapshot_that_the_store_has_no_room_for_is_a_notice_in_the_history() {
    let garden = Garden::new();
    garden.write("a", "1");
    garden.create();
    garden.write("a", "2");
    let ran = garden.run(&["create", "oaks", "--max-store-bytes", "1"]);
    assert!(ran.code == 5 && ran.stderr.contains("prune"), "{ran:?}");
    let events = garden.events();
    let [.., (notice, text), (mark, failed)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((notice.as_str(), mark.as_str(), &failed["x"]["action"]), ("notice", "x.checkpoint", &"failed".into()));
    assert!(text["text"].as_str().is_some_and(|text| text.starts_with("no checkpoint was taken")), "{text}");
    let list = garden.run(&["list", "oaks"]);
    assert!(
        list.code == 0 && list.stdout.lines().count() == 1 && list.stderr.contains("the last snapshot failed"),
        "{list:?}"
    );
}

#[test]
fn a_session_that_does_not_say_where_it_works_is_told_where() {
    let garden = Garden::new();
    garden.scratch.ok_with(&["append", "--create", "birches"], super::HELLO);
    let ran = garden.run(&["create", "birches"]);
    assert!(ran.code == 2 && ran.stderr.contains("--workspace"), "{ran:?}");
    let work = garden.work();
    garden.ok(&["create", "birches", "--workspace", work.to_str().expect("text")]);
    assert_eq!(garden.ok(&["create", "birches"]), "2\n", "the checkpoints know it from then on");
}

#[test]
fn c05_another_directory_at_the_same_path_is_refused_until_it_is_adopted() {
    let garden = Garden::new();
    garden.write("a", "1");
    garden.create();
    fs::rename(garden.work(), garden.work().with_file_name("moved")).expect("scratch");
    fs::create_dir(garden.work()).expect("scratch");
    garden.write("b", "another project");
    for words in [&["create", "oaks"][..], &["restore", "oaks", "1", "-y"], &["restore", "oaks", "1", "-n"]] {
        let ran = garden.run(words);
        assert!(ran.code == 6 && ran.stderr.contains("--adopt"), "{words:?}: {ran:?}");
    }
    assert!(!garden.exists("a"));
    garden.ok(&["create", "oaks", "--adopt"]);
    garden.ok(&["restore", "oaks", "1", "-y"]);
    assert!(garden.exists("a") && !garden.exists("b"));
}

/// Waits until a process has a handler for SIGINT, or has ended.
fn until_it_listens(child: &mut Child) {
    let bit = 1_u64 << (Signal::SIGINT as u32 - 1);
    let listens = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & bit != 0)
    };
    for _ in 0..2_000 {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        if listens(&status) {
            return;
        }
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended before it could be stopped");
        thread::sleep(Duration::from_millis(5));
    }
    panic!("it never listened");
}

#[test]
fn c28_a_snapshot_that_is_interrupted_exits_with_130_and_leaves_no_turn() {
    let garden = Garden::new();
    garden.write("a", "1");
    garden.create();
    garden.write("a", "2");
    // While another process works on the store, this one waits where it can be stopped.
    let lock = File::open(garden.store().join("lock")).expect("the store has one");
    lock.lock().expect("nobody else has it");
    let mut command = garden.scratch.command(SESSION);
    command.args(["checkpoint", "create", "oaks"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program was built");
    until_it_listens(&mut child);
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).expect("it lives");
    drop(lock);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no checkpoint of this moment"), "{output:?}");
    assert_eq!(garden.ok(&["list", "oaks"]).lines().count(), 1);
    assert_eq!(garden.create(), "2\n");
    assert_eq!(garden.ok(&["list", "oaks"]).lines().count(), 2);
}
