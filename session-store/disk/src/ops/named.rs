//! The names of files and directories: given, exchanged, taken away.

use super::{create_dir, create_new, gated};
use crate::{DiskError, Op};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Renames, replacing what has the new name. Neither directory is synced.
///
/// # Errors
/// Whatever the system says; the path in the error is the new name.
pub fn rename(from: &Path, to: &Path) -> Result<(), DiskError> {
    gated(Op::Rename, to, || fs::rename(from, to))
}

/// Renames to a name that must be free: what has it already is never replaced. Neither directory is synced.
///
/// Some file systems cannot do that in one step. There a file gets its new name as a second one, and loses the old one
/// then. For a directory, and for a file where there are no second names, the new name is taken by an empty one, which is
/// replaced then: who dies in between leaves that.
///
/// # Errors
/// `AlreadyExists` where anything has the new name; whatever the system says otherwise. What was to be renamed keeps its
/// old name then.
pub fn rename_new(from: &Path, to: &Path) -> Result<(), DiskError> {
    let renamed = gated(Op::Rename, to, || {
        renameat2(AT_FDCWD, from, AT_FDCWD, to, RenameFlags::RENAME_NOREPLACE).map_err(io::Error::from)
    });
    match renamed {
        Err(error) if error.is_unsupported() => rename_new_in_steps(from, to),
        renamed => renamed,
    }
}

fn rename_new_in_steps(from: &Path, to: &Path) -> Result<(), DiskError> {
    let metadata = fs::symlink_metadata(from).map_err(|source| DiskError::new(Op::Rename, to, source))?;
    if metadata.is_dir() {
        create_dir(to)?;
        return rename(from, to).or_else(|_| {
            // Where a directory does not take the place of an empty one, it takes that of none which comes in between.
            remove_dir(to)
                .map_err(|error| if error.kind() == io::ErrorKind::DirectoryNotEmpty { taken(to) } else { error })?;
            rename(from, to)
        });
    }
    match hard_link(from, to) {
        Ok(()) => remove_file(from).inspect_err(|_| drop(remove_file(to))),
        Err(error) if error.is_unsupported() || error.kind() == io::ErrorKind::PermissionDenied => {
            drop(create_new(to)?);
            rename(from, to).inspect_err(|_| drop(remove_file(to)))
        }
        Err(error) => Err(error),
    }
}

/// What the system says of a name that is not free.
fn taken(path: &Path) -> DiskError {
    DiskError::new(Op::Rename, path, io::Error::from_raw_os_error(nix::libc::EEXIST))
}

/// Gives a finished file its name, as [`rename_new`] does.
///
/// # Errors
/// As [`rename_new`].
pub fn publish(from: &Path, to: &Path) -> Result<(), DiskError> {
    rename_new(from, to)
}

/// Swaps two names in one step. Neither directory is synced.
///
/// # Errors
/// Whatever the system says; both must exist on one file system. [`DiskError::is_unsupported`] where that cannot swap.
pub fn exchange(a: &Path, b: &Path) -> Result<(), DiskError> {
    gated(Op::Rename, b, || renameat2(AT_FDCWD, a, AT_FDCWD, b, RenameFlags::RENAME_EXCHANGE).map_err(io::Error::from))
}

/// Gives the file `from` a second name `to`, which must be free. The directory is not synced.
///
/// # Errors
/// `AlreadyExists` where anything has the new name.
pub fn hard_link(from: &Path, to: &Path) -> Result<(), DiskError> {
    gated(Op::Link, to, || fs::hard_link(from, to))
}

/// Removes a file, or a link itself and never what it points to. The directory is not synced.
///
/// # Errors
/// Whatever the system says.
pub fn remove_file(path: &Path) -> Result<(), DiskError> {
    gated(Op::Remove, path, || fs::remove_file(path))
}

