//! What this project knows of a background process beyond the reference's record: `.<id>.id`.
//!
//! The reference drops unknown members when it saves a record and takes an unknown state for an end. So the identity
//! of the process, the time before its pid is known, and everything else of ours stand in a file beside it.

use crate::record::{REPORT, Record};
use crate::{Identity, ProcError, ProcessId, State, signal, small_file};
use chrono::{DateTime, TimeDelta, Utc};
use rustix::process::WaitStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use session_disk::{Durability, replace};
use std::path::Path;

const MAX_DOSSIER_BYTES: u64 = 32 * 1024 * 1024;
/// An end that comes this long after the grace of a stop had nothing to do with it any more.
const STOP_ECHO_S: i64 = 30;

/// Why a process counts as gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gone {
    /// It ended, and nobody wrote down how.
    Unrecorded,
    /// Another process has its pid now.
    PidReused,
    /// It ran before the machine was last booted.
    OtherBoot,
    /// Its id was claimed, and who claimed it ended before anything was started.
    NeverStarted,
    /// It ran in the session that this one is a copy of when the copy was made.
    Elsewhere,
}

/// How long a background process is meant to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lifetime {
    /// It is stopped when the turn that started it ends.
    #[default]
    Ephemeral,
    /// It runs until it ends or is stopped.
    Persistent,
}

/// The file. Each part is there from when it is known; beside a record of the reference's most are missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Dossier {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<Origin>,
    /// Who outlives the starter, takes the output and writes down the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) supervisor: Option<Identity>,
    /// The process that the record's pid means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<Identity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<DateTime<Utc>>,
    /// Members that had left the group when somebody last looked, and that nothing else leads to any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<Identity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop: Option<StopRequest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<End>,
    /// Why it counts as gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gone: Option<Gone>,
    #[serde(skip_serializing_if = "Watch::is_none")]
    pub(crate) watch: Watch,
    #[serde(skip_serializing_if = "Told::is_nothing")]
    pub(crate) told: Told,
    /// What a later version of this project may have added.
    #[serde(flatten)]
    pub(crate) more: Map<String, Value>,
    /// The file is there and cannot be read as one. It is left as it is.
    #[serde(skip)]
    pub(crate) is_foreign: bool,
}

/// What was to be started, by whom, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The environment mark of this start and of no other. It is no secret, and is not named as one: who looks for
    /// secrets would take random digits behind such a word for one, and mask them.
    #[serde(rename = "mark", alias = "token")]
    pub(crate) token: String,
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) cwd: String,
    pub(crate) lifetime: Lifetime,
    pub(crate) log_cap_bytes: u64,
    pub(crate) claimed: DateTime<Utc>,
    pub(crate) starter: Identity,
    /// The turn that was live in the session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) turn: Option<TurnRef>,
}

/// A turn, as its processes remember it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TurnRef {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) id: Option<String>,
    pub(crate) process: Identity,
}

/// Somebody asked for the end of the process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StopRequest {
    pub(crate) asked: DateTime<Utc>,
    pub(crate) grace_ms: u64,
}

impl StopRequest {
    /// Whether an end at that moment answers the request. Who asked may have died before it killed.
    pub(crate) fn explains(&self, ended: DateTime<Utc>) -> bool {
        let grace = TimeDelta::milliseconds(i64::try_from(self.grace_ms).unwrap_or(i64::MAX / 4));
        let until = self.asked.checked_add_signed(grace + TimeDelta::seconds(STOP_ECHO_S));
        until.is_none_or(|until| ended <= until)
    }
}

/// How the process ended, by who waited for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// The exit status; 128 plus the signal's number after a death by a signal.
    pub(crate) code: i64,
    /// The signal's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) signal: Option<String>,
    pub(crate) ended: DateTime<Utc>,
}

