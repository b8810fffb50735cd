//! Reading histories from files, against the floor, and how the cost grows.

use session_bench::floor;
use session_bench::scratch::{history, in_memory};
use session_core::{Conversation, Limits, count};
use session_store::{HistoryView, SessionPaths};
use session_testing::{Histories, Shape, Table};
use std::fs::{self, File, OpenOptions};
use std::hint::black_box;
use std::io::{BufReader, Write as _};
use std::path::Path;

fn main() {
    let dir = in_memory();
    let session = dir.path().join("demo");
    fs::create_dir(&session).expect("the scratch directory can be written");
    let paths = SessionPaths::new(&session);
    let path = paths.history();
    let made = history(dir.path(), Shape::Real, 50);
    fs::rename(made, &path).expect("it is one directory");
    end_like_a_turn(&path);
    forwards(&path, &paths);
    backwards(&path, &paths);
    growth(dir.path());
}

/// As a turn ends: settings where it began, and a report before the last words.
fn end_like_a_turn(path: &Path) {
    const REPORT: &str = concat!(
        r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"assistant","tool_calls":[{"id":"r","#,
        r#""type":"function","function":{"name":"Report","arguments":"{\"task_status\":\"done\",\"headline\":\"three oaks\"}"}}]}}"#,
        "\n"
    );
    let turn = Histories::of_bytes(3, Shape::Real, 12 << 10);
    let mut file = OpenOptions::new().append(true).open(path).expect("it was written before");
    for part in [&turn[..], REPORT.as_bytes(), &turn[..2 << 10]] {
        let end = memchr::memrchr(b'\n', part).expect("it has lines");
        file.write_all(&part[..=end]).expect("the scratch directory can be written");
    }
}

fn view(paths: &SessionPaths) -> HistoryView {
    HistoryView::open(paths, Limits::default()).expect("it can be read")
}

fn forwards(path: &Path, paths: &SessionPaths) {
    let table = Table::new("a history of 50 MB, from a file in memory", 9);
    let floor = || floor::newlines(path);
    let open = || BufReader::with_capacity(256 << 10, File::open(path).expect("it was written before"));
    let load = || Conversation::read(open(), Limits::default()).expect("it can be read");
    table.times_as_long("load, one thread", floor, load, "<= 10");
    table.times_as_long("load, as the store does", floor, || view(paths).load().expect("it can be read"), "<= 7");
    table.times_as_long(
        "count, one thread",
        floor,
        || count(open(), Limits::default()).expect("it can be read"),
        "<= 2",
    );
    table.times_as_long("count, as the store does", floor, || view(paths).count().expect("it can be read"), "");
}

fn backwards(path: &Path, paths: &SessionPaths) {
    const TIMES: usize = 100;
    let table = Table::new("the end of that history, a hundred times", 9);
    let floor = || (0..TIMES).for_each(|_| _ = black_box(floor::tail(path)));
    assert!(view(paths).last_report().expect("it can be read").is_some(), "the report is one");
    let model = || (0..TIMES).for_each(|_| drop(black_box(view(paths).last_model().expect("it can be read"))));
    let report = || (0..TIMES).for_each(|_| drop(black_box(view(paths).last_report().expect("it can be read"))));
    let last = || (0..TIMES).for_each(|_| drop(black_box(view(paths).last_messages(20).expect("it can be read"))));
    table.times_as_long("last model, against a read of 64 KB", floor, model, "<= 3");
    table.times_as_long("last report, against a read of 64 KB", floor, report, "<= 8");
    table.times_as_long("last 20 messages, against a read of 64 KB", floor, last, "<= 15");
}

/// Time per byte, against that of 10 MB.
fn growth(dir: &Path) {
    let table = Table::new("time per byte, against 10 MB", 5);
    let load = |path: &Path| {
        let file = File::open(path).expect("it was written before");
        Conversation::read(BufReader::with_capacity(256 << 10, file), Limits::default()).expect("it can be read")
    };
    let ten = history(dir, Shape::Real, 10);
    for megabytes in [1, 100, 1_000] {
        let what = format!("load {megabytes} MB");
        if !table.wants(&what) {
            continue;
        }
        let path = history(dir, Shape::Real, megabytes);
        let (base, act) = table.alternate(|| load(&ten), || load(&path));
        let per_byte = act.seconds() / base.seconds() * 10.0 / megabytes as f64;
        table.line(&what, per_byte, "<= 1.3", "");
        fs::remove_file(&path).expect("it is there");
    }
}