/// Removes a file, or a link itself, if there is one. True: it was there. The directory is not synced.
///
/// # Errors
/// Whatever the system says, but for `NotFound`.
pub fn remove_file_if_there(path: &Path) -> Result<bool, DiskError> {
    match remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes an empty directory.
///
/// # Errors
/// Whatever the system says.
pub fn remove_dir(path: &Path) -> Result<(), DiskError> {
    gated(Op::Remove, path, || fs::remove_dir(path))
}

/// Removes a directory and everything below it without following a link.
///
/// # Errors
/// Whatever the system says; a part may be gone.
pub fn remove_dir_all(path: &Path) -> Result<(), DiskError> {
    gated(Op::Remove, path, || fs::remove_dir_all(path))
}

/// Sets permission bits.
///
/// # Errors
/// Whatever the system says.
pub fn set_mode(path: &Path, mode: u32) -> Result<(), DiskError> {
    gated(Op::SetMode, path, || fs::set_permissions(path, Permissions::from_mode(mode)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{self, Fault};
    use io::ErrorKind;
    use nix::errno::Errno;
    use session_testing::{Call, refusing};

    #[test]
    fn a_file_that_is_gone_needs_no_removal_and_what_is_no_file_is_told() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("file");
        fs::write(&path, "").expect("there is room");
        assert!(remove_file_if_there(&path).expect("it is ours"));
        assert!(!remove_file_if_there(&path).expect("it is gone"));
        assert!(!remove_file_if_there(&path.join("below")).expect("nothing is there"));
        fs::create_dir(&path).expect("the name is free");
        let error = remove_file_if_there(&path).expect_err("it is a directory");
        assert!(error.op == Op::Remove && error.kind() != ErrorKind::NotFound && path.exists());
    }

    #[test]
    fn publishing_replaces_nothing() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (from, to) = (dir.path().join(".from"), dir.path().join("to"));
        fs::write(&from, "new").expect("there is room");
        fs::write(&to, "old").expect("there is room");
        let error = publish(&from, &to).expect_err("the name is taken");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&to).expect("it is there"), b"old");
        fs::remove_file(&to).expect("it is there");
        publish(&from, &to).expect("the name is free");
        assert!(fs::read(&to).expect("it is there") == b"new" && !from.exists());
    }

    /// Renames `from`, a directory with a file or a file alone, to `to`, under a fault, where the kernel refuses these calls.
    /// Gives whether it is done, which operations that took, and what both names have then.
    fn renamed(
        refused: &[Call],
        is_dir: bool,
        there: Option<&str>,
        fault: Fault,
    ) -> (Option<ErrorKind>, Vec<Op>, [String; 2]) {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        let put = |path: &Path, text: &str| match text {
            "dir" => fs::create_dir(path),
            text if is_dir => fs::create_dir(path).and_then(|()| fs::write(path.join("in"), text)),
            text => fs::write(path, text),
        };
        put(&from, "oak").and_then(|()| there.map_or(Ok(()), |text| put(&to, text))).expect("there is room");
        let run = under(refused, &|| faults::with(fault, || rename_new(&from, &to)));
        let what = |path: &Path| match fs::read_to_string(path.join("in")).or_else(|_| fs::read_to_string(path)) {
            Ok(text) => text,
            Err(_) if path.is_dir() => "dir".to_owned(),
            Err(_) => "-".to_owned(),
        };
        (run.result.err().map(|error| error.kind()), run.ops, [what(&from), what(&to)])
    }

    fn under<T: Send>(refused: &[Call], act: &(dyn Fn() -> T + Sync)) -> T {
        match refused {
            [] => act(),
            [call @ Call::Link, rest @ ..] => refusing(*call, Errno::EPERM, || under(rest, act)),
            [call, rest @ ..] => refusing(*call, Errno::EINVAL, || under(rest, act)),
        }
    }

    const NO_FLAGS: &[Call] = &[Call::RenameWithFlags];
    const NO_LINKS: &[Call] = &[Call::RenameWithFlags, Call::Link];

    #[test]
    fn a_name_is_given_in_steps_where_one_is_refused_and_nothing_is_replaced() {
        use Op::{Create, Link, Remove, Rename};
        for (refused, is_dir, steps) in [
            (&[][..], true, &[Rename][..]),
            (NO_FLAGS, true, &[Rename, Create, Rename]),
            (NO_FLAGS, false, &[Rename, Link, Remove]),
            (NO_LINKS, false, &[Rename, Link, Create, Rename]),
        ] {
            let (error, ops, [from, to]) = renamed(refused, is_dir, None, Fault::None);
            assert_eq!((error, &ops[..], &*from, &*to), (None, steps, "-", "oak"), "{refused:?}");
            for there in ["elm", "", "dir"] {
                let (error, _, [from, to]) = renamed(refused, is_dir, Some(there), Fault::None);
                assert_eq!((error, &*from, &*to), (Some(ErrorKind::AlreadyExists), "oak", there), "{refused:?}");
            }
        }
        for errno in [Errno::ENOSYS, Errno::EOPNOTSUPP] {
            let dir = tempfile::tempdir().expect("a scratch directory");
            let (from, to) = (dir.path().join("from"), dir.path().join("to"));
            fs::create_dir(&from).expect("there is room");
            refusing(Call::RenameWithFlags, errno, || rename_new(&from, &to)).expect("the name is free");
            assert!(to.is_dir() && !from.exists());
        }
    }

    #[test]
    fn a_name_that_is_given_in_steps_is_given_or_not_whatever_fails() {
        for (refused, is_dir) in [(NO_FLAGS, true), (NO_FLAGS, false), (NO_LINKS, false)] {
            let steps = renamed(refused, is_dir, None, Fault::None).1.len() as u64;
            for at in 0..steps {
                let (error, _, both) = renamed(refused, is_dir, None, Fault::Fail { at });
                let wanted = if error.is_some() { ["oak", "-"] } else { ["-", "oak"] };
                assert_eq!(both, wanted, "{refused:?} {at}");
                let (_, _, [from, to]) = renamed(refused, is_dir, None, Fault::Stop { at });
                // An empty one, or a second name, is what is left at most.
                assert!(from == "oak" && ["-", "", "dir", "oak"].contains(&&*to), "{refused:?} {at}: {from} {to}");
            }
        }
        // As on a system whose directories take the place of no other, not even of an empty one.
        let (error, ops, both) = renamed(NO_FLAGS, true, None, Fault::Fail { at: 2 });
        assert_eq!((error, both), (None, ["-".to_owned(), "oak".to_owned()]));
        assert_eq!(ops, [Op::Rename, Op::Create, Op::Rename, Op::Remove, Op::Rename]);
    }
}
