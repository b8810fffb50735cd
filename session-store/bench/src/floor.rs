//! What the system itself takes.

use memchr::memchr_iter;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Reads a file through a reused buffer of 256 KiB and counts its newlines.
pub fn newlines(path: &Path) -> usize {
    let mut file = File::open(path).expect("it was written before");
    let mut buffer = vec![0; 256 << 10];
    let mut lines = 0;
    loop {
        match file.read(&mut buffer).expect("it can be read") {
            0 => return lines,
            n => lines += memchr_iter(b'\n', &buffer[..n]).count(),
        }
    }
}

/// Reads the last 64 KB of a file.
pub fn tail(path: &Path) -> u64 {
    let file = File::open(path).expect("it was written before");
    let len = file.metadata().expect("it is there").len();
    let mut buffer = vec![0; 64 << 10];
    let from = len.saturating_sub(buffer.len() as u64);
    file.read_at(&mut buffer, from).expect("it can be read");
    from
}

/// Lists a store: every session's directory, the length of its history, the bytes of its metadata.
pub fn list(store: &Path) -> u64 {
    let mut seen = 0;
    for entry in fs::read_dir(store).expect("it is there") {
        let dir = entry.expect("it can be read").path();
        if let Ok(history) = fs::metadata(dir.join("history.jsonl")) {
            seen += history.len();
            seen += fs::read(dir.join("meta.json")).map_or(0, |meta| meta.len() as u64);
        }
    }
    seen
}

/// Looks at a store without reading: every session's directory, and when its history was changed.
pub fn stat(store: &Path) -> u64 {
    let mut seen = 0;
    for entry in fs::read_dir(store).expect("it is there") {
        let dir = entry.expect("it can be read").path();
        seen += fs::metadata(dir.join("history.jsonl")).map_or(0, |history| history.len());
    }
    seen
}

/// A file that is kept open for appending.
#[derive(Debug)]
pub struct Appending(File);

impl Appending {
    /// Creates the file.
    pub fn create(path: &Path) -> Self {
        let file = OpenOptions::new().append(true).create(true).open(path);
        Appending(file.expect("the scratch directory can be written"))
    }

    /// One write.
    pub fn write(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("the scratch directory can be written");
    }
}
