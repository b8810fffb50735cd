//! The environment mark: how the processes of a start are known when nothing else leads to them.

use crate::{Identity, ProcError, ProcessId, procfs};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// The variable that every background process and its children carry.
pub(crate) const VARIABLE: &str = "SESSION_STORE_PROCESS";
/// What stands in the place of an id in the mark of a turn. No process of ours is called so.
const TURN: &str = "turn";
/// What stands before the token in the mark of a supervisor.
const SUPERVISOR: &str = "supervisor-";

/// The mark of a start, of the supervisor of one, or of a turn.
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

impl Mark {
    /// Whether it is that of a supervisor, which answers for a start and is no part of what was started.
    pub(crate) fn is_of_supervisor(&self) -> bool {
        self.token.starts_with(SUPERVISOR)
    }

    /// Whether who carries it was started as another background process, or stays with one. Its processes are its own,
    /// whoever was given them as orphans.
    pub(crate) fn is_of_another_start(&self, own: Option<&str>) -> bool {
        self.start().is_some_and(|start| Some(start) != own)
    }

    /// The token of the start. A turn is none: what it starts by itself belongs to whoever has started the turn.
    pub(crate) fn start(&self) -> Option<&str> {
        if self.turn().is_some() { None } else { Some(self.token.strip_prefix(SUPERVISOR).unwrap_or(&self.token)) }
    }

    /// The turn, if it is the mark of one. The token says it all, so that this is known also without the marker.
    pub(crate) fn turn(&self) -> Option<TurnToken> {
        let (pid, start_ticks) = self.token.strip_prefix("turn-")?.split_once('-')?;
        Some(TurnToken { pid: pid.parse().ok()?, start_ticks: start_ticks.parse().ok()? })
    }
}

/// The process that ran a turn. A mark does not outlive the boot.
pub(crate) struct TurnToken {
    pid: i32,
    start_ticks: u64,
}

impl TurnToken {
    /// Whether the process still runs, so that what it has started is its own affair.
    pub(crate) fn is_live(&self) -> Result<bool, ProcError> {
        let turn = Identity { pid: self.pid, start_ticks: self.start_ticks, boot_id: procfs::boot_id()? };
        Ok(turn.liveness()?.is_live())
    }
}

/// The value of the variable for what a turn starts by itself.
pub(crate) fn of_turn(process: &Identity, dir: &Path) -> OsString {
    let id = ProcessId::new(TURN).expect("four letters are a name");
    value(&format!("turn-{}-{}", process.pid, process.start_ticks), &id, dir)
}

/// The value of the variable for the supervisor of a start.
pub(crate) fn of_supervisor(token: &str, id: &ProcessId, dir: &Path) -> OsString {
    value(&format!("{SUPERVISOR}{token}"), id, dir)
}

/// A new token: 128 random bits.
pub(crate) fn token() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// The mark that a process carries, as far as it can be seen.
pub(crate) fn of(pid: i32) -> Option<Mark> {
    let environment = procfs::environment(pid)?;
    let mut pieces = environment.split(|&byte| byte == 0);
    pieces.find_map(|piece| parse(piece.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=")?))
}

fn parse(value: &[u8]) -> Option<Mark> {
    let mut parts = value.splitn(3, |&byte| byte == b':');
    let token = String::from_utf8(parts.next()?.to_vec()).ok()?;
    let len: usize = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
    let rest = parts.next()?;
    let id = std::str::from_utf8(rest.get(..len)?).ok()?;
    let dir = rest.get(len..)?.strip_prefix(b":")?;
    let dir = PathBuf::from(OsString::from_vec(dir.to_vec()));
    Some(Mark { token, id: ProcessId::new(id).ok()?, dir })
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
    fn the_mark_of_a_turn_says_whose_it_is() {
        let own = Identity::own().expect("/proc is readable");
        let turn = |process: &Identity| {
            let mark = parse(of_turn(process, Path::new("/w/demo/proc")).as_bytes()).expect("it is a mark");
            mark.turn().expect("of a turn").is_live().expect("/proc is readable")
        };
        assert!(turn(&own) && !turn(&Identity { start_ticks: own.start_ticks - 1, ..own.clone() }));
        let start = Mark { token: token(), id: ProcessId::new("bg1").expect("a name"), dir: "/w".into() };
        assert!(start.turn().is_none());
    }

    #[test]
    fn a_mark_says_of_which_start_it_is() {
        let id = ProcessId::new("bg1").expect("a name");
        let dir = Path::new("/w/demo/proc");
        let own = Identity::own().expect("/proc is readable");
        let read = |value: OsString| parse(value.as_bytes()).expect("it is a mark");
        let told =
            [read(value("0f", &id, dir)), read(of_supervisor("0f", &id, dir)), read(of_turn(&own, dir))].map(|mark| {
                let of_another = [None, Some("0f"), Some("f0")].map(|own| mark.is_of_another_start(own));
                (mark.start().map(str::to_owned), mark.is_of_supervisor(), of_another)
            });
        let start = Some("0f".to_owned());
        assert_eq!(
            told,
            [
                (start.clone(), false, [true, false, true]),
                (start, true, [true, false, true]),
                (None, false, [false; 3])
            ]
        );
    }

    #[test]
    fn what_is_no_mark_is_none() {
        for text in ["", "x", "x:y", "x:3:bg1", "x:99:bg1:/w", "x:3:../:/w", "x:0::/w"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
