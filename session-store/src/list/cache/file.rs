//! The cache file: a line that says what it is, and what is known of each session in the compact form of the crate
//! `postcard`. As JSON, reading it took longer than looking at the sessions.

use super::Entry;
use crate::Durability;
use memchr::memchr;
use session_core::Limits;
use session_disk::{create_dir_all, replace};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The largest cache that is read: of half a million sessions.
const MAX_BYTES: u64 = 256 << 20;

/// Which form an entry has. Bytes of another one can be read as something that nobody wrote.
const FORM: u32 = 2;

/// A cache file of one store.
#[derive(Debug)]
pub(super) struct CacheFile {
    path: PathBuf,
    /// The store, and what else an answer depends on.
    subject: String,
}

impl CacheFile {
    /// The file in `dir` for the store at `base`, whose links are resolved. Readers that accept other lines count
    /// otherwise, and so may another version.
    pub(super) fn new(dir: &Path, base: &Path, limits: Limits) -> Self {
        let subject = format!("{} {} {base:?}", env!("CARGO_PKG_VERSION"), limits.max_line_bytes);
        let path = dir.join(format!("list-{:08x}.cache", crc32fast::hash(base.as_os_str().as_bytes())));
        CacheFile { path, subject }
    }

    /// What it holds; `None` where it is missing, damaged, or of another store.
    pub(super) fn read(&self) -> Option<HashMap<String, Entry>> {
        let (bytes, _) = session_disk::read_regular(&self.path, MAX_BYTES).ok()?;
        let end = memchr(b'\n', &bytes)?;
        let (head, body) = (&bytes[..end], &bytes[end + 1..]);
        if head != self.head(body).as_bytes() {
            return None;
        }
        let entries: Vec<(String, Entry)> = postcard::from_bytes(body).ok()?;
        Some(entries.into_iter().collect())
    }

    /// Replaces it. Nothing is synced and no failure told: whoever cannot write here lists from the sessions again.
    pub(super) fn write(&self, entries: &HashMap<String, Entry>) {
        let entries: Vec<_> = entries.iter().collect();
        let Ok(body) = postcard::to_allocvec(&entries) else { return };
        let bytes = [self.head(&body).as_bytes(), b"\n", &body].concat();
        let dir = self.path.parent().unwrap_or(Path::new("."));
        drop(create_dir_all(dir).and_then(|()| replace(&self.path, &bytes, Durability::Os)));
    }

    /// What the first line must be for the rest to be believed.
    fn head(&self, body: &[u8]) -> String {
        format!("session list cache {FORM}, {}, {:08x}", self.subject, crc32fast::hash(body))
    }
}
