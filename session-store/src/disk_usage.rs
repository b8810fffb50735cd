//! How much room sessions take on the disk, by their parts. Reads only, and follows no link.

use crate::candidate::{Node, candidate};
use crate::{Result, Store, StoreError};
use session_core::{SessionName, layout};
use session_disk::is_absent;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What the file system counts in, whatever the size of its blocks.
const BLOCK_BYTES: u64 = 512;

/// A part of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SessionPart {
    /// The history, and the flat file that it came from.
    History,
    /// The metadata, with its copies.
    Meta,
    /// The checkpoints.
    Checkpoints,
    /// Records and logs of background processes.
    Proc,
    /// Waiting messages.
    Inbox,
    /// Spilled output.
    Tmp,
    /// Bytes that were taken out of the history, and histories that another one has replaced.
    Quarantine,
    /// The directory itself, locks, and what does not belong there.
    Other,
}

impl SessionPart {
    /// All of them.
    pub const ALL: [SessionPart; 8] = [
        SessionPart::History,
        SessionPart::Meta,
        SessionPart::Checkpoints,
        SessionPart::Proc,
        SessionPart::Inbox,
        SessionPart::Tmp,
        SessionPart::Quarantine,
        SessionPart::Other,
    ];

    /// A stable name, for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionPart::History => "history",
            SessionPart::Meta => "meta",
            SessionPart::Checkpoints => "checkpoints",
            SessionPart::Proc => "proc",
            SessionPart::Inbox => "inbox",
            SessionPart::Tmp => "tmp",
            SessionPart::Quarantine => "quarantine",
            SessionPart::Other => "other",
        }
    }

    /// Where something directly in a session's directory belongs.
    fn of(name: &OsStr) -> Self {
        let is = |part: &str| name == part;
        let begins = |part: &str| name.as_bytes().starts_with(part.as_bytes());
        match () {
            () if is(layout::HISTORY) => SessionPart::History,
            () if is(layout::CHECKPOINTS) => SessionPart::Checkpoints,
            () if is(layout::PROC) => SessionPart::Proc,
            () if is(layout::INBOX) => SessionPart::Inbox,
            () if is(layout::TMP) => SessionPart::Tmp,
            () if is(layout::QUARANTINE) || is(layout::BACKUPS) => SessionPart::Quarantine,
            // What could not be read is kept beside it, under a longer name.
            () if begins(layout::META) || is(layout::META_COPY) || is(layout::META_LOCK) => SessionPart::Meta,
            () => SessionPart::Other,
        }
    }
}

/// Bytes on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DiskBytes {
    /// What the file system has set aside, directories included.
    pub allocated_bytes: u64,
    /// The lengths of the files, and of the links themselves.
    pub apparent_bytes: u64,
}

impl DiskBytes {
    fn of(metadata: &Metadata) -> Self {
        let apparent_bytes = if metadata.is_dir() { 0 } else { metadata.len() };
        DiskBytes { allocated_bytes: metadata.blocks() * BLOCK_BYTES, apparent_bytes }
    }

    fn add(&mut self, other: DiskBytes) {
        self.allocated_bytes += other.allocated_bytes;
        self.apparent_bytes += other.apparent_bytes;
    }
}

/// The room that one session takes.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct DiskUsage {
    parts: [DiskBytes; SessionPart::ALL.len()],
    /// What of it has a name outside the session too, such as checkpoints that a fork shares: deleting the session
    /// frees none of it.
    pub shared: DiskBytes,
    /// What could not be looked at, and is not in the numbers.
    pub unread: Vec<StoreError>,
}

impl DiskUsage {
    /// The room that a part takes. A file with several names in the session counts once.
    pub fn part(&self, part: SessionPart) -> DiskBytes {
        self.parts[part as usize]
    }

    /// The room that the session takes.
    pub fn total(&self) -> DiskBytes {
        let mut total = DiskBytes::default();
        self.parts.iter().for_each(|part| total.add(*part));
        total
    }
}

/// A file of the file system, whatever its names.
type File = (u64, u64);

