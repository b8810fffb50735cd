//! What a caller is told of a background process.

use crate::dossier::Dossier;
use crate::dossier::Gone;
use crate::entry::Entry;
use crate::record::Record;
use crate::{Identity, Lifetime, ProcError, ProcessId, State};
use chrono::{DateTime, Utc};

/// A background process, as it was when somebody looked.
///
/// Texts come from a model or a file: escape them before they reach a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The id, which is the name of the record.
    pub id: ProcessId,
    /// The id inside the record. It is another one only where somebody copied or renamed a record; such a record is
    /// shown, and never written or acted upon.
    pub recorded_id: String,
    /// What it was called.
    pub name: Option<String>,
    /// The command line, for `sh -c`.
    pub command: String,
    /// The directory that it was started in.
    pub cwd: String,
    /// The process id, once it is known. Another process may have it when this one has ended.
    pub pid: Option<i32>,
    /// Who that is, where it was seen alive.
    pub process: Option<Identity>,
    /// When it was started, or, until then, claimed.
    pub started: Option<DateTime<Utc>>,
    /// When it ended, or, where nobody waited for it, when that was seen.
    pub ended: Option<DateTime<Utc>>,
    /// Where it is in its life.
    pub state: State,
    /// The exit status of one that exited; 128 plus the signal's number after a death by a signal, and −1 where
    /// the status could not be read.
    pub exit_code: Option<i64>,
    /// The name of the signal that it died of, where that is known, also of one that was stopped.
    pub signal: Option<String>,
    /// Why it counts as gone, where that was seen.
    pub gone: Option<Gone>,
    /// Whether new output is told while it runs.
    pub tells_output: bool,
    /// How long it is meant to run. Unknown of processes that the reference started.
    pub lifetime: Option<Lifetime>,
    /// Whether a turn was live in the session when it was started.
    pub has_turn: bool,
    /// The id of that turn, where it had one.
    pub turn_id: Option<String>,
    /// Whether it runs although the turn that started it does not, or, without a turn, the process that did.
    pub is_orphan: bool,
}

impl Status {
    /// Whether it runs, as far as that is known.
    pub fn is_running(&self) -> bool {
        self.state == State::Running
    }

    pub(crate) fn of(entry: &Entry) -> Result<Status, ProcError> {
        let Entry { paths, record, dossier } = entry;
        // Only of a claim there is no record, and then the dossier has the origin.
        let origin = dossier.origin.as_ref();
        let record = record.as_ref();
        let text = |recorded: fn(&Record) -> &String, claimed: Option<&String>| {
            record.map(recorded).or(claimed).cloned().unwrap_or_default()
        };
        let state = record.map_or(State::Starting, |record| record.state.clone());
        let dossier_fits = entry.is_at_home();
        let end = dossier.end.as_ref().filter(|_| dossier_fits);
        let turn = origin.filter(|_| dossier_fits).and_then(|origin| origin.turn.as_ref());
        Ok(Status {
            id: paths.id.clone(),
            recorded_id: record.map_or_else(|| paths.id.to_string(), |record| record.id.clone()),
            name: Some(text(|record| &record.name, origin.map(|origin| &origin.name))).filter(|name| !name.is_empty()),
            command: text(|record| &record.command, origin.map(|origin| &origin.command)),
            cwd: text(|record| &record.cwd, origin.map(|origin| &origin.cwd)),
            pid: record.and_then(Record::pid),
            process: dossier.process.clone().filter(|_| dossier_fits),
            started: record.map_or(origin.map(|origin| origin.claimed), |record| record.started),
            ended: record.and_then(|record| record.ended),
            exit_code: record.filter(|_| state == State::Exited).map(|record| record.exit_code),
            signal: end.and_then(|end| end.signal.clone()),
            gone: dossier.gone.filter(|_| dossier_fits && state == State::Gone),
            tells_output: dossier_fits && dossier.watch.output,
            lifetime: origin.filter(|_| dossier_fits).map(|origin| origin.lifetime),
            has_turn: turn.is_some(),
            turn_id: turn.and_then(|turn| turn.id.clone()),
            is_orphan: !state.is_final() && dossier_fits && is_orphan(dossier)?,
            state,
        })
    }
}

/// Whether nobody is left who started it. Of a process of the reference's nobody knows who did.
fn is_orphan(dossier: &Dossier) -> Result<bool, ProcError> {
    let Some(origin) = &dossier.origin else { return Ok(false) };
    let owner = origin.turn.as_ref().map_or(&origin.starter, |turn| &turn.process);
    Ok(!owner.liveness()?.is_live())
}
