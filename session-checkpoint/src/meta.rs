//! `meta.json`: what a store knows beside its commits.

use crate::error::reading;
use crate::layout::{FORMAT, Layout};
use crate::rel_path::json_bytes;
use crate::{Error, stored};
use serde::{Deserialize, Serialize};
use session_disk::Durability;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// An absolute path in JSON, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct AbsPath(#[serde(with = "json_bytes")] pub(crate) Vec<u8>);

impl AbsPath {
    pub(crate) fn new(path: &Path) -> Self {
        AbsPath(path.as_os_str().as_bytes().to_vec())
    }

    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(&self.0))
    }
}

/// Which directory the checkpoints are of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) path: AbsPath,
    /// The device, which on some file systems is another one after each boot.
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// The boot that `dev` is of.
    pub(crate) boot: String,
}

impl Identity {
    pub(crate) fn of(path: &Path) -> Result<Self, Error> {
        use std::os::unix::fs::MetadataExt as _;
        let meta = fs::metadata(path).map_err(reading(path))?;
        let boot = format!("{:032x}", crate::clock::boot_id());
        Ok(Identity { path: AbsPath::new(path), dev: meta.dev(), ino: meta.ino(), boot })
    }

    /// Whether both are one directory under one path.
    pub(crate) fn is_same(&self, now: &Identity) -> bool {
        self.path == now.path && self.ino == now.ino && (self.dev == now.dev || self.boot != now.boot)
    }
}

/// The last thing that went wrong, until a snapshot succeeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// When, in milliseconds since 1970, UTC.
    pub time_ms: i64,
    /// What was attempted.
    pub during: String,
    /// What went wrong, with its causes.
    pub error: String,
}

/// The content of `meta.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) format: u32,
    pub(crate) workspace: Identity,
    #[serde(default)]
    pub(crate) externals: BTreeSet<AbsPath>,
    #[serde(default)]
    pub(crate) pinned: BTreeSet<u32>,
    /// The newest turn that was inherited by a fork.
    #[serde(default)]
    pub(crate) fork_base: Option<u32>,
    /// The highest number that a turn ever had, dropped ones included.
    #[serde(default)]
    pub(crate) last_turn: u32,
    #[serde(default)]
    pub(crate) last_safety: u32,
    /// Packs that hold uncompressed objects, for `maintain`.
    #[serde(default)]
    pub(crate) stored_packs: BTreeSet<String>,
    #[serde(default)]
    pub(crate) failure: Option<Failure>,
}

impl Meta {
    pub(crate) fn new(workspace: Identity) -> Self {
        Meta {
            format: FORMAT,
            workspace,
            externals: BTreeSet::new(),
            pinned: BTreeSet::new(),
            fork_base: None,
            last_turn: 0,
            last_safety: 0,
            stored_packs: BTreeSet::new(),
            failure: None,
        }
    }

    /// Reads it; `None` where it does not exist.
    pub(crate) fn read(layout: &Layout) -> Result<Option<Self>, Error> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let path = layout.meta();
        let Some(bytes) = stored::read(&path)? else { return Ok(None) };
        match serde_json::from_slice::<Version>(&bytes) {
            Ok(Version { format }) if format > FORMAT => {
                Err(Error::NewerFormat { path: layout.store.clone(), found: format, known: FORMAT })
            }
            _ => serde_json::from_slice(&bytes).map(Some).map_err(|_| Error::Damaged { path }),
        }
    }

    /// Replaces it. On disk when it returns: the new one, synced.
    pub(crate) fn write(&self, layout: &Layout) -> Result<(), Error> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("it has string keys and no failing serializer");
        bytes.push(b'\n');
        Ok(session_disk::replace(&layout.meta(), &bytes, Durability::Data)?)
    }
}
