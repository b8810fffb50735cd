//! Which files make up a session besides its history and its metadata, and what they are called elsewhere.
//!
//! Left out is what belongs to one machine or one moment (locks, markers, the inbox, a restore that is under way), what can
//! be made again (caches), and what a repair or a scrub has put aside (`.backup`), which may hold what was scrubbed.

use crate::{SessionPaths, StoreError, directory};
use session_core::{Belongs, SessionPath, layout};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file of a session.
#[derive(Debug, Clone)]
pub(super) struct LocalFile {
    /// Its path in the copy.
    pub(super) path: String,
    pub(super) at: PathBuf,
    pub(super) stamp: Stamp,
}

/// What tells one state of a file from the next: length, times in nanoseconds, inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Stamp(u64, i128, i128, u64);

/// What is done with a file of a copy where it comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is written once and stays as it is.
    Fixed,
    /// It is replaced as time goes by: a reference, a list.
    Changing,
    /// It tells of another machine, and is not brought in.
    Elsewhere,
}

/// The directories that are copied as they are.
const DIRECTORIES: [&str; 4] = [layout::TMP, layout::RAW, layout::QUARANTINE, layout::CHECKPOINTS];
/// What of the checkpoints is not, besides what belongs to the machine: what can be made again.
const DERIVED_OF_CHECKPOINTS: [&str; 2] = ["turns.jsonl", "damaged"];

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        let modified = nanos(metadata.mtime(), metadata.mtime_nsec());
        Stamp(metadata.len(), modified, nanos(metadata.ctime(), metadata.ctime_nsec()), metadata.ino())
    }

    pub(super) fn bytes(self) -> u64 {
        self.0
    }
}

/// The files of a session, in an order in which what names others comes before what it names: who reads them in this
/// order finds everything that a reference needs, since it was there when the reference was read.
pub(super) fn files(paths: &SessionPaths, machine: &str) -> Result<Vec<LocalFile>, StoreError> {
    let (mut files, mut of_processes) = (Vec::new(), Vec::new());
    // What a link leads to is none of the session's.
    let is_dir = |dir: &Path| dir.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    for (dir, at) in DIRECTORIES.map(|dir| (dir, paths.dir().join(dir))) {
        if is_dir(&at) {
            below(&at, dir, &mut files)?;
        }
    }
    if is_dir(&paths.proc()) {
        below(&paths.proc(), "", &mut of_processes)?;
    }
    files.extend(of_processes.into_iter().map(|file| LocalFile { path: elsewhere(machine, &file.path), ..file }));
    files.retain(|file| is_copied(&file.path));
    files.sort_by(|a, b| (kind(&a.path) == Kind::Fixed, &a.path).cmp(&(kind(&b.path) == Kind::Fixed, &b.path)));
    Ok(files)
}

/// Where the records of this machine's processes stand in a copy.
fn elsewhere(machine: &str, path: &str) -> String {
    let machine: String = machine.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    format!("{}/{machine}/{}", layout::PROC, path.trim_start_matches('/'))
}

/// Whether a file of these directories is copied.
fn is_copied(path: &str) -> bool {
    // The directory of the machine stands between.
    let own = match path.split('/').collect::<Vec<_>>()[..] {
        [layout::PROC, _, ref rest @ ..] => format!("{}/{}", layout::PROC, rest.join("/")),
        _ => path.to_owned(),
    };
    let Ok(own) = SessionPath::new(own) else { return false };
    let is_derived = match path.split_once('/') {
        Some((layout::CHECKPOINTS, rest)) => {
            DERIVED_OF_CHECKPOINTS.contains(&rest.split('/').next().unwrap_or_default())
        }
        _ => false,
    };
    own.belongs() != Belongs::Machine && !is_derived
}

/// What is done with a file of a copy.
pub(super) fn kind(path: &str) -> Kind {
    let first = path.split('/').next().unwrap_or_default();
    match first {
        _ if !is_copied(path) => Kind::Elsewhere,
        layout::CHECKPOINTS if path.contains("/objects/") => Kind::Fixed,
        layout::CHECKPOINTS => Kind::Changing,
        layout::PROC => Kind::Elsewhere,
        _ if DIRECTORIES.contains(&first) => Kind::Fixed,
        // Whatever a newer program keeps there.
        _ => Kind::Elsewhere,
    }
}

/// The regular files of a directory and of those below it. Links are not followed, and names that are no text are left
/// out.
fn below(dir: &Path, prefix: &str, files: &mut Vec<LocalFile>) -> Result<(), StoreError> {
    for (entry, metadata) in directory::nodes(dir)? {
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let path = format!("{prefix}/{name}");
        if metadata.is_dir() {
            below(&entry.path(), &path, files)?;
        } else if metadata.is_file() {
            files.push(LocalFile { path, at: entry.path(), stamp: Stamp::of(&metadata) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_belongs_to_a_machine_or_a_moment_is_not_copied() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let paths = SessionPaths::new(dir.path());
        let all = [
            "tmp/out",
            "tmp/.tmp-x-0",
            "proc/bg1.json",
            "proc/.bg1.id",
            "proc/turn.pid",
            "proc/.turn",
            "inbox/1-a",
            ".lock",
            "checkpoints/repo.git/HEAD",
            "checkpoints/repo.git/config",
            "checkpoints/repo.git/hooks/post-checkout",
            "checkpoints/.git/config",
            "checkpoints/repo.git/refs/heads/turns",
            "checkpoints/repo.git/objects/pack/p.pack",
            "checkpoints/lock",
            "checkpoints/statcache",
            "checkpoints/meta.json",
            ".backup/old",
            ".raw/unknown.jsonl",
            ".quarantine/history-0-5-00",
            "checkpoints/repo.git/refs/heads/turns.lock",
            "history.jsonl",
            "meta.json",
        ];
        for path in all {
            let at = dir.path().join(path);
            fs::create_dir_all(at.parent().expect("it is below")).expect("there is room");
            fs::write(at, path).expect("there is room");
        }
        let files = files(&paths, "oak tree").expect("they can be read");
        let found: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            found,
            [
                "checkpoints/meta.json",
                "checkpoints/repo.git/HEAD",
                "checkpoints/repo.git/refs/heads/turns",
                "proc/oak_tree/.bg1.id",
                "proc/oak_tree/bg1.json",
                ".quarantine/history-0-5-00",
                ".raw/unknown.jsonl",
                "checkpoints/repo.git/objects/pack/p.pack",
                "tmp/out",
            ]
        );
    }
}
