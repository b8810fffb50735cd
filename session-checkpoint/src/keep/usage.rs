//! What a store takes on the disk, by part.

use crate::Error;
use crate::error::reading;
use crate::reader::Reader;
use serde::Serialize;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Bytes of a store, by the lengths of its files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Packs and their indexes.
    pub pack_bytes: u64,
    /// How many packs.
    pub packs: u64,
    /// Loose objects.
    pub loose_bytes: u64,
    /// How many loose objects.
    pub loose_objects: u64,
    /// The stat cache and the list of turns: derived, and deletable.
    pub derived_bytes: u64,
    /// What was moved out of a restore's way.
    pub rescued_bytes: u64,
    /// Damaged packs that were set aside.
    pub damaged_bytes: u64,
    /// The reference's repository and its copies of external files, which are never written.
    pub reference_bytes: u64,
    /// References, configuration, lock, temporary files.
    pub other_bytes: u64,
    /// How much of all that is shared with another store, which would still hold it if this one were deleted.
    pub shared_bytes: u64,
}

impl Usage {
    /// All of it.
    pub fn total_bytes(&self) -> u64 {
        self.pack_bytes
            + self.loose_bytes
            + self.derived_bytes
            + self.rescued_bytes
            + self.damaged_bytes
            + self.reference_bytes
            + self.other_bytes
    }
}

impl Reader {
    /// What the store takes on the disk.
    ///
    /// # Errors
    /// Failed reads.
    pub fn usage(&self) -> Result<Usage, Error> {
        let mut usage = Usage::default();
        self.add(&self.layout.store, &mut usage)?;
        Ok(usage)
    }

    fn add(&self, dir: &Path, usage: &mut Usage) -> Result<(), Error> {
        for entry in fs::read_dir(dir).map_err(reading(dir))? {
            let entry = entry.map_err(reading(dir))?;
            let path = entry.path();
            let meta = match entry.metadata() {
                // A writer at work removes its temporary files.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                other => other.map_err(reading(&path))?,
            };
            if meta.is_dir() {
                self.add(&path, usage)?;
            } else {
                self.file(&path, &meta, usage);
            }
        }
        Ok(())
    }

    fn file(&self, path: &Path, meta: &fs::Metadata, usage: &mut Usage) {
        let len = meta.len();
        let ending = path.extension().unwrap_or_default();
        if !self.is_reference() && self.layout.reference().iter().any(|theirs| path.starts_with(theirs)) {
            usage.reference_bytes += len;
        } else if path.starts_with(self.layout.packs()) && (ending == "pack" || ending == "idx") {
            usage.pack_bytes += len;
            usage.packs += u64::from(ending == "pack");
        } else if path.starts_with(self.layout.objects()) {
            usage.loose_bytes += len;
            usage.loose_objects += 1;
        } else if path.starts_with(self.layout.rescued()) {
            usage.rescued_bytes += len;
        } else if path.starts_with(self.layout.damaged()) {
            usage.damaged_bytes += len;
        } else if path == self.layout.stat_cache() || path == self.layout.turns() {
            usage.derived_bytes += len;
        } else {
            usage.other_bytes += len;
        }
        if meta.nlink() > 1 && !path.starts_with(self.layout.rescued()) {
            usage.shared_bytes += len;
        }
    }
}
