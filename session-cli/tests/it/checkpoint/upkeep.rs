//! Pinning, pruning, counting, verifying.

use super::Garden;
use crate::support::SESSION;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

fn turns(n: u32) -> Garden {
    let garden = Garden::new();
    for turn in 1..=n {
        garden.write("a", format!("{turn}\n"));
        garden.create();
    }
    garden
}

fn names(garden: &Garden) -> Vec<String> {
    let name = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    garden.ok(&["list", "oaks"]).lines().map(name).collect()
}

#[test]
fn c23_prune_asks_keeps_what_is_pinned_and_needs_no_workspace() {
    let garden = turns(5);
    garden.ok(&["pin", "oaks", "2"]);
    assert!(garden.ok(&["list", "oaks"]).contains("good,pinned"));
    let plan = garden.ok(&["prune", "oaks", "--keep", "1", "-n"]);
    assert!(plan.starts_with("drop 1\ndrop 3\ndrop 4\nkeep 2: protected\n"), "{plan}");
    assert_eq!(garden.run(&["prune", "oaks", "--keep", "1"]).code, 6);
    assert_eq!(names(&garden).len(), 5);
    fs::remove_dir_all(garden.work()).expect("scratch");
    fs::create_dir(garden.work().with_file_name("elsewhere")).expect("scratch");
    let elsewhere = garden.work().with_file_name("elsewhere");
    let run = |words: &[&str]| {
        let mut command = garden.scratch.command(SESSION);
        let output = command.arg("checkpoint").args(words).current_dir(&elsewhere).output().expect("it was built");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(run(&["prune", "oaks", "--keep", "1", "-y"]), (Some(0), "1\n3\n4\n".to_owned()));
    assert_eq!(run(&["prune", "oaks", "--keep", "1", "-y"]).0, Some(1), "there is nothing left to drop");
    assert_eq!(run(&["unpin", "oaks", "2"]).0, Some(0));
    assert_eq!([run(&["unpin", "oaks", "2"]).0, run(&["pin", "oaks", "9"]).0], [Some(1), Some(1)]);
    assert_eq!(run(&["prune", "oaks"]).0, Some(2), "what is to be kept must be said");
}

#[test]
fn du_counts_every_part() {
    let garden = turns(2);
    let rows = garden.ok(&["du", "oaks"]);
    let parts: Vec<&str> = rows.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(parts, ["packs", "loose", "derived", "rescued", "damaged", "reference", "other", "total", "shared"]);
    let document = garden.json(&["du", "oaks"]);
    assert!(document["total_bytes"].as_u64() > document["pack_bytes"].as_u64() && document["packs"] == 2, "{document}");
}

fn a_pack(garden: &Garden) -> PathBuf {
    let dir = garden.store().join("repo.git/objects/pack");
    let packs = fs::read_dir(dir).expect("a store").map(|entry| entry.expect("readable").path());
    packs.filter(|path| path.extension().is_some_and(|ending| ending == "pack")).min().expect("there is one")
}

#[test]
fn c18_verify_names_the_turns_that_are_damaged_and_others_stay_usable() {
    let garden = turns(3);
    let ran = garden.run(&["verify", "oaks"]);
    assert!(ran.code == 0 && ran.stdout.is_empty() && ran.stderr.contains("3 checkpoints"), "{ran:?}");
    let pack = a_pack(&garden);
    let len = fs::metadata(&pack).expect("it is there").len();
    let file = fs::OpenOptions::new().write(true).open(&pack).expect("it is ours");
    file.write_all_at(&vec![0; usize::try_from(len - 32).expect("small")], 12).expect("it is ours");
    let ran = garden.run(&["verify", "oaks"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let bad: Vec<&str> =
        ran.stdout.lines().filter_map(|line| line.split('\t').next()).filter(|name| *name != "pack").collect();
    let [bad, ..] = bad[..] else { panic!("{ran:?}") };
    let document = garden.json(&["verify", "oaks"]);
    assert_eq!((&document["checkpoints"], &document["findings"][0]["name"]), (&3.into(), &bad.into()));
    let broken = garden.run(&["restore", "oaks", bad, "-y"]);
    assert!([1, 3].contains(&broken.code), "{broken:?}");
    let good = ["1", "2", "3"]
        .into_iter()
        .filter(|name| !ran.stdout.lines().any(|line| line.starts_with(&format!("{name}\t"))));
    for name in good {
        assert_eq!(garden.run(&["show", "oaks", name]).code, 0, "{name}");
    }
}

#[test]
fn checkpoints_are_completed_for_the_session_that_was_typed() {
    let garden = turns(2);
    let mut command = garden.scratch.command(SESSION);
    command.env("COMPLETE", "fish").args(["--", "session", "checkpoint", "show", "oaks", ""]);
    let output = command.output().expect("the program was built");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        shown.lines().any(|line| line.starts_with('2')) && shown.lines().any(|line| line.starts_with('1')),
        "{shown}"
    );
    let mut command = garden.scratch.command(SESSION);
    command.env("COMPLETE", "fish").args(["--", "session", "checkpoint", "restore", "oa"]);
    let output = command.output().expect("the program was built");
    assert!(String::from_utf8_lossy(&output.stdout).contains("oaks"), "{output:?}");
    let page = garden.scratch.ok(&["man", "checkpoint", "restore"]);
    assert!(page.contains("only\\-mine") && page.contains("reference:2"), "{page}");
}
