//! The doctor: what is not as it should be in a store, and what can be done about it without losing a byte.
//!
//! Each check is a file below `checks` and a function that looks at one thing and gives findings. What keeps one
//! check from looking is a finding too, so a broken session never ends the examination. Looking changes nothing.
//!
//! A finding may carry a [`Fix`]. [`repair`] looks again under the session's lock and does them: what is replaced, taken
//! out or moved away is kept beside it, and one notice in the history says what was done.

mod checks;
mod checkup;
mod finding;
mod fix;
mod journal;
mod repair;
mod verbs;

pub use checkup::{Checkup, Examination};
pub use finding::{Finding, FindingCode, Severity};
pub use fix::Fix;
pub use repair::{Repair, Repaired};

use crate::Result;
use crate::candidate::{Candidate, Node, candidate, candidates};
use crate::flat::Standing;
use crate::{SessionPaths, StoreError};
use checks::history::{self, Told};
use checks::{SESSION_CHECKS, STORE_CHECKS};
use session_core::checkpoint::{CheckpointDepth, Checkpointers};
use session_core::{Limits, SessionName, Timestamp};
use session_proc::MarkedProcesses;
use std::cell::OnceCell;
use std::path::Path;

/// What a check looks at.
struct Patient<'a> {
    base: &'a Path,
    candidate: &'a Candidate,
    /// The session's directory, where it has one.
    paths: Option<SessionPaths>,
    limits: Limits,
    now: Timestamp,
    /// The processes that carry a mark of some session. `None`: they could not be looked at.
    marked: Option<&'a MarkedProcesses>,
    /// The names of all sessions.
    names: &'a [String],
    checkpoints: Option<&'a dyn Checkpointers>,
    depth: CheckpointDepth,
    told: OnceCell<Told>,
}

impl Patient<'_> {
    /// The form of the session that counts.
    fn standing(&self) -> Result<Standing> {
        match (self.candidate.directory, self.candidate.flat) {
            // Nothing follows a link, and another check tells of it.
            (Some(Node::Link), _) | (None, Some(Node::Link | Node::Odd)) => Ok(Standing::NOTHING),
            _ => Standing::of(self.base, self.candidate, self.limits),
        }
    }

    /// What the history says, which is read once.
    fn told(&self) -> Result<&Told> {
        match self.told.get() {
            Some(told) => Ok(told),
            None => {
                let told = history::read(self)?;
                Ok(self.told.get_or_init(|| told))
            }
        }
    }

    /// Everything that the checks find.
    fn findings(&self) -> Vec<Finding> {
        let session = self.candidate.shown();
        let path = self.base.join(self.candidate.file_name());
        let mut findings: Vec<Finding> = Vec::new();
        for check in SESSION_CHECKS {
            for finding in or_unreadable(&path, check(self)) {
                let finding = Finding { session: Some(session.clone()), ..finding };
                // What cannot be read keeps several checks from looking, and is told once.
                if finding.code != FindingCode::Unreadable || !findings.contains(&finding) {
                    findings.push(finding);
                }
            }
        }
        findings
    }
}

/// Everything that is looked at in one go.
struct Ward<'a> {
    base: &'a Path,
    checkup: &'a Checkup<'a>,
    candidates: Vec<Candidate>,
    names: Vec<String>,
    marked: Result<MarkedProcesses, session_proc::ProcError>,
    limits: Limits,
    now: Timestamp,
}

impl<'a> Ward<'a> {
    /// # Errors
    /// What keeps the store's directory from being read; [`StoreError::NotFound`] for a name that none has.
    fn of(base: &'a Path, checkup: &'a Checkup<'a>, limits: Limits, now: Timestamp) -> Result<Self> {
        let all = candidates(base)?;
        let names = all.iter().map(Candidate::shown).collect();
        let candidates = match checkup.sessions {
            None => all,
            Some(wanted) => {
                let find = |name: &SessionName| {
                    let not_found = || StoreError::NotFound { name: name.to_string(), base: base.to_owned() };
                    candidate(base, name)?.ok_or_else(not_found)
                };
                wanted.iter().map(find).collect::<Result<_>>()?
            }
        };
        Ok(Ward { base, checkup, candidates, names, marked: MarkedProcesses::look(), limits, now })
    }

    fn patient<'b>(&'b self, candidate: &'b Candidate) -> Patient<'b> {
        Patient {
            base: self.base,
            candidate,
            paths: candidate.paths(self.base),
            limits: self.limits,
            now: self.now,
            marked: self.marked.as_ref().ok(),
            names: &self.names,
            checkpoints: self.checkup.checkpoints,
            depth: self.checkup.depth,
            told: OnceCell::new(),
        }
    }

    /// What is wrong with the store as a whole, if that is looked at.
    fn store_findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Err(error) = &self.marked {
            findings.push(Finding::new(FindingCode::Unreadable, Path::new("/proc"), with_causes(error)));
        }
        if self.checkup.sessions.is_none() {
            for check in STORE_CHECKS {
                findings.extend(or_unreadable(self.base, check(self.base)));
            }
        }
        findings
    }
}

/// What keeps a check from looking is what it found.
fn or_unreadable(path: &Path, found: Result<Vec<Finding>>) -> Vec<Finding> {
    found.unwrap_or_else(|error| {
        let path = match &error {
            StoreError::Read { path, .. } | StoreError::Escapes { path } => path.clone(),
            _ => path.to_owned(),
        };
        vec![Finding::new(FindingCode::Unreadable, &path, with_causes(&error))]
    })
}

/// An error and what caused it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
