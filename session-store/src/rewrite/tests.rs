//! What is promised of a history that takes another one's place.

use super::backup::backups;
use super::{KeepBackup, Rewrite, late};
use crate::{Options, Result, SessionPaths, StoreError, Wait, lock};
use session_core::{Event, Timestamp, parse_time};
use session_disk::faults::{Fault, with};
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const BAD: &str = "not json\n";

fn line(text: &str) -> String {
    format!("{{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"notice\",\"text\":\"{text}\"}}\n")
}

fn now() -> Timestamp {
    parse_time("2026-01-02T03:04:06Z").expect("it is well formed")
}

fn session(history: &str) -> (TempDir, SessionPaths) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let paths = SessionPaths::new(dir.path());
    fs::write(paths.history(), history).expect("there is room");
    (dir, paths)
}

fn history(paths: &SessionPaths) -> String {
    fs::read_to_string(paths.history()).expect("it is there")
}

/// Blanks the bytes of a range, and says so.
fn blank(paths: &SessionPaths, from: u64, upto: u64, keep: KeepBackup) -> Result<Option<PathBuf>> {
    let options = Options { wait: Wait::UpTo(Duration::from_secs(10)), ..Options::default() };
    let lock = lock::acquire(paths, "demo", options.wait)?;
    let mut rewrite = Rewrite::begin(paths, &lock, &options)?;
    rewrite.copy_upto(from)?;
    rewrite.blank_upto(upto)?;
    rewrite.end(&[Event::notice(now(), "repaired")], keep, now())
}

#[test]
fn nothing_but_the_bytes_that_were_meant_changes_and_the_old_history_is_kept() {
    let before = [line("a"), BAD.into(), line("b")].concat();
    let (_dir, paths) = session(&before);
    let from = line("a").len() as u64;
    let done = blank(&paths, from, from + 8, KeepBackup::Yes).expect("nothing forbids it");
    let repaired = "{\"ts\":\"2026-01-02T03:04:06Z\",\"kind\":\"notice\",\"text\":\"repaired\"}\n";
    assert_eq!(history(&paths), [line("a"), "        \n".into(), line("b"), repaired.into()].concat());
    assert_eq!(fs::read_to_string(done.expect("it was kept")).expect("it is there"), before);
}

#[test]
fn other_bytes_may_be_put_and_the_old_history_need_not_be_kept() -> Result<()> {
    let (_dir, paths) = session(&[line("secret"), line("b"), "{\"torn".into()].concat());
    let options = Options::default();
    let lock = lock::acquire(&paths, "demo", options.wait)?;
    let mut rewrite = Rewrite::begin(&paths, &lock, &options)?;
    assert_eq!(rewrite.len(), history(&paths).len() as u64);
    let first = line("secret").len() as u64;
    rewrite.put_upto(first, line("*").as_bytes())?;
    let done = rewrite.end(&[], KeepBackup::No, now())?;
    assert_eq!((done, backups(&paths)?.len()), (None, 0));
    assert_eq!(history(&paths), [line("*"), line("b"), "{\"torn\n".into()].concat());
    Ok(())
}

#[test]
fn what_was_given_up_has_changed_nothing() -> Result<()> {
    let (dir, paths) = session(&line("a"));
    let options = Options::default();
    let lock = lock::acquire(&paths, "demo", options.wait)?;
    let mut rewrite = Rewrite::begin(&paths, &lock, &options)?;
    rewrite.blank_upto(5)?;
    drop(rewrite);
    lock.release()?;
    assert_eq!(history(&paths), line("a"));
    let names: Vec<_> =
        fs::read_dir(dir.path()).expect("it is there").flatten().map(|entry| entry.file_name()).collect();
    assert!(names.iter().all(|name| name == "history.jsonl" || name == ".lock"), "{names:?}");
    Ok(())
}

#[test]
fn a_blank_that_is_longer_than_any_buffer_has_a_newline_now_and_then() {
    let (_dir, paths) = session(&[line("a"), "#".repeat(600_000), "\n".into(), line("b")].concat());
    let from = line("a").len() as u64;
    blank(&paths, from, from + 600_000, KeepBackup::Yes).expect("nothing forbids it");
    let text = history(&paths);
    assert!(text.starts_with(&line("a")) && text.contains(&line("b")));
    assert!(text.lines().all(|line| line.len() <= 4096 || !line.trim().is_empty()));
    assert!(!text.contains('#'));
}

