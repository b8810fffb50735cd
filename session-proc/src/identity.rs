//! Which process a pid meant when it was written down, and whether that one still runs.

use crate::ProcError;
use crate::procfs::{self, Stat};
use chrono::{DateTime, TimeDelta, Utc};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// How far two clocks may be apart, in seconds, before a start counts as later than a moment: the boot time is
/// known to the second only, and a file's time is the kernel's coarse clock.
const TOLERANCE_S: i64 = 2;

/// A chain of parents longer than this is taken for none.
const MAX_ANCESTORS: usize = 4096;

/// A process, told from every other one that had or will have its pid.
///
/// The kernel hands out a pid again once its process is reaped, and all of them after a boot. The pid, the start
/// time and the boot together name one process only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The process id. Taken from a file it may be any number; one up to 1 never counts as live.
    pub pid: i32,
    /// When the process started, in clock ticks since boot (`/proc/PID/stat`, field 22).
    pub start_ticks: u64,
    /// Which boot of the machine (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: String,
}

/// What became of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It runs, or it cannot be told from one that runs.
    Live,
    /// It ended and its parent has not asked how: its pid is taken, and nothing of it runs.
    Zombie,
    /// No process has this pid, or the pid can be nobody's (up to 1).
    Gone,
    /// Another process has this pid now.
    Reused,
    /// It ran before the machine was last booted.
    OtherBoot,
}

impl Liveness {
    /// Whether the process runs. A zombie does not.
    pub fn is_live(self) -> bool {
        match self {
            Liveness::Live => true,
            Liveness::Zombie | Liveness::Gone | Liveness::Reused | Liveness::OtherBoot => false,
        }
    }

    /// Judges a pid of which only a moment is known at which its process had started already: a process that
    /// started more than two seconds later is another one. In doubt it is live.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn by_start(pid: i32, started_by: DateTime<Utc>) -> Result<Liveness, ProcError> {
        Liveness::by_start_between(pid, DateTime::<Utc>::MIN_UTC, started_by)
    }

    /// As [`Liveness::by_start`], where also a moment is known before which the process had not started.
    pub(crate) fn by_start_between(
        pid: i32,
        started_after: DateTime<Utc>,
        started_by: DateTime<Utc>,
    ) -> Result<Liveness, ProcError> {
        judge(pid, |stat| {
            let latest = started_by.checked_add_signed(TimeDelta::seconds(TOLERANCE_S)).unwrap_or(started_by);
            let started = procfs::wall_time(stat.start_ticks)?;
            Ok(started_after <= started && started <= latest)
        })
    }
}

impl Identity {
    /// The identity of the process that has this pid now. `None`: there is none, or this user may not see it.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn of(pid: i32) -> Result<Option<Identity>, ProcError> {
        if pid < 1 {
            return Ok(None);
        }
        let Some(stat) = procfs::stat(pid)? else { return Ok(None) };
        Ok(Some(Identity { pid, start_ticks: stat.start_ticks, boot_id: procfs::boot_id()? }))
    }

    /// The identity of the calling process.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn own() -> Result<Identity, ProcError> {
        let pid = own_pid();
        Identity::of(pid)?.ok_or_else(|| ProcError::kernel(format!("/proc/{pid}/stat")))
    }

    /// When it started, by today's clock.
    ///
    /// # Errors
    /// When `/proc` cannot be read, or the time is beyond all calendars.
    pub fn started(&self) -> Result<DateTime<Utc>, ProcError> {
        procfs::wall_time(self.start_ticks)
    }

    /// Whether this very process runs.
    ///
    /// A process that this user may not signal (`EPERM`) is as live as any; one that it may not even see is live
    /// because it cannot be told from the one that is meant.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn liveness(&self) -> Result<Liveness, ProcError> {
        if self.boot_id != procfs::boot_id()? {
            return Ok(Liveness::OtherBoot);
        }
        judge(self.pid, |stat| Ok(stat.start_ticks == self.start_ticks))
    }

    /// Whether the calling process is this one or descends from it: see [`Identity::is_or_begot`].
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn is_or_begot_this_process(&self) -> Result<bool, ProcError> {
        self.is_or_begot(own_pid())
    }

    /// Whether `pid` is this process or descends from it: the chain of parents, as it stands now, leads here.
    ///
    /// A process whose parent ended was given to another one, so a daemon does not descend from who started it.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn is_or_begot(&self, pid: i32) -> Result<bool, ProcError> {
        let mut pid = pid;
        let mut child_start = u64::MAX;
        for _ in 0..MAX_ANCESTORS {
            if pid <= 1 {
                return Ok(false);
            }
            let Some(stat) = procfs::stat(pid)? else { return Ok(false) };
            // A parent is older than its child, or its pid went to somebody else between two looks.
            if stat.start_ticks > child_start {
                return Ok(false);
            }
            if pid == self.pid {
                return Ok(stat.start_ticks == self.start_ticks && self.boot_id == procfs::boot_id()?);
            }
            child_start = stat.start_ticks;
            pid = stat.parent;
        }
        Ok(false)
    }
}

/// The pid of the calling process.
pub(crate) fn own_pid() -> i32 {
    Pid::this().as_raw()
}

/// The one place where a pid is judged: `is_same` says whether the process that has it is the one that is meant.
fn judge(pid: i32, is_same: impl FnOnce(&Stat) -> Result<bool, ProcError>) -> Result<Liveness, ProcError> {
    if pid <= 1 {
        return Ok(Liveness::Gone);
    }
    match procfs::stat(pid)? {
        Some(stat) if !is_same(&stat)? => Ok(Liveness::Reused),
        Some(stat) if stat.is_dead() => Ok(Liveness::Zombie),
        Some(_) => Ok(Liveness::Live),
        // `/proc` may be mounted so that it hides other users' processes: then only a signal of nothing finds them.
        None => match kill(Pid::from_raw(pid), None) {
            Err(Errno::ESRCH) => Ok(Liveness::Gone),
            Ok(()) | Err(_) => Ok(Liveness::Live),
        },
    }
}
