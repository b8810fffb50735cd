//! The names in a directory, sorted, in one buffer.

use super::getdents;
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::{FileStat, fstatat};
use std::ffi::CStr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

#[derive(Debug, Clone, Copy)]
struct Name {
    at: u32,
    len: u32,
    is_dir: bool,
}

/// A directory's names, and the open directory until it is closed: no descriptor is held while what is below is walked.
pub(super) struct Listing {
    dir: Option<OwnedFd>,
    names: Vec<Name>,
    /// Every name with the NUL behind it, so that it is ready for a system call.
    buffer: Vec<u8>,
}

impl Listing {
    pub(super) fn read(dir: OwnedFd) -> Result<Self, Errno> {
        let mut names = Vec::with_capacity(32);
        let mut buffer = Vec::with_capacity(512);
        let mut unknown = Vec::new();
        getdents::names(dir.as_fd(), |kind, name| {
            if kind == nix::libc::DT_UNKNOWN {
                unknown.push(names.len());
            }
            let (at, len) = (buffer.len(), name.len() - 1);
            names.push(Name { at: small(at), len: small(len), is_dir: kind == nix::libc::DT_DIR });
            buffer.extend_from_slice(name);
        })?;
        let mut listing = Listing { dir: Some(dir), names, buffer };
        for n in unknown {
            // Some file systems do not say in the listing what a name is.
            let is_dir = listing.stat(n).is_ok_and(|stat| stat.st_mode & nix::libc::S_IFMT == nix::libc::S_IFDIR);
            listing.names[n].is_dir = is_dir;
        }
        let Listing { names, buffer, .. } = &mut listing;
        names.sort_unstable_by(|a, b| slice(buffer, *a).cmp(slice(buffer, *b)));
        Ok(listing)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn name(&self, n: usize) -> &[u8] {
        slice(&self.buffer, self.names[n])
    }

    pub(super) fn c_name(&self, n: usize) -> &CStr {
        let Name { at, len, .. } = self.names[n];
        CStr::from_bytes_with_nul(&self.buffer[at as usize..=(at + len) as usize])
            .expect("a name from a directory ends at its first NUL")
    }

    pub(super) fn is_dir(&self, n: usize) -> bool {
        self.names[n].is_dir
    }

    /// The open directory.
    pub(super) fn fd(&self) -> Result<BorrowedFd<'_>, Errno> {
        self.dir.as_ref().map(OwnedFd::as_fd).ok_or(Errno::EBADF)
    }

    pub(super) fn close(&mut self) {
        self.dir = None;
    }

    /// Opens the directory again, as far as it is still there.
    pub(super) fn reopen(&mut self, open: impl FnOnce() -> Result<OwnedFd, Errno>) -> Result<(), Errno> {
        if self.dir.is_none() {
            self.dir = Some(open()?);
        }
        Ok(())
    }

    pub(super) fn stat(&self, n: usize) -> Result<FileStat, Errno> {
        fstatat(self.fd()?, self.c_name(n), AtFlags::AT_SYMLINK_NOFOLLOW)
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        self.names.binary_search_by(|probe| slice(&self.buffer, *probe).cmp(name)).ok()
    }

    /// Whether this is a checkpoint store: of this session, of another, or of a nested workspace.
    pub(super) fn is_store(&self) -> bool {
        [&b"repo.git"[..], b"meta.json", b"lock"].iter().all(|name| self.find(name).is_some())
    }
}

fn slice(buffer: &[u8], name: Name) -> &[u8] {
    &buffer[name.at as usize..(name.at + name.len) as usize]
}

fn small(n: usize) -> u32 {
    u32::try_from(n).expect("a directory's names stay below 4 GiB")
}
