//! What a look does for processes without a supervisor: cut their logs, reap them, remember who leaves them.

use crate::cut;
use crate::dossier::{End, Gone};
use crate::entry::Entry;
use crate::identity::own_pid;
use crate::members::{Bond, Snapshot};
use crate::{Identity, Liveness, ProcError, State, procfs, settle};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::fs;

/// So many processes that left one group are not remembered one by one.
const MAX_STRAYS: usize = 256;

/// Cuts a log that is over its cap, unless a supervisor does that.
pub(crate) fn cut_log(entry: &Entry) -> Result<(), ProcError> {
    let Some(origin) = entry.dossier.origin.as_ref().filter(|_| entry.is_at_home()) else { return Ok(()) };
    let is_over = fs::symlink_metadata(entry.paths.log()).is_ok_and(|log| log.len() > origin.log_cap_bytes);
    if is_over && !entry.is_supervised()? {
        cut::cut(&entry.paths.log(), &entry.paths.cut(), origin.log_cap_bytes)?;
    }
    Ok(())
}

/// Reaps a process that this one started without a supervisor, so that it does not stay a zombie for as long as we
/// run.
pub(crate) fn reap(entry: &Entry) -> Result<Option<End>, ProcError> {
    let (Some(origin), Some(process)) = (&entry.dossier.origin, &entry.dossier.process) else { return Ok(None) };
    if origin.starter.pid != own_pid() || entry.dossier.supervisor.is_some() || process.liveness()? != Liveness::Zombie
    {
        return Ok(None);
    }
    if procfs::stat(process.pid)?.is_none_or(|stat| stat.parent != own_pid()) {
        return Ok(None);
    }
    // It is a zombie and our child, so nobody else has its pid and the call returns at once.
    let Ok(Some((_, status))) = waitpid(Pid::from_raw(process.pid), WaitOptions::NOHANG) else { return Ok(None) };
    Ok(Some(End::now(status)))
}

/// Puts down how a reaped process ended, where nothing else has told it.
pub(crate) fn conclude(entry: &mut Entry, reaped: Option<End>) {
    let is_unknown = entry.record.as_ref().is_some_and(|record| record.state == State::Gone)
        && entry.dossier.gone == Some(Gone::Unrecorded);
    if let Some(end) = reaped.filter(|_| is_unknown) {
        entry.dossier.gone = None;
        settle::conclude(entry, end);
    }
}

/// The members that are about to be lost from sight: they left the group and the session, carry no mark, and only
/// their parents lead to them.
pub(crate) fn strays(entry: &Entry) -> Result<Vec<Identity>, ProcError> {
    let known = entry.dossier.members.clone();
    let is_running = entry.record.as_ref().is_some_and(|record| record.state == State::Running);
    if !is_running || !entry.is_at_home() || entry.is_supervised()? {
        return Ok(known);
    }
    let members = Snapshot::take()?.members(&entry.kin());
    let is_stray = |bond| matches!(bond, Bond::Descent | Bond::Remembered);
    let strays = members.into_iter().filter(|member| is_stray(member.bond)).map(|member| member.process);
    Ok(strays.take(MAX_STRAYS).collect())
}