impl End {
    /// The end of a process that was just waited for.
    pub(crate) fn now(status: WaitStatus) -> End {
        let by = status.terminating_signal();
        let code = by.map(|number| 128 + number).or(status.exit_status()).unwrap_or_default();
        End { code: i64::from(code), signal: by.map(signal::name), ended: Utc::now() }
    }

    /// An end of which only the status is known, and that it was not there before.
    pub(crate) fn seen_now(code: i64) -> End {
        End { code, signal: None, ended: Utc::now() }
    }
}

/// What to tell of the running process, besides its end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Watch {
    /// New output.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) output: bool,
    /// Lines that match this regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pattern: Option<String>,
    /// That it still runs, every so many seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remind_every_s: Option<u64>,
}

impl Watch {
    fn is_none(&self) -> bool {
        *self == Watch::default()
    }
}

/// What has been told.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Told {
    pub(crate) end: bool,
    /// How far the output was told, counted from its first byte.
    pub(crate) output: u64,
    /// Where the first line starts that has not been searched to its end.
    pub(crate) searched: u64,
    /// Whether that line has matched already, before its end was there.
    pub(crate) open_line_told: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<DateTime<Utc>>,
}

impl Told {
    fn is_nothing(&self) -> bool {
        *self == Told::default()
    }
}

impl Dossier {
    /// Reads the file. What is not there, or is not readable as one, is an empty one: the record still stands.
    pub(crate) fn read(path: &Path) -> Result<Dossier, ProcError> {
        let Some(file) = small_file::read(path, MAX_DOSSIER_BYTES)? else { return Ok(Dossier::default()) };
        let foreign = || Dossier { is_foreign: true, ..Dossier::default() };
        Ok(serde_json::from_slice(&file.bytes).unwrap_or_else(|_| foreign()))
    }

    /// Replaces the file, unless it is one that could not be read.
    pub(crate) fn write(&self, path: &Path, durability: Durability) -> Result<(), ProcError> {
        if self.is_foreign {
            return Ok(());
        }
        Ok(replace(path, &self.encode(), durability)?)
    }

    /// The file's bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("strings, numbers and times always serialize");
        line.push(b'\n');
        line
    }
}

impl Origin {
    /// The record of a process that came from it and runs, as its starter would have made it.
    pub(crate) fn record(origin: Option<&Origin>, id: &ProcessId) -> Record {
        let text = |part: fn(&Origin) -> &String| origin.map(part).cloned().unwrap_or_default();
        Record {
            id: id.to_string(),
            name: text(|origin| &origin.name),
            command: text(|origin| &origin.command),
            cwd: text(|origin| &origin.cwd),
            pid: 0,
            started: origin.map(|origin| origin.claimed),
            report: REPORT.to_owned(),
            state: State::Running,
            exit_code: 0,
            ended: None,
            more: Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_long_after_a_stop_does_not_answer_it() {
        let asked = Utc::now();
        let stop = StopRequest { asked, grace_ms: 5_000 };
        assert!(stop.explains(asked) && stop.explains(asked + TimeDelta::seconds(34)));
        assert!(!stop.explains(asked + TimeDelta::seconds(36)));
        assert!(StopRequest { asked, grace_ms: u64::MAX }.explains(asked + TimeDelta::days(365)));
    }

    #[test]
    fn the_example_of_the_format_is_read_as_it_is_meant_and_written_alike() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/format.md");
        let page = std::fs::read_to_string(page).expect("it is part of the project");
        let example = page.lines().find(|line| line.starts_with(r#"{"origin""#)).expect("the page has an example");
        let dossier: Dossier = serde_json::from_str(example).expect("it is one");
        assert_eq!(dossier.more, Map::new());
        assert_eq!(serde_json::to_string(&dossier).expect("it serializes"), example);
    }

    #[test]
    fn an_empty_dossier_says_nothing() {
        assert_eq!(serde_json::to_string(&Dossier::default()).expect("it serializes"), "{}");
    }
}
