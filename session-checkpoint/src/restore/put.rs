//! Putting one file or link in its place: beside it under a temporary name, then by one rename.
//!
//! A reader sees the old file or the new one. A hard-linked partner, a process that runs or maps the old file, and
//! whatever a link in its place points to, keep what they had.

use super::dirs::ensure;
use crate::Error;
use crate::cache::Stamp;
use crate::names;
use crate::rel_path::split;
use crate::root::{FileKind, Root, c_name};
use crate::tree::Mode;
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::{FileStat, fstatat};
use session_disk::{Durability, at};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

/// What is to stand there.
pub(super) struct Wanted<'a> {
    pub(super) mode: Mode,
    pub(super) bytes: &'a [u8],
    /// All permission bits, where they are known.
    pub(super) bits: Option<u32>,
}

/// Whether a path is still what the safety snapshot saw.
pub(super) fn is_as_seen(dir: BorrowedFd<'_>, name: &CStr, seen: Option<Stamp>) -> Result<Option<FileStat>, Changed> {
    match (fstatat(dir, name, AtFlags::AT_SYMLINK_NOFOLLOW), seen) {
        (Err(Errno::ENOENT), None) => Ok(None),
        (Ok(stat), Some(seen)) if Stamp::of(&stat) == seen => Ok(Some(stat)),
        _ => Err(Changed),
    }
}

/// The path is not what was seen.
pub(super) struct Changed;

/// Writes a file or link over what was seen there. `sync` brings a file's bytes to the disk first.
pub(super) fn put(
    root: &Root,
    path: &[u8],
    seen: Option<Stamp>,
    wanted: &Wanted<'_>,
    temp: &[u8],
    durability: Durability,
) -> Result<Result<(), Changed>, Error> {
    let (dir, name) = split(path);
    let fd = ensure(root, dir)?;
    let (dir, name, temp) = (fd.as_fd(), c_name(name), c_name(temp));
    let full = root.full(path);
    let old = match is_as_seen(dir, &name, seen) {
        Ok(old) => old,
        Err(changed) => return Ok(Err(changed)),
    };
    let made = match wanted.mode {
        Mode::Link => {
            let target = CString::new(wanted.bytes).map_err(|_| Error::Damaged { path: full.clone() })?;
            at::symlink(&target, dir, &temp, &full).map_err(Error::from)
        }
        Mode::File | Mode::Exec | Mode::Dir | Mode::Gitlink => {
            write(dir, &temp, &full, old.as_ref(), wanted, durability)
        }
    };
    // Looked at once more: the write may have taken a while.
    let checked = made.map(|()| is_as_seen(dir, &name, seen).map(drop));
    let done = match checked {
        Ok(Ok(())) => at::rename(dir, &temp, &name, &full).map(Ok).map_err(Error::from),
        Ok(Err(changed)) => Ok(Err(changed)),
        Err(error) => Err(error),
    };
    if !matches!(done, Ok(Ok(()))) {
        // The first error is the one to tell; a temporary file that stays is swept when the restore is resumed.
        drop(at::remove_file(dir, &temp, &full));
    }
    done
}

fn write(
    dir: BorrowedFd<'_>,
    temp: &CStr,
    full: &Path,
    old: Option<&FileStat>,
    wanted: &Wanted<'_>,
    durability: Durability,
) -> Result<(), Error> {
    let old = old.filter(|stat| FileKind::of(stat) == FileKind::File);
    let exec = wanted.mode == Mode::Exec;
    // Not setuid, setgid and the sticky bit: they were given to other content, and the system takes them off a file that
    // is written to.
    let kept = wanted.bits.or_else(|| old.map(|stat| with_exec(stat.st_mode & 0o777, exec)));
    // Never wider than it will be, not even for a moment; what is new is as the umask has it.
    let create_mode = kept.map_or(if exec { 0o777 } else { 0o666 }, |bits| bits & 0o777);
    let file = at::create_new(dir, temp, create_mode, full)?;
    session_disk::write(&file, full, wanted.bytes).map_err(session_disk::DiskError::from)?;
    if let Some(stat) = old {
        keep_owner(&file, stat);
    }
    if let Some(bits) = kept {
        at::set_mode(&file, bits, full)?;
    }
    Ok(durability.sync_data(&file, full)?)
}

/// Whoever may give files away (root in a container, mostly) leaves them to their owner. For everybody else it cannot
/// work, and the file is the writer's, as it is after any editor.
fn keep_owner(file: &File, old: &FileStat) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let same = file.metadata().is_ok_and(|meta| (meta.uid(), meta.gid()) == (old.st_uid, old.st_gid));
    if !same {
        drop(fchown(file, Some(old.st_uid), Some(old.st_gid)));
    }
}

/// The bits of a file that is to be executable, or not: whoever may read it may execute it.
fn with_exec(bits: u32, exec: bool) -> u32 {
    if !exec {
        bits & !0o111
    } else if bits & 0o100 != 0 {
        bits
    } else {
        bits | 0o100 | (bits & 0o444) >> 2
    }
}

/// The temporary names of one restore.
pub(super) struct TempNames {
    token: u64,
    next: u64,
}

impl TempNames {
    pub(super) fn new(token: u64) -> Self {
        TempNames { token, next: 0 }
    }

    pub(super) fn next(&mut self) -> Vec<u8> {
        self.next += 1;
        names::temp(self.token, self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exec_bit_follows_the_read_bits_and_leaves_the_others() {
        assert_eq!(with_exec(0o644, true), 0o755);
        assert_eq!(with_exec(0o600, true), 0o700);
        assert_eq!(with_exec(0o744, true), 0o744);
        assert_eq!(with_exec(0o755, false), 0o644);
        assert_eq!(with_exec(0o400, true), 0o500);
    }
}
