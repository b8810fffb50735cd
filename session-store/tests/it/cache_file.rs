//! The form of the cache of lists, for tests that change what it claims.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

type Moment = (i64, i64);

#[derive(Serialize, Deserialize)]
struct Entry {
    history: Option<History>,
    meta: Option<Metadata>,
    quiet: Option<Quiet>,
}

#[derive(Serialize, Deserialize)]
struct Key {
    device: u64,
    inode: u64,
    size: u64,
    modified: Moment,
    changed: Moment,
}

#[derive(Serialize, Deserialize)]
struct History {
    key: Key,
    seen: Moment,
    newest: Option<(i64, u32)>,
    counted: Option<Counted>,
}

#[derive(Serialize, Deserialize)]
struct Counted {
    all: Sum,
    lines: Point,
    before: Option<Point>,
}

#[derive(Serialize, Deserialize)]
struct Point {
    upto: u64,
    proof: u32,
    sum: Sum,
}

#[derive(Serialize, Deserialize)]
struct Sum {
    messages: u64,
    events: u64,
    skipped: u64,
    repaired: u64,
    uncertain: bool,
    gap: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    file: Option<Key>,
    copy: Option<Key>,
    seen: Moment,
    shown: Shown,
}

#[derive(Serialize, Deserialize)]
struct Shown {
    title: String,
    workspace: String,
    workspace_id: Option<String>,
    model: String,
    parent: String,
    succeeded_by: String,
    created: Option<(i64, u32, i32)>,
    updated: Option<(i64, u32, i32)>,
    cost: f64,
}

#[derive(Serialize, Deserialize)]
struct Quiet {
    proc: Option<Key>,
    inbox: Option<Key>,
    seen: Moment,
    pending: u64,
}

/// Changes every entry of a cache file, and the checksum with them.
pub(crate) fn rewrite(path: &Path, change: impl Fn(&str, &mut Value)) {
    let bytes = fs::read(path).expect("a list has written it");
    let end = bytes.iter().position(|&byte| byte == b'\n').expect("it has a first line");
    let (head, body) = (&bytes[..end], &bytes[end + 1..]);
    let entries: Vec<(String, Entry)> = postcard::from_bytes(body).expect("it has the form that is written down here");
    let changed = entries.into_iter().map(|(session, entry)| {
        let mut entry = serde_json::to_value(entry).expect("it has a JSON form");
        change(&session, &mut entry);
        let entry: Entry = serde_json::from_value(entry).expect("the change keeps the form");
        (session, entry)
    });
    let body = postcard::to_allocvec(&changed.collect::<Vec<_>>()).expect("it was read so");
    let head = str::from_utf8(head).expect("it is text");
    let (head, _) = head.rsplit_once(' ').expect("a checksum ends it");
    let head = format!("{head} {:08x}\n", crc32fast::hash(&body));
    fs::write(path, [head.as_bytes(), &body].concat()).expect("writable");
}

/// Makes what was kept look as if the files had been left alone for long before.
pub(crate) fn age(path: &Path) {
    rewrite(path, |_, entry| {
        for part in ["history", "meta", "quiet"] {
            if let Some(seen) = entry[part]["seen"][0].as_i64() {
                entry[part]["seen"][0] = (seen + 100).into();
            }
        }
    });
}

/// The one cache file in a directory.
pub(crate) fn only(dir: &Path) -> PathBuf {
    let mut files = fs::read_dir(dir).expect("a list has made it");
    files.next().expect("a list has written it").expect("it can be read").path()
}
