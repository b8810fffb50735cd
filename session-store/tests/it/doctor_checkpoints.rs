//! What the doctor finds of checkpoints, through whoever knows them.

use crate::garden::{Garden, Gardens};
use session_core::checkpoint::{CheckpointDepth, CheckpointRef, Checkpointer as _, OnConflict};
use session_disk::faults::{Fault, with};
use session_store::{Checkup, Finding, FindingCode};
use std::fs;
use std::path::PathBuf;

fn found(garden: &Garden, depth: CheckpointDepth) -> Vec<Finding> {
    let gardens = Gardens(garden);
    let checkup = Checkup { checkpoints: Some(&gardens), depth, ..Checkup::default() };
    garden.store().examine(&checkup).expect("it can be read").findings
}

fn codes(garden: &Garden, depth: CheckpointDepth) -> Vec<FindingCode> {
    found(garden, depth).iter().map(|finding| finding.code).collect()
}

fn packs(garden: &Garden) -> Vec<PathBuf> {
    let dir = garden.scratch.path("demo/checkpoints/repo.git/objects/pack");
    let mut packs: Vec<_> = fs::read_dir(dir).expect("there are packs").flatten().map(|entry| entry.path()).collect();
    packs.retain(|path| path.extension().is_some_and(|ending| ending == "pack"));
    packs.sort();
    packs
}

#[test]
fn whole_checkpoints_give_no_finding_at_any_depth() {
    let garden = Garden::of_two_turns();
    assert_eq!(codes(&garden, CheckpointDepth::Links), []);
    assert_eq!(codes(&garden, CheckpointDepth::Contents), []);
}

#[test]
fn c18_a_pack_that_is_gone_is_found_by_a_look_and_one_whose_bytes_changed_by_reading() {
    let garden = Garden::of_two_turns();
    let pack = packs(&garden).remove(0);
    let good = fs::read(&pack).expect("it is ours");
    fs::remove_file(&pack).expect("it is ours");
    assert!(codes(&garden, CheckpointDepth::Links).contains(&FindingCode::CheckpointDamaged));
    let mut bad = good;
    let middle = bad.len() / 2;
    bad[middle] ^= 0x40;
    fs::write(&pack, bad).expect("it is ours");
    assert!(codes(&garden, CheckpointDepth::Contents).contains(&FindingCode::CheckpointDamaged));
}

#[test]
fn c18_a_reference_that_is_empty_or_gone_is_found() {
    let garden = Garden::of_two_turns();
    let tags = garden.scratch.path("demo/checkpoints/repo.git/refs/tags");
    fs::write(tags.join("turn-2"), "").expect("it is ours");
    assert_eq!(codes(&garden, CheckpointDepth::Links), [FindingCode::CheckpointDamaged]);
    fs::remove_file(tags.join("turn-3")).expect("it is ours");
    let codes = codes(&garden, CheckpointDepth::Links);
    assert!(codes.contains(&FindingCode::CheckpointMissing), "{codes:?}");
    // All of them may have been dropped.
    fs::remove_dir_all(garden.scratch.path("demo/checkpoints")).expect("it is ours");
    assert_eq!(found(&garden, CheckpointDepth::Links), []);
}

#[test]
fn c10_a_restore_that_did_not_end_is_told() {
    let interrupted = (0..2_000).find_map(|at| {
        let garden = Garden::of_two_turns();
        let mut own = garden.checkpoints("demo");
        drop(with(Fault::Stop { at }, || own.restore(CheckpointRef::Taken(1), OnConflict::Stop)));
        own.interrupted().expect("it can be read").map(|_| garden)
    });
    let garden = interrupted.expect("there is such a step");
    assert!(codes(&garden, CheckpointDepth::Links).contains(&FindingCode::RestoreInterrupted));
}

#[test]
fn what_was_set_aside_is_told() {
    let garden = Garden::of_two_turns();
    let pack = packs(&garden).remove(0);
    fs::write(&pack, "no pack").expect("it is ours");
    // The next snapshot heals what it can, and sets it aside.
    garden.plant("4");
    garden.take(&garden.open("demo"));
    assert!(codes(&garden, CheckpointDepth::Links).contains(&FindingCode::CheckpointAside));
}
