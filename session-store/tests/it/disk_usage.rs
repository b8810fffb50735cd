//! How much room sessions take.

use crate::scratch::{Scratch, name, picture, user};
use session_store::{DiskUsage, SessionPart, StoreError};
use std::fs;
use std::os::unix::fs::symlink;

fn apparent(usage: &DiskUsage) -> Vec<(&'static str, u64)> {
    let parts = SessionPart::ALL.into_iter().map(|part| (part.as_str(), usage.part(part).apparent_bytes));
    parts.filter(|(_, bytes)| *bytes > 0).collect()
}

#[test]
fn every_file_counts_for_its_part_and_nothing_behind_a_link_does() {
    let scratch = Scratch::new();
    let line = user(1, "plant three oaks");
    scratch.session("demo", std::slice::from_ref(&line));
    for (path, bytes) in [
        ("meta.json", "12"),
        (".meta.json", "345"),
        ("meta.json.bad-1", "6"),
        ("checkpoints/objects/pack/a.pack", "1234567"),
        ("proc/1.log", "12345678"),
        ("inbox/.claims/x", "123456789"),
        ("tmp/spill.txt", "1234567890"),
        (".quarantine/1", "12345678901"),
        ("notes", "123456789012"),
    ] {
        scratch.put(format!("demo/{path}"), bytes);
    }
    scratch.put("other/history.jsonl", "much that is not its own");
    symlink("../../other", scratch.path("demo/tmp/link")).expect("the name is free");
    let before = picture(&scratch.base());
    let store = scratch.store();
    let usage = store.disk_meter().measure(&name("demo")).expect("it can be read");
    let wanted = [
        ("history", line.len() as u64),
        ("meta", 6),
        ("checkpoints", 7),
        ("proc", 8),
        ("inbox", 9),
        ("tmp", 10 + "../../other".len() as u64),
        ("quarantine", 11),
        ("other", 12),
    ];
    assert_eq!(apparent(&usage), wanted);
    assert_eq!(usage.total().apparent_bytes, wanted.iter().map(|(_, bytes)| bytes).sum::<u64>());
    assert_eq!((usage.shared.apparent_bytes, usage.unread.len()), (0, 0));
    assert!(usage.part(SessionPart::Tmp).allocated_bytes >= 512);
    assert_eq!(picture(&scratch.base()), before);
}

#[test]
fn a_file_with_several_names_counts_once() {
    let scratch = Scratch::new();
    for session in ["one", "two"] {
        scratch.session(session, &[user(1, "plant three oaks")]);
    }
    let pack = scratch.put("one/checkpoints/a.pack", vec![7; 100_000]);
    fs::create_dir(scratch.path("two/checkpoints")).expect("it is ours");
    fs::hard_link(&pack, scratch.path("two/checkpoints/a.pack")).expect("the name is free");
    let spill = scratch.put("one/tmp/a", vec![7; 1_000]);
    fs::hard_link(&spill, scratch.path("one/tmp/b")).expect("the name is free");
    let store = scratch.store();
    let mut meter = store.disk_meter();
    let usages = ["one", "two"].map(|session| meter.measure(&name(session)).expect("it can be read"));
    let checkpoints = |usage: &DiskUsage| usage.part(SessionPart::Checkpoints).apparent_bytes;
    assert_eq!(usages.each_ref().map(checkpoints), [100_000, 100_000]);
    assert_eq!(usages.each_ref().map(|usage| usage.shared.apparent_bytes), [100_000, 100_000]);
    assert_eq!(usages[0].part(SessionPart::Tmp).apparent_bytes, 1_000);
    let apart: u64 = usages.iter().map(|usage| usage.total().apparent_bytes).sum();
    assert_eq!(meter.total().apparent_bytes, apart - 100_000);
}

#[test]
fn a_flat_file_is_measured_where_it_stands_and_a_link_is_no_session() {
    let scratch = Scratch::new();
    scratch.put("flat.jsonl", "{\"role\":\"user\",\"content\":\"hi\"}\n");
    symlink("/", scratch.path("link")).expect("the name is free");
    let store = scratch.store();
    let mut meter = store.disk_meter();
    let usage = meter.measure(&name("flat")).expect("it can be read");
    assert_eq!(apparent(&usage), [("history", 31)]);
    assert!(matches!(meter.measure(&name("link")), Err(StoreError::Escapes { .. })));
    assert!(matches!(meter.measure(&name("none")), Err(StoreError::NotFound { .. })));
    assert!(!scratch.path("flat").exists());
}