#[test]
fn i24_a_death_or_a_failure_at_any_operation_loses_nothing_and_repeating_it_ends_it() {
    let before = [line("a"), BAD.into(), line("b")].concat();
    let from = line("a").len() as u64;
    for fault in [|at| Fault::Fail { at }, |at| Fault::Full { at }, |at| Fault::Stop { at }] {
        for at in 0.. {
            let (_dir, paths) = session(&before);
            let run = with(fault(at), || blank(&paths, from, from + 8, KeepBackup::Yes));
            let after = history(&paths);
            let is_new = after.contains("repaired");
            assert!(is_new || after == before, "{at}: {after}");
            if is_new {
                assert!(after.starts_with(&[line("a"), "        \n".into(), line("b")].concat()), "{at}");
                let kept = backups(&paths).expect("they can be read");
                assert!(kept.iter().any(|kept| fs::read_to_string(&kept.path).is_ok_and(|text| text == before)));
            }
            assert!(late::lines(&paths).expect("they can be read").is_empty(), "{at}: nobody else wrote");
            if !is_new {
                blank(&paths, from, from + 8, KeepBackup::Yes).expect("nothing forbids it any more");
                assert_eq!(history(&paths).matches("repaired").count(), 1, "{at}");
                assert_eq!(backups(&paths).expect("they can be read").len(), 1, "{at}");
            }
            if !run.hit {
                assert!(at > 10, "{at} operations were tried");
                break;
            }
        }
    }
}

#[test]
fn what_was_written_to_the_old_history_in_the_end_is_carried_over_once_whoever_dies_and_whatever_fails() {
    for fault in [|at| Fault::Stop { at }, |at| Fault::Fail { at }, |at| Fault::Full { at }] {
        for at in 0.. {
            let (_dir, paths) = session(&line("a"));
            blank(&paths, 0, 0, KeepBackup::Yes).expect("nothing forbids it");
            let backup = backups(&paths).expect("they can be read").remove(0);
            let mut old = OpenOptions::new().append(true).open(&backup.path).expect("it is ours");
            old.write_all([line("late"), line("later"), "half".into()].concat().as_bytes()).expect("there is room");
            let found = late::lines(&paths).expect("they can be read");
            assert_eq!(found.iter().map(|late| late.offset).collect::<Vec<_>>(), [line("a").len() as u64]);
            let carry = || {
                let lock = lock::acquire(&paths, "demo", Wait::No)?;
                late::carry(&paths, &lock, crate::Durability::Data)
            };
            let run = with(fault(at), carry);
            carry().expect("nothing forbids it any more");
            let text = history(&paths);
            let found = (text.matches(&line("late")).count(), text.matches(&line("later")).count());
            assert_eq!(found, (1, 1), "{:?}: {text}", fault(at));
            assert!(late::lines(&paths).expect("they can be read").is_empty());
            assert_eq!(carry().expect("there is nothing to do"), 0);
            if !run.hit {
                assert!(at > 3, "{at} operations were tried");
                break;
            }
        }
    }
}

#[test]
fn i23_who_appends_without_a_lock_meanwhile_loses_no_line_and_finds_none_twice() {
    const WRITERS: usize = 2;
    let (_dir, paths) = session(&[BAD.into(), line("first")].concat());
    let over = AtomicBool::new(false);
    let written: Vec<usize> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (over, path) = (&over, paths.history());
                // As the reference does: each line is an opening, a write, and a close.
                scope.spawn(move || {
                    let mut n = 0;
                    while !over.load(Ordering::Relaxed) {
                        let mut file = OpenOptions::new().append(true).open(&path).expect("it is always there");
                        file.write_all(line(&format!("w{writer}-{n}.")).as_bytes()).expect("there is room");
                        n += 1;
                    }
                    n
                })
            })
            .collect();
        for _ in 0..20 {
            blank(&paths, 0, 8, KeepBackup::Yes).expect("nothing forbids it");
        }
        over.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().expect("it does not fail")).collect()
    });
    let lock = lock::acquire(&paths, "demo", Wait::No).expect("it is free");
    late::carry(&paths, &lock, crate::Durability::Data).expect("nothing forbids it");
    let text = history(&paths);
    let mut found: HashMap<&str, usize> = HashMap::new();
    text.split_inclusive('\n').for_each(|line| *found.entry(line).or_default() += 1);
    for (writer, count) in written.into_iter().enumerate() {
        assert!(count > 20, "it was a race");
        for n in 0..count {
            assert_eq!(found.get(line(&format!("w{writer}-{n}.")).as_str()), Some(&1), "w{writer}-{n}");
        }
    }
}

#[test]
fn h03_a_history_of_a_newer_format_is_not_replaced_however_odd_its_first_line_is() {
    for before in ["", "\u{feff}"] {
        let head = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"x.session\",\"x\":{\"format\":99}}\n";
        let (_dir, paths) = session(&format!("{before}{head}{BAD}"));
        let lock = lock::acquire(&paths, "demo", Wait::No).expect("nobody has it");
        let refused = Rewrite::begin(&paths, &lock, &Options::default()).err();
        assert!(matches!(refused, Some(StoreError::NewerFormat { format: 99, .. })), "{refused:?}");
    }
}
