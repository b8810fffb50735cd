//! A directory whose inside is reached without ever following a symbolic link.
//!
//! Every path is resolved by the kernel in one step that refuses links and refuses to climb out (`openat2`), or, where
//! the kernel lacks that, component by component. No descriptor is held per level, so depth costs no descriptors.

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, OpenHow, ResolveFlag, openat, openat2, readlinkat};
use nix::sys::stat::{FileStat, Mode, fstat, fstatat};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The kernel takes paths of up to 4,095 bytes at once.
const PATH_AT_ONCE: usize = 4000;

const DIR_FLAGS: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// Whether a path inside may lead onto a file system that is mounted there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mounts {
    Refuse,
    Enter,
}

/// An open directory and the way into it.
#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    path: PathBuf,
    mounts: Mounts,
    dev: u64,
    /// Whether the kernel resolves whole paths for us.
    by_kernel: bool,
}

impl Root {
    /// Opens a directory. `path` itself may lead through links.
    pub(crate) fn open(path: &Path, mounts: Mounts) -> io::Result<Self> {
        let fd = OwnedFd::from(File::open(path)?);
        let dev = fstat(&fd)?.st_dev;
        let mut root = Root { fd, path: path.to_owned(), mounts, dev, by_kernel: true };
        root.by_kernel = !matches!(root.resolve(root.fd.as_fd(), b"."), Err(Errno::ENOSYS | Errno::EPERM));
        // The directory may vanish or change; that it is one is what this call establishes.
        root.open_dir(b"")?;
        Ok(root)
    }

    /// The same, as on a kernel that cannot resolve a path in one step.
    #[cfg(test)]
    pub(crate) fn open_by_components(path: &Path, mounts: Mounts) -> io::Result<Self> {
        Ok(Root { by_kernel: false, ..Root::open(path, mounts)? })
    }

    /// The path it was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of something inside, for messages.
    pub(crate) fn full(&self, rel: &[u8]) -> PathBuf {
        self.path.join(std::ffi::OsStr::from_bytes(rel))
    }

    /// The root's own status.
    pub(crate) fn stat_self(&self) -> Result<FileStat, Errno> {
        fstat(&self.fd)
    }

    /// Opens a directory inside; the empty path is the root itself.
    pub(crate) fn open_dir(&self, rel: &[u8]) -> Result<OwnedFd, Errno> {
        if rel.is_empty() {
            return openat(&self.fd, c".", DIR_FLAGS, Mode::empty());
        }
        if !self.by_kernel {
            return self.open_by_steps(rel);
        }
        if rel.len() <= PATH_AT_ONCE {
            return self.resolve(self.fd.as_fd(), rel);
        }
        let mut rest = rel;
        let mut dir: Option<OwnedFd> = None;
        while rest.len() > PATH_AT_ONCE {
            let cut = rest[..PATH_AT_ONCE].iter().rposition(|byte| *byte == b'/').ok_or(Errno::ENAMETOOLONG)?;
            let from = dir.as_ref().map_or(self.fd.as_fd(), |dir| dir.as_fd());
            dir = Some(self.resolve(from, &rest[..cut])?);
            rest = &rest[cut + 1..];
        }
        self.resolve(dir.as_ref().map_or(self.fd.as_fd(), |dir| dir.as_fd()), rest)
    }

    fn resolve(&self, from: BorrowedFd<'_>, rel: &[u8]) -> Result<OwnedFd, Errno> {
        let mut resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS;
        if self.mounts == Mounts::Refuse {
            resolve |= ResolveFlag::RESOLVE_NO_XDEV;
        }
        openat2(from, rel, OpenHow::new().flags(DIR_FLAGS).resolve(resolve))
    }

    fn open_by_steps(&self, rel: &[u8]) -> Result<OwnedFd, Errno> {
        let mut dir = openat(&self.fd, c".", DIR_FLAGS, Mode::empty())?;
        for name in rel.split(|byte| *byte == b'/') {
            if name == b".." {
                return Err(Errno::EXDEV);
            }
            dir = openat(&dir, name, DIR_FLAGS, Mode::empty()).map_err(|errno| match errno {
                // What openat2 calls a link in the way.
                Errno::ENOTDIR if is_link(&dir, name) => Errno::ELOOP,
                other => other,
            })?;
            if self.mounts == Mounts::Refuse && fstat(&dir)?.st_dev != self.dev {
                return Err(Errno::EXDEV);
            }
        }
        Ok(dir)
    }

