//! What the caller decides.

use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// Names that hold secrets by convention. With [`Secrets::LeaveOut`] they are reported as skipped, and like everything
/// that is skipped they are never written or deleted by a restore.
pub const SECRET_PATTERNS: &[&str] = &[
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.keystore",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".pgpass",
    ".git-credentials",
];

/// What becomes of files whose name says that they hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Secrets {
    /// They stay out of the store: [`SECRET_PATTERNS`].
    #[default]
    LeaveOut,
    /// They are captured like every other file.
    Capture,
}

/// How far a snapshot's bytes have come when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Durability {
    /// Handed to the kernel: survives a crash of the process, not of the machine. The stat cache is then dropped
    /// after a reboot.
    None,
    /// Packs and their indexes are on the disk, references handed to the kernel: after a power cut the newest turn may
    /// be missing and its number be given again, and no turn that is listed is damaged.
    Packs,
    /// The turn's reference is on the disk too: a number that was given stays, so that a history can tell of it.
    #[default]
    Turns,
    /// So is the head, and so are the files that a restore writes into the workspace.
    Disk,
}

impl Durability {
    /// How far something has to come that is on the disk from `least` on.
    pub(crate) fn from(self, least: Durability) -> session_disk::Durability {
        if self >= least { session_disk::Durability::Data } else { session_disk::Durability::Os }
    }
}

/// How hard new objects are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// Stored as they are: the fastest first snapshot; `maintain` compresses them later.
    Stored,
    /// Deflate, level 1.
    Fast,
    /// A first snapshot is stored while that takes no more than 1 GiB and a quarter of the free disk; everything else
    /// is compressed.
    #[default]
    Auto,
}

/// Where the workspace and its checkpoints are, and the limits between them.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory that is captured.
    pub workspace: PathBuf,
    /// The checkpoint store (`<session>/checkpoints`). It may lie inside the workspace; it is never captured.
    pub store: PathBuf,
    /// Patterns in the syntax of `.gitignore`, relative to the workspace. They win over every `.gitignore`.
    pub excludes: Vec<String>,
    /// Directories that are never entered, wherever they lie: the session's own, for one.
    pub exclude_dirs: Vec<PathBuf>,
    /// Whether `.gitignore` files inside the workspace are obeyed.
    pub honor_gitignore: bool,
    /// What becomes of files that hold secrets by their name.
    pub secrets: Secrets,
    /// Another home directory to refuse as a workspace, beside the one in the user database.
    pub home: Option<PathBuf>,
    /// Larger files are skipped and reported. Two files of this size per thread may be in memory at once.
    pub max_file_bytes: u64,
    /// More files than this are an error: the workspace is too broad.
    pub max_files: u64,
    /// More bytes than this are an error: the workspace is too broad.
    pub max_total_bytes: u64,
    /// When the store has grown beyond this, a snapshot drops the oldest turns.
    pub max_store_bytes: Option<u64>,
    /// A pack that has grown beyond this is followed by another one.
    pub max_pack_bytes: u64,
    /// With more small packs than this, a snapshot makes one of some of them, and `maintain` of all. Four times as many
    /// loose objects are too many, too.
    pub max_packs: usize,
    /// How far the bytes must have come.
    pub durability: Durability,
    /// How hard objects are compressed.
    pub level: Level,
    /// Threads of a snapshot; `None` is the number of processors, at most 8. With one thread all work is done on the
    /// caller's. The threads end before the call returns.
    pub threads: Option<NonZeroUsize>,
    /// How long a call waits for another process that works on the same store.
    pub lock_timeout: Duration,
}

impl Options {
    /// The defaults for a workspace and a store.
    pub fn new(workspace: impl AsRef<Path>, store: impl AsRef<Path>) -> Self {
        Options {
            workspace: workspace.as_ref().to_owned(),
            store: store.as_ref().to_owned(),
            excludes: Vec::new(),
            exclude_dirs: Vec::new(),
            honor_gitignore: true,
            secrets: Secrets::default(),
            home: None,
            max_file_bytes: 100 * MIB,
            max_files: 1_000_000,
            max_total_bytes: 20 * 1024 * MIB,
            max_store_bytes: None,
            max_pack_bytes: 1024 * MIB,
            max_packs: 48,
            durability: Durability::default(),
            level: Level::default(),
            threads: None,
            lock_timeout: Duration::from_secs(10),
        }
    }

    pub(crate) fn thread_count(&self) -> usize {
        self.threads
            .map_or_else(|| std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(8), NonZeroUsize::get)
    }
}

/// What to do about paths that are in conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictPolicy {
    /// Change nothing.
    #[default]
    Stop,
    /// Leave those paths as they are, and restore the others.
    KeepMine,
    /// Overwrite what the safety snapshot holds; move what it cannot hold into `rescued/` of the store.
    Force,
}
