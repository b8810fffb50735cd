//! What is true of a background process now: the one place that judges its state.

use crate::dossier::{End, Gone, Origin};
use crate::entry::{Entry, is_younger};
use crate::members::Snapshot;
use crate::record::Record;
use crate::{Identity, Liveness, ProcError, State, small_file};
use chrono::{DateTime, TimeDelta, Utc};

const MAX_EXIT_FILE_BYTES: u64 = 4096;
/// What the reference records of an end of which it does not know how.
pub(crate) const NO_STATUS: i64 = -1;
/// The reference takes the time right after it has started a process. A process that is older than this beside the
/// record is another one: from another pid namespace, for instance.
const OLDEST: TimeDelta = TimeDelta::seconds(60);
/// The reference's shell opens the file of the status before it writes into it.
const FRESH_STATUS: TimeDelta = TimeDelta::milliseconds(300);
/// A supervisor needs a moment until it has put down that it exists.
const FRESH_CLAIM: TimeDelta = TimeDelta::seconds(5);

/// Whether the state can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The entry says what is true.
    Settled,
    /// The process has ended, and who writes down how is about to. The entry says what was true before.
    Pending,
}

/// Brings an entry in line with what is the case. Writes nothing.
pub(crate) fn settle(entry: &mut Entry) -> Result<Verdict, ProcError> {
    match &entry.record {
        None => settle_claim(entry),
        Some(record) if record.state == State::Running => settle_running(entry),
        // What has ended stays as it was recorded.
        Some(_) => Ok(Verdict::Settled),
    }
}

/// As [`settle`], but takes what is pending for lost.
pub(crate) fn settle_at_last(entry: &mut Entry) -> Result<(), ProcError> {
    if settle(entry)? == Verdict::Pending {
        match status_file(entry)? {
            // The file was opened, and never written.
            StatusFile::Empty => conclude(entry, End::seen_now(NO_STATUS)),
            StatusFile::Missing => give_up(entry, Gone::Unrecorded),
            StatusFile::Code(code) => conclude(entry, End::seen_now(code)),
        }
    }
    Ok(())
}

/// Ends the entry as somebody knows it: with a status, of a process that ran.
pub(crate) fn conclude(entry: &mut Entry, end: End) {
    let End { code, ended, .. } = end;
    let was_stopped = entry.dossier.stop.as_ref().is_some_and(|stop| stop.explains(ended));
    if entry.is_at_home() && entry.dossier.origin.is_some() {
        entry.dossier.end.get_or_insert(end);
    }
    let record = entry.record_or_claim();
    // The reference gives a process that it killed no status; what it was stands in the dossier.
    (record.state, record.exit_code) = if was_stopped { (State::Killed, 0) } else { (State::Exited, code) };
    record.ended.get_or_insert(ended);
}

/// The record of a process that runs, from what its starter put down.
pub(crate) fn run(entry: &mut Entry, process: Identity, started: DateTime<Utc>) {
    let mut record = Origin::record(entry.dossier.origin.as_ref(), &entry.paths.id);
    record.pid = i64::from(process.pid);
    record.started = Some(started);
    entry.record = Some(record);
    entry.dossier.started = Some(started);
    entry.dossier.process = Some(process);
}

fn settle_running(entry: &mut Entry) -> Result<Verdict, ProcError> {
    if conclude_by_status(entry, false)? {
        return Ok(Verdict::Settled);
    }
    let liveness = liveness(entry)?;
    let gone = match liveness {
        Liveness::Live => {
            observe(entry)?;
            return Ok(Verdict::Settled);
        }
        Liveness::Zombie | Liveness::Gone => Gone::Unrecorded,
        Liveness::Reused => Gone::PidReused,
        Liveness::OtherBoot => Gone::OtherBoot,
    };
    // Between the two looks it may have ended in good order.
    if conclude_by_status(entry, true)? {
        return Ok(Verdict::Settled);
    }
    if is_pending(entry)? {
        return Ok(Verdict::Pending);
    }
    give_up(entry, gone);
    Ok(Verdict::Settled)
}

