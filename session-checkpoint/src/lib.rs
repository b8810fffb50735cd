//! Checkpoints: a snapshot of a workspace each turn, restored exactly and undone at will, for about a stat per file.
//!
//! A *workspace* is a directory that somebody's agent works in. A *store* is a directory of ours beside the session, with
//! a bare repository in it that stock git reads: `git --git-dir …/repo.git log --stat`, `show turn-3:src/x`,
//! `diff turn-3 turn-4`.
//!
//! It deliberately does not: touch the user's own repository, read anybody's git configuration, environment,
//! attributes or hooks, run the git program, delete what it does not know to have been absent, follow a symbolic link
//! on the way to a file, or know what a session is.
//!
//! [`Checkpoints`] writes, [`Reader`] only looks, [`Attached`] is what a session store is given.
//!
//! ```
//! use session_checkpoint::{Cancel, Checkpoints, ConflictPolicy, Options, Request, Scope, TurnRef};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! # let (workspace, store) = (scratch.path().join("work"), scratch.path().join("session/checkpoints"));
//! # std::fs::create_dir(&workspace)?;
//! std::fs::write(workspace.join("oak"), "planted")?;
//! let (mut checkpoints, _report) = Checkpoints::open(Options::new(&workspace, &store))?;
//! let cancel = Cancel::new();
//! let before = checkpoints.snapshot(&Request::next("plant an oak"), &cancel)?;
//!
//! std::fs::write(workspace.join("oak"), "felled")?;
//! checkpoints.snapshot(&Request::next("fell it"), &cancel)?;
//!
//! let plan = checkpoints.plan_restore(TurnRef::Turn(before.turn), &Scope::default(), &cancel)?;
//! assert_eq!(plan.summary().writes.len(), 1);
//! let restored = checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel)?;
//! assert!(restored.is_exact());
//! assert_eq!(std::fs::read(workspace.join("oak"))?, b"planted");
//!
//! checkpoints.undo(ConflictPolicy::Stop, &cancel)?;
//! assert_eq!(std::fs::read(workspace.join("oak"))?, b"felled");
//! # Ok(())
//! # }
//! ```

// In reading order: what callers see, how a snapshot is taken, how one is restored, how the store is kept.
mod cancel;
mod error;
mod oid;
mod options;
mod point;
mod rel_path;
mod skipped;

mod cache;
mod checkpoints;
mod commit;
mod external;
mod find;
mod head;
mod listing;
mod look;
mod loose;
mod names;
mod observe;
mod pack;
mod refs;
mod rules;
mod sink;
mod snapshot;
mod walk;

mod diff;
mod objects;
mod reader;
mod tree;
mod tree_diff;
mod tree_edit;
mod turns;

mod ahead;
mod attached;
mod examine;
mod journal;
mod restore;
mod root;

mod health;
mod keep;

mod clock;
mod init;
mod layout;
mod lock;
mod locked;
mod meta;
mod remembered;
mod space;
mod stored;
mod workspace;

pub use attached::Attached;
pub use cancel::{Cancel, Progress};
pub use checkpoints::{Checkpoints, OpenReport};
pub use commit::{ChangedBy, TurnKind};
pub use diff::{DiffOptions, FileDiff, NoText};
pub use error::{Error, NotExternal, Refusal};
pub use health::{BadObject, ObjectState};
pub use journal::Interrupted;
pub use keep::{
    DamagedPack, Forked, Maintenance, Pruned, Retention, TurnHealth, Usage, Verification, VerifyDepth, fork,
};
pub use meta::Failure;
pub use oid::Oid;
pub use options::{ConflictPolicy, Durability, Level, Options, SECRET_PATTERNS, Secrets};
pub use point::{ParseTurnRefError, TurnRef};
pub use reader::{Blob, FileAt, Reader, Status};
pub use rel_path::RelPath;
pub use restore::{
    Conflict, ConflictKind, FailedPath, KeepReason, Kept, PlanSummary, Planned, RestorePlan, Restored, Scope,
    SharedPath,
};
pub use skipped::{SkipReason, Skipped};
pub use snapshot::{BackgroundSnapshot, Request, Snapshot};
pub use tree::Mode;
pub use turns::{Change, ChangeKind, Content, Turn, TurnState};
