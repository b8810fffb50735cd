//! The doctor: what is not as it should be in a store. It reads and reports; it changes nothing.
//!
//! Each check is a file below `checks` and a function that looks at one thing and gives findings. What keeps one
//! check from looking is a finding too, so a broken session never ends the examination.

mod checks;
mod finding;
mod verbs;

pub use finding::{Finding, FindingCode, Severity};

use crate::Result;
use crate::list::{Candidate, Node, candidate, candidates};
use crate::{SessionPaths, StoreError};
use checks::{SESSION_CHECKS, STORE_CHECKS};
use session_core::{Limits, SessionName};
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
    paths: SessionPaths,
    limits: Limits,
}

impl Patient<'_> {
    /// Whether the session's directory is there and is one.
    fn has_directory(&self) -> bool {
        self.candidate.directory == Some(Node::Real)
    }
}

/// Looks at the whole store.
fn examine(base: &Path, limits: Limits) -> Result<Examination> {
    let mut examination = Examination::default();
    let found = candidates(base)?;
    for check in STORE_CHECKS {
        examination.findings.extend(or_unreadable(base, check(base)));
    }
    for candidate in &found {
        examination.add(base, candidate, limits);
    }
    Ok(examination)
}

/// Looks at some sessions.
fn examine_sessions(base: &Path, names: &[SessionName], limits: Limits) -> Result<Examination> {
    let mut examination = Examination::default();
    for name in names {
        let not_found = || StoreError::NotFound { name: name.to_string(), base: base.to_owned() };
        let candidate = candidate(base, name)?.ok_or_else(not_found)?;
        examination.add(base, &candidate, limits);
    }
    Ok(examination)
}

impl Examination {
    fn add(&mut self, base: &Path, candidate: &Candidate, limits: Limits) {
        self.sessions += 1;
        let session = candidate.shown();
        let patient = Patient { base, candidate, paths: SessionPaths::new(base.join(&candidate.name)), limits };
        for check in SESSION_CHECKS {
            for finding in or_unreadable(patient.paths.dir(), check(&patient)) {
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
