//! What has not been told yet, each thing once.

use crate::entry::Entry;
use crate::output::{self, Excess, OUTPUT_BYTES, Want};
use crate::pattern::{self, Matches, Searched};
use crate::record::Record;
use crate::{ProcError, ProcessId, Registry, State, Status};
use chrono::{DateTime, TimeDelta, Utc};

/// Something that happened to a background process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Which process.
    pub id: ProcessId,
    /// What it is called.
    pub name: Option<String>,
    /// What happened.
    pub kind: EventKind,
    /// The event in words, for a model; it quotes output.
    pub text: String,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// It ended, in this state.
    Ended(State),
    /// Output matched the pattern: the lines, and how many more there were than are given.
    Matched {
        /// The lines, cut where they are long.
        lines: Vec<String>,
        /// How many more.
        more: u64,
    },
    /// There is new output.
    NewOutput,
    /// It still runs.
    StillRunning,
}

/// What to tell of a process; what is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tuning {
    /// Whether new output is told.
    pub output: Option<bool>,
    /// Lines that match this regular expression, from now on; `Some(None)`: none.
    pub pattern: Option<Option<String>>,
    /// Every so many seconds, that it still runs; `Some(None)`: never.
    pub remind_every_s: Option<Option<u64>>,
}

impl Registry {
    /// What has happened and has not been told: processes that ended, lines that matched, new output where it is asked
    /// for, and reminders. A call tells each thing that an earlier call, in any process, has not.
    ///
    /// On disk when it returns: that these things were told. Whoever loses the answer loses the events.
    ///
    /// # Errors
    /// As [`Registry::list`]; a record that cannot be read tells nothing. Where there is something to tell of other
    /// processes, that is the answer, and the next call gives the error if it is still there.
    #[doc(alias = "Events")]
    pub fn events(&self) -> Result<Vec<Event>, ProcError> {
        let mut quiet = Vec::new();
        let listing = self.each(|id| {
            let entry = self.settled(id)?.1;
            // Most records are of processes that ended long ago. They cost no lock.
            if is_all_told(&entry) {
                quiet.push(id.clone());
                return Status::of(&entry);
            }
            self.status(id)
        })?;
        let (mut events, mut failed) = (Vec::new(), None);
        for status in listing.processes.iter().filter(|status| !quiet.contains(&status.id)) {
            match self.change(&status.id, |entry| tell(entry, Utc::now())) {
                Ok(change) => events.extend(change.answer),
                Err(ProcError::NoProcess { .. } | ProcError::Unreadable { .. }) => {}
                // What was told of others is marked already: it must reach the caller.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.filter(|_| events.is_empty()).map_or(Ok(events), Err)
    }

    /// Changes what is told of a process.
    ///
    /// On disk when it returns: the new wishes. A pattern is searched for in what is written from now on.
    ///
    /// # Errors
    /// [`ProcError::Pattern`] for one that is no regular expression; otherwise as [`Registry::status`].
    pub fn tune(&self, id: &ProcessId, tuning: &Tuning) -> Result<(), ProcError> {
        if let Some(Some(text)) = &tuning.pattern {
            pattern::compile(text)?;
        }
        self.change(id, |entry| {
            if let Some(output) = tuning.output {
                entry.dossier.watch.output = output;
            }
            if let Some(pattern) = &tuning.pattern {
                entry.dossier.watch.pattern.clone_from(pattern);
                let end = Want { cursor: 0, limit_bytes: 0, excess: Excess::SkipToTail, is_final: true };
                entry.dossier.told.searched = output::read(&entry.paths, end)?.cursor;
                entry.dossier.told.open_line_told = false;
            }
            if let Some(remind_every_s) = tuning.remind_every_s {
                entry.dossier.watch.remind_every_s = remind_every_s;
                entry.dossier.told.last = Some(Utc::now());
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Finds what is to be told of one process, and marks it as told.
fn tell(entry: &mut Entry, now: DateTime<Utc>) -> Result<Vec<Event>, ProcError> {
    let Some(record) = &entry.record else { return Ok(Vec::new()) };
    if is_all_told(entry) {
        return Ok(Vec::new());
    }
    let state = record.state.clone();
    let tells_output = entry.dossier.watch.output;
    let mut teller =
        Teller { events: Vec::new(), id: entry.paths.id.clone(), name: record.name.clone(), label: label(record) };
    let matches = matches(entry)?;
    if !matches.lines.is_empty() {
        teller.tell_matches(matches);
    }
    if state.is_final() {
        let output = news(entry, true)?;
        let how = how(&state, entry);
        match output {
            Some(output) => teller.tell(EventKind::Ended(state), &format!("{how}.\nIts last output:\n{output}")),
            None => teller.tell(EventKind::Ended(state), &format!("{how}.")),
        }
        entry.dossier.told.end = true;
    } else {
        if tells_output && let Some(output) = news(entry, false)? {
            teller.tell(EventKind::NewOutput, &format!("produced new output:\n{output}"));
        }
        if teller.events.is_empty() && is_reminder_due(entry, now) {
            let running = running_time(entry, now);
            teller.tell(EventKind::StillRunning, &format!("has been running for {running}."));
        }
    }
    if !teller.events.is_empty() {
        entry.dossier.told.last = Some(now);
    }
    Ok(teller.events)
}

fn is_all_told(entry: &Entry) -> bool {
    entry.dossier.told.end
}

struct Teller {
    events: Vec<Event>,
    id: ProcessId,
    name: String,
    label: String,
}

impl Teller {
    fn tell(&mut self, kind: EventKind, happened: &str) {
        let name = Some(self.name.clone()).filter(|name| !name.is_empty());
        let text = format!("Background process {} {happened}", self.label);
        self.events.push(Event { id: self.id.clone(), name, kind, text });
    }

    fn tell_matches(&mut self, matches: Matches) {
        let Matches { lines, more } = matches;
        let rest = if more == 0 { String::new() } else { format!("\n[{more} more lines matched]") };
        let happened = format!("wrote what is waited for:\n{}{rest}", lines.join("\n"));
        self.tell(EventKind::Matched { lines, more }, &happened);
    }
}

fn label(record: &Record) -> String {
    if record.name.is_empty() { record.id.clone() } else { format!("{} ({})", record.id, record.name) }
}

fn how(state: &State, entry: &Entry) -> String {
    match state {
        State::Killed => "was killed".to_owned(),
        State::Gone => "is no longer running (no exit status recorded)".to_owned(),
        State::Starting | State::Running | State::Exited | State::Other(_) => {
            let code = entry.record.as_ref().map_or(0, |record| record.exit_code);
            let signal = entry.dossier.end.as_ref().and_then(|end| end.signal.as_ref());
            let signal = signal.map_or(String::new(), |name| format!(" ({name})"));
            format!("exited with status {code}{signal}")
        }
    }
}

/// The output that has not been told, unless it is blank; from here on it is told. Blank output is not told later.
fn news(entry: &mut Entry, is_final: bool) -> Result<Option<String>, ProcError> {
    // Of a record under another name the output is that of the id inside, as its status is.
    let Some(paths) = entry.paths_inside() else { return Ok(None) };
    let told = &mut entry.dossier.told;
    let want = Want { cursor: told.output, limit_bytes: OUTPUT_BYTES, excess: Excess::SkipToTail, is_final };
    let output = output::read(&paths, want)?;
    if output.text().trim().is_empty() && !is_final {
        return Ok(None);
    }
    told.output = output.cursor;
    Ok((!output.text().trim().is_empty()).then(|| output.told()))
}

/// The lines that match the pattern and have not been told; from here on they are.
fn matches(entry: &mut Entry) -> Result<Matches, ProcError> {
    let Some(text) = &entry.dossier.watch.pattern else { return Ok(Matches::default()) };
    let told = &entry.dossier.told;
    let from = Searched { line_start: told.searched, has_matched: told.open_line_told };
    let (matches, searched) = pattern::search(&entry.paths, &pattern::compile(text)?, from)?;
    entry.dossier.told.searched = searched.line_start;
    entry.dossier.told.open_line_told = searched.has_matched;
    Ok(matches)
}

fn is_reminder_due(entry: &Entry, now: DateTime<Utc>) -> bool {
    let Some(every_s) = entry.dossier.watch.remind_every_s else { return false };
    let started = entry.record.as_ref().and_then(|record| record.started);
    let Some(last) = entry.dossier.told.last.or(started) else { return true };
    now.signed_duration_since(last) >= TimeDelta::seconds(i64::try_from(every_s).unwrap_or(i64::MAX / 1000))
}

fn running_time(entry: &Entry, now: DateTime<Utc>) -> String {
    let started = entry.record.as_ref().and_then(|record| record.started).unwrap_or(now);
    let seconds = now.signed_duration_since(started).num_seconds().max(0);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}
