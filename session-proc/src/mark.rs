//! The environment mark: how the processes of a start are known when nothing else leads to them.

use crate::{ProcessId, procfs};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// The variable that every background process and its children carry.
pub(crate) const VARIABLE: &str = "SESSION_STORE_PROCESS";
/// The variable in which the reference tells its wrapper where the exit status belongs: a mark as well.
const REFERENCE_VARIABLE: &str = "KVIT_EXIT_FILE";

/// What a process carries. One of the reference may run below one of ours, and the other way round.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Marks {
    /// The mark of a start of ours.
    pub(crate) ours: Option<Mark>,
    /// Where a process that the reference started has its exit status written.
    pub(crate) reference_exit: Option<PathBuf>,
}

/// The mark of a start of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Which start.
    pub(crate) token: String,
    /// The id that was claimed for it.
    pub(crate) id: ProcessId,
    /// Where the records are, as the starter named it.
    pub(crate) dir: PathBuf,
}

/// The value of the variable.
pub(crate) fn value(token: &str, id: &ProcessId, dir: &Path) -> OsString {
    // An id may have blanks in it and a path anything; a colon cannot be in a token, and the length ends the id.
    let mut value = OsString::from(format!("{token}:{}:{id}:", id.as_str().len()));
    value.push(dir);
    value
}

/// A new token: 128 random bits.
pub(crate) fn token() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// The marks that a process carries, as far as they can be seen.
pub(crate) fn of(pid: i32) -> Marks {
    let Some(environment) = procfs::environment(pid) else { return Marks::default() };
    let variable = |name: &str| {
        environment.split(|&byte| byte == 0).find_map(|piece| piece.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    };
    Marks { ours: variable(VARIABLE).and_then(parse), reference_exit: variable(REFERENCE_VARIABLE).map(path) }
}

fn parse(value: &[u8]) -> Option<Mark> {
    let mut parts = value.splitn(3, |&byte| byte == b':');
    let token = String::from_utf8(parts.next()?.to_vec()).ok()?;
    let len: usize = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    let rest = parts.next()?;
    let id = std::str::from_utf8(rest.get(..len)?).ok()?;
    let dir = rest.get(len..)?.strip_prefix(b":")?;
    Some(Mark { token, id: ProcessId::new(id).ok()?, dir: path(dir) })
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        for (id, dir) in [("bg1", "/w/demo/proc"), ("a:1 b", "/w/a:b \u{e9}")] {
            let id = ProcessId::new(id).expect("a name");
            let text = value("0f", &id, Path::new(dir));
            assert_eq!(parse(text.as_bytes()), Some(Mark { token: "0f".to_owned(), id, dir: dir.into() }));
        }
    }

    #[test]
    fn what_is_no_mark_is_none() {
        for text in ["", "x", "x:y", "x:3:bg1", "x:99:bg1:/w", "x:3:../:/w", "x:0::/w"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
