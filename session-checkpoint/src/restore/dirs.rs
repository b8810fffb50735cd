//! Directories of the workspace: opened, made and removed without following a link.

use crate::Error;
use crate::rel_path::split;
use crate::root::{Root, c_name};
use nix::errno::Errno;
use session_disk::at;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

/// Opens a directory, making the missing ones on the way, each as the umask has it.
pub(super) fn ensure(root: &Root, dir: &[u8]) -> Result<OwnedFd, Error> {
    match root.open_dir(dir) {
        Ok(fd) => return Ok(fd),
        Err(Errno::ENOENT) if !dir.is_empty() => {}
        Err(errno) => return Err(Error::Read { path: root.full(dir), source: errno.into() }),
    }
    let (above, name) = split(dir);
    let parent = ensure(root, above)?;
    match at::create_dir(parent.as_fd(), &c_name(name), 0o777, &root.full(dir)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    root.open_dir(dir).map_err(|errno| Error::Read { path: root.full(dir), source: errno.into() })
}

/// Removes a directory if it is empty; whether it did.
pub(super) fn remove_if_empty(root: &Root, dir: &[u8]) -> Result<bool, Error> {
    let (above, name) = split(dir);
    let Ok(parent) = root.open_dir(above) else { return Ok(false) };
    match at::remove_dir(parent.as_fd(), &c_name(name), &root.full(dir)) {
        Ok(()) => Ok(true),
        Err(error) => match error.source.raw_os_error().map(Errno::from_raw) {
            Some(
                Errno::ENOTEMPTY
                | Errno::EEXIST
                | Errno::ENOENT
                | Errno::ENOTDIR
                | Errno::EACCES
                | Errno::EPERM
                | Errno::EBUSY,
            ) => Ok(false),
            _ => Err(error.into()),
        },
    }
}
