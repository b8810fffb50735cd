//! The id of a background process, and the names of its files.

use crate::ProcError;
use session_core::{NameError, SessionName};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the ids that this crate gives start with; a number from 1 follows.
const PREFIX: &str = "bg";
/// The end of a record's name.
const RECORD: &str = ".json";

/// The id of a background process: `bg1`, `bg2`, … A record that somebody else made may be called differently.
///
/// It names files, so it obeys the rules of a session's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(SessionName);

impl ProcessId {
    /// Checks an id.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn new(id: impl Into<String>) -> Result<Self, NameError> {
        SessionName::new(id).map(ProcessId)
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn numbered(number: u64) -> Self {
        ProcessId(SessionName::new(format!("{PREFIX}{number}")).expect("letters and digits are a name"))
    }

    /// The number of an id of the form that this crate gives.
    pub(crate) fn number(&self) -> Option<u64> {
        let digits = self.as_str().strip_prefix(PREFIX)?;
        digits.bytes().all(|digit| digit.is_ascii_digit()).then_some(digits)?.parse().ok()
    }

    /// For sorting as people count: `bg2` before `bg10`.
    pub(crate) fn rank(&self) -> (u64, &str) {
        (self.number().unwrap_or(u64::MAX), self.as_str())
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for ProcessId {
    type Err = NameError;

    fn from_str(id: &str) -> Result<Self, NameError> {
        ProcessId::new(id)
    }
}

/// Where the files of one process are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    pub(crate) dir: PathBuf,
    pub(crate) id: ProcessId,
}

impl Paths {
    pub(crate) fn new(dir: &Path, id: &ProcessId) -> Paths {
        Paths { dir: dir.to_owned(), id: id.clone() }
    }

    /// `<id>.json`: what the reference knows of it.
    pub(crate) fn record(&self) -> PathBuf {
        self.dir.join(format!("{}{RECORD}", self.id))
    }

    /// `<id>.log`: what it has written.
    pub(crate) fn log(&self) -> PathBuf {
        self.dir.join(format!("{}.log", self.id))
    }

    /// `<id>.exit`: its exit status, in decimal.
    pub(crate) fn exit(&self) -> PathBuf {
        self.dir.join(format!("{}.exit", self.id))
    }

    /// `.<id>.id`: what else is known of it.
    pub(crate) fn dossier(&self) -> PathBuf {
        self.dir.join(format!(".{}.id", self.id))
    }

    /// `.<id>.cut`: what is missing from the log, once something is.
    pub(crate) fn cut(&self) -> PathBuf {
        self.dir.join(format!(".{}.cut", self.id))
    }

    /// All of them, the record last: while it is there, the id is taken.
    pub(crate) fn all(&self) -> [PathBuf; 5] {
        [self.log(), self.cut(), self.exit(), self.dossier(), self.record()]
    }
}

/// The ids under `dir` that have a record, in the order in which people count. No directory: none.
pub(crate) fn recorded(dir: &Path) -> Result<Vec<ProcessId>, ProcError> {
    let names = names(dir)?;
    let stems = names.iter().filter_map(|name| name.strip_suffix(RECORD));
    let mut ids: Vec<_> = stems.filter_map(|stem| ProcessId::new(stem).ok()).collect();
    ids.sort_by(|a, b| a.rank().cmp(&b.rank()));
    Ok(ids)
}

/// The largest number that any file under `dir` carries, also one without a record; 0 where there is none.
pub(crate) fn last_number(dir: &Path) -> Result<u64, ProcError> {
    let names = names(dir)?;
    let stems = names.iter().filter_map(|name| name.trim_start_matches('.').split('.').next());
    Ok(stems.filter_map(|stem| ProcessId::new(stem).ok()?.number()).max().unwrap_or(0))
}

/// The names in a directory that are text. No directory: none.
pub(crate) fn names(dir: &Path) -> Result<Vec<String>, ProcError> {
    let fail = |source| ProcError::read(dir, source);
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(fail(source)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(fail)?.file_name().into_string());
    }
    Ok(names)
}
