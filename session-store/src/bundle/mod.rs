//! Bundles: sessions as one file, to be taken elsewhere, whole.
//!
//! A bundle is a tar archive in a zstd frame. Its first member is a manifest with the length and the SHA-256 of all that
//! follow; nothing else is in it, and nothing that differs from one machine, user or moment to another: the same sessions
//! make the same bytes, and so does what was imported.
//!
//! What goes along is what [`inner_files`](crate::inner_files) finds ([`look`]), with secrets masked or not ([`mask`]);
//! [`plan`] takes its digests, and writes it. Reading ([`read`]) holds everything against the manifest, within bounds;
//! importing ([`import`]) does it twice: once to see that all of it is good, and once into staging, where each session
//! becomes whole before it has a name.

mod archive;
mod digest;
mod error;
mod even;
mod examine;
mod import;
mod imported;
mod look;
mod manifest;
mod mask;
mod place;
mod plan;
mod read;
mod unpack;

pub use error::{BundleError, BundleFault};
pub use examine::{BundleContents, BundledContents};
pub use import::BundleImport;
pub use imported::ImportedFromBundle;
pub use plan::{BundlePlan, BundledSession};

use crate::Store;
use std::io::Read;
use std::path::Path;

/// What a bundle begins with: a frame of zstd.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a file that begins with these bytes, four of them at least, may be a bundle.
pub fn is_bundle(beginning: &[u8]) -> bool {
    beginning.starts_with(&MAGIC)
}

/// Whether secrets go along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BundleSecrets {
    /// They are masked, each byte by an asterisk, in everything but checkpoints.
    #[default]
    Mask,
    /// They do.
    Keep,
}

/// How much a bundle may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleLimits {
    /// All of its members together, unpacked.
    pub max_bytes: u64,
    /// How many members.
    pub max_members: u64,
    /// How many times its packed size it may have unpacked, at any point beyond the first 16 MiB.
    pub max_expansion: u64,
}

impl Default for BundleLimits {
    /// 64 GiB, 1,000,000 members, 1,000 times.
    fn default() -> Self {
        BundleLimits { max_bytes: 64 << 30, max_members: 1_000_000, max_expansion: 1_000 }
    }
}

impl Store {
    /// Begins a bundle of sessions of this store.
    pub fn bundle(&self, secrets: BundleSecrets) -> BundlePlan<'_> {
        BundlePlan::new(self, secrets)
    }

    /// Reads a bundle through, and says what is in it. `file` is what it is called in errors. Nothing is written.
    ///
    /// # Errors
    /// [`crate::StoreError::Bundle`].
    pub fn examine_bundle(
        &self,
        file: &Path,
        reader: impl Read,
        limits: &BundleLimits,
    ) -> crate::Result<BundleContents> {
        examine::examine(file, reader, limits, self.options().limits)
    }
}