/// Measures sessions one after the other, and adds up what they take together.
#[derive(Debug)]
pub struct DiskMeter<'a> {
    store: &'a Store,
    /// Files with several names that were met.
    met: HashMap<File, DiskBytes>,
    total: DiskBytes,
}

impl Store {
    /// Begins to measure sessions.
    pub fn disk_meter(&self) -> DiskMeter<'_> {
        DiskMeter { store: self, met: HashMap::new(), total: DiskBytes::default() }
    }
}

impl DiskMeter<'_> {
    /// Measures a session. Nothing is opened, and links to successors are not followed. What vanishes meanwhile counts for
    /// nothing.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Escapes`] where a symbolic link has the name; [`StoreError::Read`] where
    /// not even its place can be looked at.
    pub fn measure(&mut self, name: &SessionName) -> Result<DiskUsage> {
        let base = self.store.base_dir();
        let found = candidate(base, name)?.ok_or_else(|| self.store.not_found(name))?;
        if found.directory == Some(Node::Link) {
            return Err(StoreError::Escapes { path: base.join(name) });
        }
        let mut walk = Walk { usage: DiskUsage::default(), names: HashMap::new() };
        for flat in [self.store.flat_path(name), crate::paths::migrated_path(base, name.as_str().as_ref())] {
            if flat.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
                walk.add(SessionPart::History, flat);
            }
        }
        if let Some(paths) = found.paths(base) {
            walk.session(paths.dir());
        }
        Ok(self.close(walk))
    }

    /// What all sessions that were measured take together: what they share counts once.
    pub fn total(&self) -> DiskBytes {
        self.total
    }

    fn close(&mut self, mut walk: Walk) -> DiskUsage {
        self.total.add(walk.usage.total());
        for (file, Linked { bytes, names, links }) in walk.names {
            if names < links {
                walk.usage.shared.add(bytes);
            }
            if self.met.insert(file, bytes).is_some() {
                self.total.allocated_bytes -= bytes.allocated_bytes.min(self.total.allocated_bytes);
                self.total.apparent_bytes -= bytes.apparent_bytes.min(self.total.apparent_bytes);
            }
        }
        walk.usage
    }
}

/// A file that has several names.
struct Linked {
    bytes: DiskBytes,
    /// How many of them were met.
    names: u64,
    links: u64,
}

struct Walk {
    usage: DiskUsage,
    names: HashMap<File, Linked>,
}

impl Walk {
    fn session(&mut self, dir: &Path) {
        self.count(SessionPart::Other, dir);
        for path in self.entries(dir) {
            let part = SessionPart::of(path.file_name().unwrap_or_default());
            self.add(part, path);
        }
    }

    /// Adds a file, or a directory with everything in it.
    fn add(&mut self, part: SessionPart, path: PathBuf) {
        let mut open = vec![path];
        while let Some(path) = open.pop() {
            if self.count(part, &path) {
                open.extend(self.entries(&path));
            }
        }
    }

    /// Counts one entry, and says whether it is a directory.
    fn count(&mut self, part: SessionPart, path: &Path) -> bool {
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return false,
            Err(error) => {
                self.usage.unread.push(StoreError::read(path)(error));
                return false;
            }
        };
        let bytes = DiskBytes::of(&metadata);
        if metadata.nlink() > 1 && !metadata.is_dir() {
            let first = Linked { bytes, names: 0, links: metadata.nlink() };
            let linked = self.names.entry((metadata.dev(), metadata.ino())).or_insert(first);
            linked.names += 1;
            if linked.names > 1 {
                return false;
            }
        }
        self.usage.parts[part as usize].add(bytes);
        metadata.is_dir()
    }

    fn entries(&mut self, dir: &Path) -> Vec<PathBuf> {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Vec::new(),
            Err(error) => {
                self.usage.unread.push(StoreError::read(dir)(error));
                return Vec::new();
            }
        };
        let mut paths = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => paths.push(entry.path()),
                Err(error) => self.usage.unread.push(StoreError::read(dir)(error)),
            }
        }
        paths
    }
}
