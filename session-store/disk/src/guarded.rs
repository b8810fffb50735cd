//! Reading a file that should be regular, whatever stands under its name.

use nix::libc::{ELOOP, ENXIO, O_NOFOLLOW, O_NONBLOCK};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens a regular file for reading: never a link's target, and never blocked by a FIFO.
///
/// # Errors
/// [`InvalidData`](io::ErrorKind::InvalidData) where something else has the name: a link, a directory, a FIFO, a socket, a
/// device. What the system says otherwise; [`is_absent`] tells whether nothing has the name.
pub fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let file = OpenOptions::new().read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path).map_err(judge)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(not_regular()) }
}

/// A regular file's bytes, and what it was when it was opened.
///
/// # Errors
/// As [`open_regular`]. [`FileTooLarge`](io::ErrorKind::FileTooLarge) where it has more than `limit_bytes`, also where it
/// grows past them while it is read: no more than one byte above the limit is read.
pub fn read_regular(path: &Path, limit_bytes: u64) -> io::Result<(Vec<u8>, Metadata)> {
    let (file, metadata) = open_regular(path)?;
    let mut bytes = Vec::new();
    if metadata.len() <= limit_bytes {
        bytes.try_reserve_exact(usize::try_from(metadata.len()).unwrap_or(usize::MAX))?;
        file.take(limit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    if metadata.len().max(bytes.len() as u64) > limit_bytes {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
    }
    Ok((bytes, metadata))
}

/// Whether an error says that nothing has the name.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A link (`ELOOP`), and a socket or a device without anybody behind it (`ENXIO`), are no regular files.
fn judge(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(ELOOP | ENXIO) => not_regular(),
        _ => error,
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "an acorn").expect("it can be written");
        fs::create_dir(at("dir")).expect("it can be made");
        symlink(at("file"), at("link")).expect("it can be made");
        nix::unistd::mkfifo(&at("fifo"), Mode::S_IRWXU).expect("it can be made");
        let _listener = UnixListener::bind(at("socket")).expect("it can be made");

        for name in ["dir", "link", "fifo", "socket"] {
            let error = open_regular(&at(name)).expect_err("it is no regular file");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{name}: {error}");
            assert!(!is_absent(&error), "{name}");
        }
        for name in ["nothing", "file/below"] {
            assert!(is_absent(&open_regular(&at(name)).expect_err("there is none")), "{name}");
        }
        assert_eq!(read_regular(&at("file"), u64::MAX).expect("it can be read").0, b"an acorn");
    }

    #[test]
    fn a_file_may_have_as_many_bytes_as_the_limit_and_no_more() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("file");
        fs::write(&path, "oak").expect("it can be written");

        assert_eq!(read_regular(&path, 3).expect("it fits").0, b"oak");
        assert_eq!(read_regular(&path, 2).expect_err("it does not").kind(), io::ErrorKind::FileTooLarge);
    }
}