    /// The status of something inside; a link's own.
    pub(crate) fn lstat(&self, rel: &[u8]) -> Result<FileStat, Errno> {
        let (dir, name) = crate::rel_path::split(rel);
        fstatat(self.open_dir(dir)?, name, AtFlags::AT_SYMLINK_NOFOLLOW)
    }
}

fn is_link(dir: &OwnedFd, name: &[u8]) -> bool {
    fstatat(dir, name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok_and(|stat| FileKind::of(&stat) == FileKind::Link)
}

/// What a name in a directory stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    File,
    Link,
    Dir,
    Special,
}

impl FileKind {
    pub(crate) fn of(stat: &FileStat) -> Self {
        match stat.st_mode & nix::libc::S_IFMT {
            nix::libc::S_IFREG => FileKind::File,
            nix::libc::S_IFLNK => FileKind::Link,
            nix::libc::S_IFDIR => FileKind::Dir,
            _ => FileKind::Special,
        }
    }
}

/// Opens a regular file for reading. It follows no link and waits for nobody: a FIFO that took the file's place opens
/// at once and is seen by the status of the descriptor.
pub(crate) fn open_file(dir: BorrowedFd<'_>, name: &CStr) -> Result<File, Errno> {
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    openat(dir, name, flags, Mode::empty()).map(File::from)
}

/// What a symbolic link holds.
pub(crate) fn read_link(dir: BorrowedFd<'_>, name: &CStr) -> Result<Vec<u8>, Errno> {
    readlinkat(dir, name).map(std::ffi::OsString::into_vec)
}

/// A name as the system calls take it. Names come from directories and from checked paths, which have no NUL.
pub(crate) fn c_name(name: &[u8]) -> CString {
    CString::new(name).expect("a component of a path has no NUL")
}

/// Whether an error says that this user may not, or that the medium fails, for this one file; anything else (no
/// descriptors, no memory) is an error of the whole work.
pub(crate) fn is_unreadable(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::EACCES
            | Errno::EPERM
            | Errno::EIO
            | Errno::ESTALE
            | Errno::ENAMETOOLONG
            | Errno::ENOMEDIUM
            | Errno::ENXIO
            | Errno::ENODEV
            | Errno::EBUSY
            | Errno::ETXTBSY
            | Errno::EOVERFLOW
            | Errno::EINVAL
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn neither_way_of_resolving_follows_a_link_or_climbs_out() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        std::fs::create_dir_all(dir.path().join("in/a/b")).expect("scratch");
        std::fs::create_dir(dir.path().join("out")).expect("scratch");
        symlink("../out", dir.path().join("in/link")).expect("scratch");
        symlink("a", dir.path().join("in/inner")).expect("scratch");
        let path = dir.path().join("in");
        let roots = [Root::open(&path, Mounts::Refuse), Root::open_by_components(&path, Mounts::Refuse)];
        for root in roots.map(|root| root.expect("a directory")) {
            assert!(root.open_dir(b"a/b").is_ok());
            for bad in [&b"link"[..], b"inner", b"inner/b", b"../out", b"a/../../out"] {
                assert!(
                    root.open_dir(bad).is_err(),
                    "{:?} by kernel: {}",
                    String::from_utf8_lossy(bad),
                    root.by_kernel
                );
            }
        }
    }

    #[test]
    fn a_path_longer_than_the_kernel_takes_is_opened_in_pieces() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let root = Root::open(dir.path(), Mounts::Refuse).expect("a directory");
        let name = "d".repeat(200);
        let mut rel = Vec::new();
        for _ in 0..30 {
            let parent = root.open_dir(&rel).expect("made before");
            nix::sys::stat::mkdirat(parent, name.as_str(), Mode::S_IRWXU).expect("scratch");
            crate::rel_path::join(&mut rel, name.as_bytes());
        }
        assert!(rel.len() > 6000 && root.open_dir(&rel).is_ok());
    }
}
