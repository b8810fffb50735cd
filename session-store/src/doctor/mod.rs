//! The doctor: what is not as it should be in a store. It reads and reports; it changes nothing.
//!
//! Each check is a file below `checks` and a function that looks at one thing and gives findings. What keeps one
//! check from looking is a finding too, so a broken session never ends the examination.

mod checks;
mod finding;
mod verbs;

pub use finding::{Finding, FindingCode, Severity};

use crate::Result;
use crate::flat::Standing;
use crate::list::{Candidate, Node, candidate, candidates};
use crate::{SessionPaths, StoreError};
use checks::{SESSION_CHECKS, STORE_CHECKS};
use session_core::{Limits, SessionName, Timestamp};
use session_proc::MarkedProcesses;
use std::path::Path;

/// What an examination found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Examination {
    /// How many sessions were looked at.
    pub sessions: u64,
    /// What was found: about the store first, then by session.
    pub findings: Vec<Finding>,
}

/// What a check looks at.
pub(crate) struct Patient<'a> {
    base: &'a Path,
    candidate: &'a Candidate,
    /// The session's directory, where it has one.
    paths: Option<SessionPaths>,
    limits: Limits,
    now: Timestamp,
    /// The processes that carry a mark of some session. `None`: they could not be looked at.
    marked: Option<&'a MarkedProcesses>,
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
}

/// Looks at the whole store.
fn examine(base: &Path, limits: Limits, now: Timestamp) -> Result<Examination> {
    let mut examination = Examination::default();
    let found = candidates(base)?;
    let marked = MarkedProcesses::look();
    if let Err(error) = &marked {
        examination.findings.push(Finding::new(FindingCode::Unreadable, Path::new("/proc"), with_causes(error)));
    }
    for check in STORE_CHECKS {
        examination.findings.extend(or_unreadable(base, check(base)));
    }
    for candidate in &found {
        examination.add(base, candidate, limits, now, marked.as_ref().ok());
    }
    Ok(examination)
}

/// Looks at some sessions.
fn examine_sessions(base: &Path, names: &[SessionName], limits: Limits, now: Timestamp) -> Result<Examination> {
    let mut examination = Examination::default();
    let marked = Some(MarkedProcesses::look()?);
    for name in names {
        let not_found = || StoreError::NotFound { name: name.to_string(), base: base.to_owned() };
        let candidate = candidate(base, name)?.ok_or_else(not_found)?;
        examination.add(base, &candidate, limits, now, marked.as_ref());
    }
    Ok(examination)
}

impl Examination {
    fn add(
        &mut self,
        base: &Path,
        candidate: &Candidate,
        limits: Limits,
        now: Timestamp,
        marked: Option<&MarkedProcesses>,
    ) {
        self.sessions += 1;
        let session = candidate.shown();
        let patient = Patient { base, candidate, paths: candidate.paths(base), limits, now, marked };
        let path = base.join(candidate.file_name());
        for check in SESSION_CHECKS {
            for finding in or_unreadable(&path, check(&patient)) {
                let finding = Finding { session: Some(session.clone()), ..finding };
                // What cannot be read keeps several checks from looking, and is told once.
                if finding.code != FindingCode::Unreadable || !self.findings.contains(&finding) {
                    self.findings.push(finding);
                }
            }
        }
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
