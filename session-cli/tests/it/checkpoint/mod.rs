//! `session checkpoint`: its verbs, one module for each group.

mod create;
mod interrupted;
mod looking;
mod reference;
mod restoring;
mod sessions;
mod upkeep;

use crate::support::{Ran, Scratch, json};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const HELLO: &str = "{\"role\":\"user\",\"content\":\"plant three oaks\"}\n";

/// A session `oaks` with a conversation, and a workspace.
struct Garden {
    scratch: Scratch,
}

impl Garden {
    fn new() -> Self {
        let garden = Garden { scratch: Scratch::new() };
        garden.session("oaks");
        garden
    }

    /// Another session in the same workspace.
    fn session(&self, name: &str) {
        let work = self.work();
        self.scratch.ok(&["new", name, "--workspace", work.to_str().expect("scratch paths are text")]);
        self.scratch.ok_with(&["append", name], HELLO);
    }

    fn work(&self) -> PathBuf {
        self.scratch.work()
    }

    fn store(&self) -> PathBuf {
        self.scratch.store().join("oaks/checkpoints")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().expect("it is below the workspace")).expect("scratch");
        fs::write(path, text).expect("scratch");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.work().join(path)).expect("it is there, and text")
    }

    fn exists(&self, path: &str) -> bool {
        self.work().join(path).symlink_metadata().is_ok()
    }

    /// `session checkpoint WORDS…`
    fn run(&self, words: &[&str]) -> Ran {
        self.scratch.run(&[&["checkpoint"], words].concat())
    }

    fn ok(&self, words: &[&str]) -> String {
        self.scratch.ok(&[&["checkpoint"], words].concat())
    }

    /// Takes a snapshot of `oaks`.
    fn create(&self) -> String {
        self.ok(&["create", "oaks"])
    }

    fn json(&self, words: &[&str]) -> Value {
        json(&self.scratch.run(&[&["--json", "checkpoint"], words].concat()).stdout)
    }

    /// The kinds of the session's events with what they say, from the second on, which are not the header's.
    fn events(&self) -> Vec<(String, Value)> {
        let lines = self.scratch.ok(&["events", "oaks"]);
        let event = |line: &str| {
            let event = json(line)["event"].clone();
            (event["kind"].as_str().expect("a kind is text").to_owned(), event)
        };
        lines.lines().map(event).collect()
    }
}

/// What stands at a path: its mode, its times, its bytes.
type Node = (u32, (i64, i64), Vec<u8>);

/// Every path below a directory with its mode and bytes, and, where nothing at all may have happened, its times.
fn fingerprint(dir: &Path, with_times: bool) -> BTreeMap<PathBuf, Node> {
    let mut all = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(path) = dirs.pop() {
        let meta = path.symlink_metadata().expect("it was listed");
        let bytes = if meta.is_symlink() {
            fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
        } else if meta.is_dir() {
            dirs.extend(fs::read_dir(&path).expect("readable").map(|entry| entry.expect("readable").path()));
            Vec::new()
        } else {
            fs::read(&path).expect("readable")
        };
        let times = if with_times { (meta.mtime(), meta.mtime_nsec()) } else { (0, 0) };
        all.insert(path, (meta.mode(), times, bytes));
    }
    all
}
