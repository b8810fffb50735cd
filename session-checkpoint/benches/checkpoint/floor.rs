//! The floor: every name looked at once, by one thread, and nothing else.

use nix::dir::{Dir, Type};
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, fstatat};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

pub(crate) fn walk(dir: &Path) {
    let fd = std::fs::File::open(dir).expect("it is there");
    below(OwnedFd::from(fd));
}

fn below(fd: OwnedFd) {
    let mut dir = Dir::from_fd(fd).expect("a directory");
    let mut subs = Vec::new();
    let mut files = Vec::new();
    for entry in dir.iter() {
        let entry = entry.expect("readable");
        match entry.file_type() {
            Some(Type::Directory) if entry.file_name().to_bytes().first() != Some(&b'.') => {
                subs.push(entry.file_name().to_owned());
            }
            Some(Type::Directory) => {}
            _ => files.push(entry.file_name().to_owned()),
        }
    }
    for file in files {
        fstatat(dir.as_fd(), file.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW).expect("it was listed");
    }
    for sub in subs {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        below(openat(dir.as_fd(), sub.as_c_str(), flags, Mode::empty()).expect("it was listed"));
    }
}
