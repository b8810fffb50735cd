//! Listing stores, against looking at the same files, and how the cost grows.

use session_bench::floor;
use session_bench::scratch::{in_memory, store};
use session_store::{Empties, Store};
use session_testing::{Histories, Shape, Table};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How many kilobytes a history has.
const KILOBYTES: usize = 300;

fn main() {
    let dir = in_memory();
    let cache = dir.path().join("cache");
    let base = store(dir.path(), 2_000, KILOBYTES);
    let cached = Store::open_at(&base).with_cache_dir(&cache);
    let bare = Store::open_at(&base);
    let list = |store: &Store| store.list(Empties::Hide).expect("it can be read").len();
    let table = Table::new("2,000 sessions of 300 KB, in memory", 7);
    let floor = || floor::list(&base);
    table.times_as_long("list, no cache", floor, || list(&bare), "<= 13");
    let recent = || bare.most_recent().expect("it can be read");
    table.times_as_long("most recent, no cache", floor, recent, "");
    settle(&cached);
    table.times_as_long("list, warm", floor, || list(&cached), "<= 1.2");
    let recent = || cached.most_recent().expect("it can be read");
    table.times_as_long("most recent, warm, against stats alone", || floor::stat(&base), recent, "<= 1");
    grown(&table, &base, &cached);
    growth(dir.path(), &cache);
}

/// Lists until what the cache says is old enough to be believed.
fn settle(store: &Store) {
    drop(store.list(Empties::Hide));
    thread::sleep(Duration::from_millis(3_200));
    drop(store.list(Empties::Hide));
}

/// One session in a hundred has grown.
fn grown(table: &Table, base: &Path, cached: &Store) {
    if !table.wants("list, 1 % grown") {
        return;
    }
    let more = Histories::of_bytes(1, Shape::Real, 4 << 10);
    let grow = || {
        for n in (0..2_000).step_by(100) {
            let path = base.join(format!("oak-{n:05}/history.jsonl"));
            let mut history = OpenOptions::new().append(true).open(path).expect("it is there");
            history.write_all(&more).expect("the scratch directory can be written");
        }
    };
    let list = || cached.list(Empties::Hide).expect("it can be read").len();
    let (warm, act) = table.alternate(list, || {
        grow();
        list()
    });
    table.line("list, 1 % grown, against warm", act.seconds() / warm.seconds(), "<= 1.5", "the growing included");
}

/// Time per session, against that of 1,000.
fn growth(dir: &Path, cache: &Path) {
    let table = Table::new("time per session, warm, against 1,000 sessions", 5);
    let open = |sessions| Store::open_at(store(dir, sessions, 9)).with_cache_dir(cache);
    let thousand = open(1_000);
    settle(&thousand);
    for sessions in [100, 10_000] {
        let what = format!("list {sessions} sessions");
        if !table.wants(&what) {
            continue;
        }
        let many = open(sessions);
        settle(&many);
        let list = |store: &Store| store.list(Empties::Hide).expect("it can be read").len();
        let (base, act) = table.alternate(|| list(&thousand), || list(&many));
        table.line(&what, act.seconds() / base.seconds() * 1_000.0 / sessions as f64, "<= 1.3", "");
        fs::remove_dir_all(dir.join(format!("store-{sessions}"))).expect("it is there");
    }
}
