//! Names that are none, and things that are no sessions.

use super::{Finding, FindingCode, Found, Patient};
use crate::list::Node;

/// What stands in the store and no verb takes.
pub(super) fn name(patient: &Patient<'_>) -> Found {
    let candidate = patient.candidate;
    let path = patient.base.join(candidate.file_name());
    let mut findings = Vec::new();
    if let Err(fault) = candidate.session_name() {
        findings.push(Finding::new(FindingCode::HostileName, &path, fault.to_string()));
    }
    let odd = match (candidate.directory, candidate.flat) {
        (Some(Node::Link), _) | (None, Some(Node::Link)) => Some("a symbolic link; nothing follows it"),
        (None, Some(Node::Odd)) => Some("neither a file nor a directory"),
        _ => None,
    };
    findings.extend(odd.map(|text| Finding::new(FindingCode::NotASession, &path, text)));
    Ok(findings)
}
