//! Links from session to session.

use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::candidate::{Node, candidate};
use crate::meta::read;
use crate::{Result, compact};
use session_core::{Meta, SessionName};
use std::collections::HashSet;
use std::path::PathBuf;

/// A chain that is longer is not followed to its end.
const MAX_FOLLOWED: usize = 100_000;

/// A successor that does not exist, or that leads back.
pub(super) fn successor(patient: &Patient<'_>) -> Found {
    let Some((path, meta)) = meta_of(patient)? else { return Ok(Vec::new()) };
    let next = meta.succeeded_by.clone();
    if next.is_empty() {
        return Ok(Vec::new());
    }
    let exists = match SessionName::new(next.as_str()) {
        Ok(name) => candidate(patient.base, &name)?.is_some_and(|found| found.directory != Some(Node::Link)),
        Err(_) => false,
    };
    if !exists {
        let text = format!("goes on as {next:?}, which does not exist");
        return Ok(vec![Finding::new(FindingCode::DanglingSuccessor, &path, text)]);
    }
    let text = |at: &str| format!("its successors come back to {at:?}");
    let found = comes_back(patient, next, |meta| meta.succeeded_by)?;
    Ok(found.map(|at| Finding::new(FindingCode::SuccessorLoop, &path, text(&at))).into_iter().collect())
}

/// Parents that lead back.
pub(super) fn parent(patient: &Patient<'_>) -> Found {
    let Some((path, meta)) = meta_of(patient)? else { return Ok(Vec::new()) };
    let text = |at: &str| format!("its parents come back to {at:?}");
    let found = comes_back(patient, meta.parent, |meta| meta.parent)?;
    Ok(found.map(|at| Finding::new(FindingCode::ParentLoop, &path, text(&at))).into_iter().collect())
}

/// A successor that its parent does not name: whoever made it died before the link, or made another one.
pub(super) fn unlinked(patient: &Patient<'_>) -> Found {
    let Some((path, meta)) = meta_of(patient)? else { return Ok(Vec::new()) };
    let (Ok(parent), Some(paths)) = (SessionName::new(meta.parent.as_str()), &patient.paths) else {
        return Ok(Vec::new());
    };
    let found = candidate(patient.base, &parent)?.and_then(|found| found.paths(patient.base));
    let Some(parent_paths) =
        found.filter(|_| compact::was_made_for(paths, parent.as_str(), patient.limits).unwrap_or(false))
    else {
        return Ok(Vec::new());
    };
    let names = read(&parent_paths, parent.as_str(), patient.limits)?.meta.succeeded_by;
    if patient.candidate.name == *names.as_str() {
        return Ok(Vec::new());
    }
    let text = format!("it was made to go on with {:?}, which does not name it", parent.as_str());
    Ok(vec![Finding::new(FindingCode::UnlinkedSuccessor, &path, text)])
}

/// A successor that the history does not tell of: whoever linked it died in between.
pub(super) fn untold(patient: &Patient<'_>) -> Found {
    let Some((_, meta)) = meta_of(patient)? else { return Ok(Vec::new()) };
    let (Some(paths), Some(facts)) = (&patient.paths, &patient.told()?.facts) else { return Ok(Vec::new()) };
    match SessionName::new(meta.succeeded_by.as_str()) {
        Ok(successor)
            if facts.successor().is_empty()
                && patient.candidate.name != *successor.as_str()
                && candidate(patient.base, &successor)?.is_some_and(|found| found.directory == Some(Node::Real)) =>
        {
            let text = format!("it does not tell that {:?} goes on with it", successor.as_str());
            let finding = Finding::new(FindingCode::UntoldSuccessor, &paths.history(), text);
            Ok(vec![finding.fixed_by(Fix::TellSuccessor { successor })])
        }
        Ok(_) | Err(_) => Ok(Vec::new()),
    }
}

fn meta_of(patient: &Patient<'_>) -> Result<Option<(PathBuf, Meta)>> {
    let Some(paths) = &patient.paths else { return Ok(None) };
    let meta = read(paths, &patient.candidate.shown(), patient.limits)?.meta;
    Ok(Some((paths.meta(), meta)))
}

/// Follows links from session to session until they end; the session that comes twice, if one does.
fn comes_back(patient: &Patient<'_>, first: String, link: fn(Meta) -> String) -> Result<Option<String>> {
    let mut seen = HashSet::from([patient.candidate.shown()]);
    let mut next = first;
    while let Ok(name) = SessionName::new(next.as_str())
        && seen.len() < MAX_FOLLOWED
    {
        if !seen.insert(next.clone()) {
            return Ok(Some(next));
        }
        let found = candidate(patient.base, &name)?;
        let Some(paths) = found.and_then(|found| found.paths(patient.base)) else { return Ok(None) };
        next = link(read(&paths, name.as_str(), patient.limits)?.meta);
    }
    Ok(None)
}
