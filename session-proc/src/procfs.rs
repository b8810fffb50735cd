//! What the kernel says about processes, read from `/proc`.

use crate::ProcError;
use chrono::{DateTime, TimeDelta, Utc};
use nix::errno::Errno;
use nix::unistd::{SysconfVar, sysconf};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const KERNEL_STAT: &str = "/proc/stat";

/// The fields of `/proc/PID/stat` that this crate uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    /// One letter: `R`, `S`, `Z`, …
    pub(crate) state: u8,
    /// The parent's pid, 0 for a process whose parent is outside this pid namespace.
    pub(crate) parent: i32,
    /// The process group.
    pub(crate) group: i32,
    /// The session, in the kernel's sense.
    pub(crate) session: i32,
    /// The threads that have not been reaped, the leader included.
    pub(crate) threads: u64,
    /// When it started, in clock ticks since boot.
    pub(crate) start_ticks: u64,
}

impl Stat {
    /// Whether nothing of the process runs any more. A leader that ended before its other threads is shown as a
    /// zombie too, and its process lives on.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x') && self.threads <= 1
    }

    /// Parses the line. The command name, in parentheses, may hold anything, parentheses and newlines included:
    /// what counts follows the last `)`.
    fn parse(line: &[u8]) -> Option<Stat> {
        let end = line.iter().rposition(|&byte| byte == b')')?;
        let rest = std::str::from_utf8(&line[end + 1..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        // Numbered from 1 in proc_pid_stat(5); the state is field 3, and `nth` counts from the field before.
        let state = *fields.next()?.as_bytes().first()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let threads = fields.nth(13)?.parse().ok()?;
        let start_ticks = fields.nth(1)?.parse().ok()?;
        Some(Stat { state, parent, group, session, threads, start_ticks })
    }
}

/// Looks at a process. `None`: there is none with this pid, or this user may not see it.
pub(crate) fn stat(pid: i32) -> Result<Option<Stat>, ProcError> {
    let path = of(pid, "stat");
    match absent(fs::read(&path)) {
        Ok(Some(line)) => Stat::parse(&line).map(Some).ok_or_else(|| ProcError::kernel(path)),
        Ok(None) => Ok(None),
        Err(source) => Err(ProcError::read(&path, source)),
    }
}

/// The command name of a process, at most 15 bytes and chosen by the process itself: content, not fact.
pub(crate) fn command_name(pid: i32) -> Option<String> {
    let name = fs::read(of(pid, "comm")).ok()?;
    Some(String::from_utf8_lossy(name.strip_suffix(b"\n").unwrap_or(&name)).into_owned())
}

/// Every pid that this user may see, in no order. Processes come and go while the list is read.
pub(crate) fn pids() -> Result<Vec<i32>, ProcError> {
    let root = Path::new("/proc");
    let mut pids = Vec::new();
    for entry in fs::read_dir(root).map_err(|source| ProcError::read(root, source))? {
        let entry = entry.map_err(|source| ProcError::read(root, source))?;
        pids.extend(entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(pids)
}

/// The children of a process, also those that have ended and are not reaped.
pub(crate) fn children(parent: i32) -> Result<Vec<i32>, ProcError> {
    let mut children = Vec::new();
    for pid in pids()? {
        children.extend(stat(pid)?.filter(|stat| stat.parent == parent).map(|_| pid));
    }
    Ok(children)
}

/// The environment that a process was started with, as `NAME=value` pieces, each ended by a NUL. `None`: it ended, or
/// this user may not look. A process can overwrite this memory.
pub(crate) fn environment(pid: i32) -> Option<Vec<u8>> {
    fs::read(of(pid, "environ")).ok()
}

/// What tells this boot of the machine from every other.
pub(crate) fn boot_id() -> Result<String, ProcError> {
    let text = fs::read_to_string(BOOT_ID).map_err(|source| ProcError::read(Path::new(BOOT_ID), source))?;
    Ok(text.trim_end().to_owned())
}

/// The wall-clock time of a moment given in clock ticks since boot, by today's clock: when somebody sets the
/// clock, the boot seems to have happened at another time, and with it everything that is counted from it.
pub(crate) fn wall_time(ticks: u64) -> Result<DateTime<Utc>, ProcError> {
    let odd = || ProcError::kernel(KERNEL_STAT);
    let text = fs::read(KERNEL_STAT).map_err(|source| ProcError::read(Path::new(KERNEL_STAT), source))?;
    let boot_s: i64 = text
        .split(|&byte| byte == b'\n')
        .find_map(|line| line.strip_prefix(b"btime "))
        .and_then(|field| std::str::from_utf8(field).ok()?.trim().parse().ok())
        .ok_or_else(odd)?;
    let per_s = ticks_per_s()?;
    let since_boot_ms = i64::try_from(u128::from(ticks) * 1000 / u128::from(per_s)).map_err(|_| odd())?;
    let boot = DateTime::from_timestamp(boot_s, 0).ok_or_else(odd)?;
    boot.checked_add_signed(TimeDelta::milliseconds(since_boot_ms)).ok_or_else(odd)
}

fn ticks_per_s() -> Result<u64, ProcError> {
    let answer = sysconf(SysconfVar::CLK_TCK).ok().flatten().and_then(|ticks| u64::try_from(ticks).ok());
    answer.filter(|&ticks| ticks > 0).ok_or_else(|| ProcError::kernel("sysconf(_SC_CLK_TCK)"))
}

fn of(pid: i32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

/// A process may end between the opening of its file and the reading: then the kernel says `ESRCH`.
fn absent<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::ESRCH as i32) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_cannot_pose_as_fields() {
        let line = b"77 (a) Z 1 (\n) S 4 5 6 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 9 0 123456 1000 1\n";
        assert_eq!(
            Stat::parse(line),
            Some(Stat { state: b'S', parent: 4, group: 5, session: 6, threads: 9, start_ticks: 123_456 })
        );
    }

    #[test]
    fn a_cut_line_is_no_stat() {
        assert_eq!(Stat::parse(b"77 (sh) S 4 5 6 0 -1"), None);
        assert_eq!(Stat::parse(b""), None);
    }

    #[test]
    fn a_zombie_leader_with_running_threads_is_not_dead() {
        let stat = |state, threads| Stat { state, parent: 4, group: 5, session: 6, threads, start_ticks: 1 };
        assert!(stat(b'Z', 1).is_dead() && stat(b'X', 1).is_dead() && stat(b'Z', 0).is_dead());
        assert!(!stat(b'Z', 2).is_dead() && !stat(b'S', 1).is_dead() && !stat(b'T', 1).is_dead());
    }
}
