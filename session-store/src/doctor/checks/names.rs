//! Names that are none, and things that are no sessions.

use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::candidate::{Candidate, Node};
use crate::file_name;
use crate::paths::{flat_path, migrated_path};
use session_core::SessionName;
use std::path::Path;

/// How many names are tried for one that is none.
const MAX_NAMES: u32 = 100;

/// What stands in the store and no verb takes.
pub(super) fn name(patient: &Patient<'_>) -> Found {
    let candidate = patient.candidate;
    let path = patient.base.join(candidate.file_name());
    let mut findings = Vec::new();
    if let Err(fault) = candidate.session_name() {
        let finding = Finding::new(FindingCode::HostileName, &path, fault.to_string());
        let is_real =
            !matches!((candidate.directory, candidate.flat), (Some(Node::Link), _) | (None, Some(Node::Link)));
        let to = is_real.then(|| better(patient.base, candidate)).flatten();
        findings.push(Finding { fix: to.map(|to| Fix::Rename { to }), ..finding });
    }
    let odd = match (candidate.directory, candidate.flat) {
        (Some(Node::Link), _) | (None, Some(Node::Link)) => Some("a symbolic link; nothing follows it"),
        (None, Some(Node::Odd)) => Some("neither a file nor a directory"),
        _ => None,
    };
    findings.extend(odd.map(|text| Finding::new(FindingCode::NotASession, &path, text)));
    Ok(findings)
}

/// A free name that reminds of one that is none.
fn better(base: &Path, candidate: &Candidate) -> Option<SessionName> {
    let plain = file_name::from_hint(&candidate.name.to_string_lossy(), "session");
    let numbered = |n| SessionName::new(format!("{plain}-{n}")).ok();
    let mut names = std::iter::once(Some(plain.clone())).chain((2..MAX_NAMES).map(numbered)).flatten();
    names.find(|name| is_free(base, name))
}

/// Whether nothing of a session has the name.
pub(in crate::doctor) fn is_free(base: &Path, name: &SessionName) -> bool {
    let name = name.as_str().as_ref();
    let all = [base.join(name), flat_path(base, name), migrated_path(base, name)];
    all.iter().all(|path| path.symlink_metadata().is_err())
}

/// A session in which nothing has happened, and whose name begins that of another one, or the other way round: somebody
/// may have meant that one. Neither is ever in the way of the other.
pub(super) fn twin(patient: &Patient<'_>) -> Found {
    let Some(own) = patient.candidate.name.to_str().filter(|_| patient.paths.is_some()) else { return Ok(Vec::new()) };
    let is_twin = |other: &&str| *other != own && (other.starts_with(own) || own.starts_with(*other));
    let Some(other) = patient.names.iter().map(String::as_str).find(is_twin) else { return Ok(Vec::new()) };
    if patient.told()?.has_messages {
        return Ok(Vec::new());
    }
    let text = format!("nothing has happened in it; {other:?} has a name that is like its own");
    Ok(vec![Finding::new(FindingCode::EmptyTwin, &patient.base.join(own), text)])
}