/// A claim without a pid: somebody is starting it, or died while starting it.
fn settle_claim(entry: &mut Entry) -> Result<Verdict, ProcError> {
    let Some(origin) = &entry.dossier.origin else { return Ok(Verdict::Settled) };
    if let (Some(process), Some(started)) = (entry.dossier.process.clone(), entry.dossier.started) {
        run(entry, process, started);
        return settle_running(entry);
    }
    if entry.is_supervised()? || origin.starter.liveness()?.is_live() || is_younger(origin.claimed, FRESH_CLAIM) {
        return Ok(Verdict::Settled);
    }
    // Who started it died between the start and the record. The mark leads to what runs.
    let snapshot = Snapshot::take()?;
    let token = origin.token.clone();
    let claimed = origin.claimed;
    let mut found = snapshot.marked().filter(|(_, mark)| mark.token == token).map(|(process, _)| process);
    match found.find(|process| snapshot.leads_session(process.pid)) {
        Some(process) => {
            run(entry, process, claimed);
            settle_running(entry)
        }
        None => {
            give_up(entry, Gone::NeverStarted);
            Ok(Verdict::Settled)
        }
    }
}

/// Takes the end from whoever has put it down. `is_dead`: the process is known not to run.
fn conclude_by_status(entry: &mut Entry, is_dead: bool) -> Result<bool, ProcError> {
    if let Some(end) = entry.dossier.end.clone().filter(|_| entry.is_at_home()) {
        conclude(entry, end);
        return Ok(true);
    }
    match status_file(entry)? {
        StatusFile::Code(code) => conclude(entry, End::seen_now(code)),
        StatusFile::Empty if is_dead && !is_pending(entry)? => conclude(entry, End::seen_now(NO_STATUS)),
        StatusFile::Empty | StatusFile::Missing => return Ok(false),
    }
    Ok(true)
}

enum StatusFile {
    Missing,
    /// The reference's shell opens it before it writes.
    Empty,
    Code(i64),
}

/// Reads `<id>.exit`; of a record that is not at home, that of the id inside it, as the reference does.
fn status_file(entry: &Entry) -> Result<StatusFile, ProcError> {
    let Some(paths) = entry.paths_inside() else { return Ok(StatusFile::Missing) };
    let Some(file) = small_file::read(&paths.exit(), MAX_EXIT_FILE_BYTES)? else { return Ok(StatusFile::Missing) };
    let text = String::from_utf8_lossy(&file.bytes);
    Ok(match text.trim() {
        "" => StatusFile::Empty,
        text => StatusFile::Code(text.parse().unwrap_or(NO_STATUS)),
    })
}

/// Whether the status of a process that has ended may still come.
fn is_pending(entry: &Entry) -> Result<bool, ProcError> {
    if entry.is_supervised()? {
        return Ok(true);
    }
    let Some(paths) = entry.paths_inside() else { return Ok(false) };
    let file = small_file::read(&paths.exit(), MAX_EXIT_FILE_BYTES)?;
    Ok(file.is_some_and(|file| file.bytes.trim_ascii().is_empty() && is_younger(file.modified, FRESH_STATUS)))
}

/// Whether the recorded process runs: by its identity where that is known, else by its start.
fn liveness(entry: &Entry) -> Result<Liveness, ProcError> {
    let Some(pid) = entry.record.as_ref().and_then(Record::pid) else { return Ok(Liveness::Gone) };
    match &entry.dossier.process {
        Some(process) if process.pid == pid => process.liveness(),
        _ => match entry.record.as_ref().and_then(|record| record.started) {
            Some(started) => Liveness::by_start_between(pid, started - OLDEST, started),
            None => Ok(Liveness::Gone),
        },
    }
}

/// Puts down who the pid of a record without an identity is, as long as that can be told.
fn observe(entry: &mut Entry) -> Result<(), ProcError> {
    let Some(pid) = entry.record.as_ref().and_then(Record::pid) else { return Ok(()) };
    if entry.dossier.process.as_ref().is_none_or(|process| process.pid != pid) {
        entry.dossier.process = Identity::of(pid)?;
    }
    Ok(())
}

fn give_up(entry: &mut Entry, gone: Gone) {
    let now = Utc::now();
    let was_stopped = entry.dossier.stop.as_ref().is_some_and(|stop| stop.explains(now));
    let is_killed = was_stopped && gone == Gone::Unrecorded;
    if !is_killed {
        entry.dossier.gone = Some(gone);
    }
    let record = entry.record_or_claim();
    (record.state, record.exit_code) = if is_killed { (State::Killed, 0) } else { (State::Gone, NO_STATUS) };
    record.ended.get_or_insert(now);
}
