//! What the values in a report say to a person, and what machines call them.

use crate::scratch::{Scratch, name, user};
use session_store::{
    Checkup, Damage, Empties, FlatFile, ListNote, ListSubject, LockHolder, MetaDamage, Protection, PruneReason,
};

fn time() -> session_core::Timestamp {
    session_core::parse_time("2026-01-02T03:04:05Z").expect("it is well formed")
}

#[test]
fn why_a_session_is_pruned_and_why_it_stays() {
    let updated = time();
    for (reason, told) in [
        (PruneReason::Older { updated }, "last used 2026-01-02T03:04:05Z"),
        (PruneReason::NotAmongNewest { keep: 3 }, "not among the newest 3"),
        (PruneReason::Larger { allocated_bytes: 4_096 }, "it takes 4096 bytes"),
        (PruneReason::Empty, "it is empty"),
        (PruneReason::WorkspaceGone { workspace: "/garden".into() }, "its workspace /garden is gone"),
    ] {
        assert_eq!(reason.to_string(), told);
    }
    for (protection, called, told) in [
        (Protection::LiveTurn { pid: 7 }, "live-turn", "its turn runs, process 7"),
        (Protection::Processes { ids: vec!["bg1".into(), "bg2".into()] }, "processes", "its processes run: bg1, bg2"),
        (Protection::Pinned, "pinned", "it is pinned"),
        (Protection::Chain { with: name("ash") }, "chain", "it is of one chain with ash, which stays"),
        (Protection::ForkBase { fork: name("ash") }, "fork-base", "ash, which stays, was forked from it"),
        (Protection::Damaged { what: "a stone".into() }, "damaged", "it is damaged: a stone"),
        (Protection::Rewind, "rewind", "a rewind of it has not ended"),
        (Protection::PinnedCheckpoint { turn: 2 }, "pinned-checkpoint", "its checkpoint 2 is pinned"),
        (Protection::Ahead { updated }, "time-ahead", "its newest event claims to be of 2026-01-02T03:04:05Z"),
    ] {
        assert_eq!((protection.as_str(), protection.to_string().as_str()), (called, told));
    }
}

#[test]
fn what_is_wrong_with_a_session_in_a_list() {
    let lines = |skipped, uncertain| Damage::Lines { skipped, uncertain };
    for (damage, told) in [
        (Damage::Link, "it is a symbolic link"),
        (Damage::NotAFile, "it is no file"),
        (Damage::Meta(MetaDamage::Empty), "meta.json: it is empty"),
        (Damage::Meta(MetaDamage::Unreadable { reason: "it is a stone".into() }), "meta.json: it is a stone"),
        (lines(1, false), "1 line of its history cannot be read"),
        (lines(2, true), "2 lines of its history cannot be read, and a rollback across them is a guess"),
    ] {
        let note = ListNote { session: "oak", about: ListSubject::Damage(&damage) };
        assert_eq!(note.to_string(), format!("oak: {told}"));
    }
    let updated = time();
    for (about, told) in [
        (ListSubject::Ahead(&updated), "its newest event claims to be of 2026-01-02T03:04:05Z"),
        (ListSubject::Flat(FlatFile::Absent), "nothing is wrong with its flat file"),
        (ListSubject::Flat(FlatFile::Migrated), "nothing is wrong with its flat file"),
        (ListSubject::Flat(FlatFile::Waiting), "it is a flat file; opening it migrates it"),
        (
            ListSubject::Flat(FlatFile::Interrupted),
            "its migration was interrupted; the flat file is shown, and opening it goes on",
        ),
        (
            ListSubject::Flat(FlatFile::Shadowed),
            "a flat file of its name holds another conversation, which is not shown",
        ),
    ] {
        assert_eq!(about.to_string(), told);
    }
}

#[test]
fn who_holds_a_lock_as_far_as_it_is_known() {
    for (pid, command, since, told) in [
        (None, None, None, "another process"),
        (Some(7), None, None, "process 7"),
        (Some(7), Some("dig\u{1b}[2J"), None, "process 7 (dig\\u{1b}[2J)"),
        (Some(7), None, Some(time()), "process 7 (since 2026-01-02T03:04:05Z)"),
        (Some(7), Some("dig"), Some(time()), "process 7 (dig, since 2026-01-02T03:04:05Z)"),
    ] {
        let mut holder = LockHolder::default();
        (holder.pid, holder.command, holder.since) = (pid, command.map(str::to_owned), since);
        assert_eq!(holder.to_string(), told);
    }
}

#[test]
fn a_finding_names_the_file_the_place_and_its_code() {
    let scratch = Scratch::new();
    let dir = scratch.session("oak", &[user(1, "plant"), "{\"ts\":".into(), user(2, "dig")]);
    let found = scratch.store().examine(&Checkup::default()).expect("the store can be read").findings;
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    let place = format!("{}, line 2, byte {}: ", dir.join("history.jsonl").display(), user(1, "plant").len());
    assert!(told.iter().any(|told| told.starts_with(&place) && told.ends_with(']')), "{told:?}");

    let info = scratch.store().list(Empties::Show).expect("it can be read").remove(0);
    assert!(info.damage.iter().any(|damage| matches!(damage, Damage::Lines { skipped: 1, .. })), "{info:?}");
}
