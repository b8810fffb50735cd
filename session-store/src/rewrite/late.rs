//! Lines that somebody wrote to a history while another one took its place.

use super::backup::{Backup, backups};
use super::lock_history;
use crate::flock::Inode;
use crate::history::{BUFFER, last_line, take_back};
use crate::part::Part;
use crate::{Durability, LockGuard, Result, SessionPaths, StoreError};
use memchr::memmem;
use session_disk::{append, open_append};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long somebody who had opened the old history is given to write to it. Opening and writing follow each other at
/// once; who is stopped in between for longer is found by the next look at the backups.
const SETTLE: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_millis(5);

/// Whole lines at the end of a backup that are not in the history.
#[derive(Debug)]
pub(crate) struct Late {
    pub(crate) backup: Backup,
    /// Where the first of them begins in the backup.
    pub(crate) offset: u64,
    bytes: Vec<u8>,
}

impl Late {
    /// How many bytes they are.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// What came late and is not in the history.
///
/// # Errors
/// Failed reads.
pub(crate) fn lines(paths: &SessionPaths) -> Result<Vec<Late>> {
    let history = paths.history();
    let current = match history.symlink_metadata() {
        Ok(metadata) => Inode::of(&metadata),
        Err(error) if session_disk::is_absent(&error) => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::read(&history)(source)),
    };
    let mut late = Vec::new();
    // One that is the history still was named by somebody who died before the new one was.
    for backup in backups(paths)?.into_iter().filter(|backup| backup.inode() != current) {
        if backup.metadata.len() > backup.decided_bytes {
            let (file, _) = session_disk::open_regular(&backup.path).map_err(StoreError::read(&backup.path))?;
            let bytes = whole_lines(&file, &backup.path, backup.decided_bytes)?;
            if !bytes.is_empty() && !holds(&history, &bytes)? {
                late.push(Late { offset: backup.decided_bytes, backup, bytes });
            }
        }
    }
    Ok(late)
}

/// Appends to the history what came late, once, whoever died over it before. `lock` is the session's. Gives how many bytes
/// it was.
///
/// On disk when it returns: the lines at the end of the history; backups whose names say so.
///
/// # Errors
/// The step that failed. Repeating it does the rest.
pub(crate) fn carry(paths: &SessionPaths, lock: &LockGuard, durability: Durability) -> Result<u64> {
    lock.check()?;
    let _locked = lock_history(paths)?;
    let mut carried = 0;
    for mut late in lines(paths)? {
        put(paths, &late.bytes, durability)?;
        late.backup.move_on(late.len_bytes())?;
        carried += late.len_bytes();
    }
    if carried > 0 {
        durability.sync_dir(&paths.backups())?;
    }
    Ok(carried)
}

/// The same for a history that was replaced just now, until nobody can be about to write to it any more. The caller holds
/// the new one locked. Gives the backup's path, which says what went over.
pub(super) fn carry_settled(
    paths: &SessionPaths,
    old: &File,
    backup: PathBuf,
    durability: Durability,
) -> Result<PathBuf> {
    let found = backups(paths)?.into_iter().find(|one| one.path == backup);
    let Some(mut own) = found else { return Ok(backup) };
    let end = Instant::now() + SETTLE;
    let mut has_carried = false;
    loop {
        let bytes = whole_lines(old, &own.path, own.decided_bytes)?;
        if !bytes.is_empty() {
            put(paths, &bytes, durability)?;
            has_carried = true;
            own.move_on(bytes.len() as u64)?;
        }
        if Instant::now() >= end {
            break;
        }
        thread::sleep(PAUSE);
    }
    if has_carried {
        durability.sync_dir(&paths.backups())?;
    }
    Ok(own.path)
}

/// The bytes of whole lines from an offset on.
fn whole_lines(file: &File, path: &Path, from: u64) -> Result<Vec<u8>> {
    let len = file.metadata().map_err(StoreError::read(path))?.len();
    let upto = last_line(file, len).map_err(StoreError::read(path))?;
    let mut bytes = Vec::new();
    let mut part = Part { file, at: from, upto: upto.max(from) };
    part.read_to_end(&mut bytes).map_err(StoreError::read(path))?;
    Ok(bytes)
}

/// Appends lines to the history, which the caller has locked. After an error none of them is in it, as a rule.
fn put(paths: &SessionPaths, lines: &[u8], durability: Durability) -> Result<()> {
    let path = paths.history();
    let file = open_append(&path)?;
    let len = file.metadata().map_err(StoreError::read(&path))?.len();
    let mut last = [b'\n'];
    if len > 0 {
        file.read_exact_at(&mut last, len - 1).map_err(StoreError::read(&path))?;
    }
    let bytes = if last == [b'\n'] { lines.to_vec() } else { [b"\n", lines].concat() };
    let (offset, written, source) = match append(&file, &path, &bytes) {
        Ok(offset) => match durability.sync_data(&file, &path) {
            Ok(()) => return Ok(()),
            Err(error) => (offset, bytes.len() as u64, error),
        },
        Err(short) => (short.offset, short.written, short.error),
    };
    // What stands of them would stand there twice when they are put again. The first error is the one to tell.
    drop(take_back(&file, &path, offset, written));
    Err(StoreError::Append { path, whole_events: 0, source })
}

/// Whether a file holds some bytes, whatever its size.
fn holds(path: &Path, wanted: &[u8]) -> Result<bool> {
    let (mut file, _) = session_disk::open_regular(path).map_err(StoreError::read(path))?;
    let finder = memmem::Finder::new(wanted);
    let mut window = Vec::new();
    let mut block = vec![0; BUFFER];
    loop {
        let read = file.read(&mut block).map_err(StoreError::read(path))?;
        if read == 0 {
            return Ok(false);
        }
        window.extend_from_slice(&block[..read]);
        if finder.find(&window).is_some() {
            return Ok(true);
        }
        let surplus = window.len().saturating_sub(wanted.len() - 1);
        window.drain(..surplus);
    }
}
