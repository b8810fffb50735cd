//! Metadata.

use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::candidate::candidate;
use crate::directory::files;
use crate::meta::{ASIDE, MAX_BYTES, is_rebuilt, read};
use session_core::{Meta, SessionName, layout};
use session_disk::{is_absent, read_regular};
use std::path::Path;

/// Metadata that cannot be used, is missing, or was lost once.
pub(super) fn whole(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let reading = read(paths, &patient.candidate.shown(), patient.limits)?;
    let path = paths.meta();
    let finding = |code, text: String| Finding::new(code, &path, text);
    if let Some(damage) = reading.damage {
        return Ok(vec![finding(FindingCode::BadMeta, damage.to_string()).fixed_by(Fix::WriteMeta)]);
    }
    let is_missing = path.symlink_metadata().is_err_and(|error| is_absent(&error));
    if is_missing && patient.told()?.has_messages {
        let text = "there is none; what it would say is in the history".to_owned();
        return Ok(vec![finding(FindingCode::MetaMissing, text).fixed_by(Fix::WriteMeta)]);
    }
    let text = "it was lost once, and made again from the history".to_owned();
    Ok(is_rebuilt(&reading.meta).then(|| finding(FindingCode::MetaRebuilt, text)).into_iter().collect())
}

/// Metadata that names another session, as a copied directory has it. The directory's name is the authority.
pub(super) fn name(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let path = paths.meta();
    // What cannot be read or used is the finding of another check.
    let meta = read_regular(&path, MAX_BYTES).ok().and_then(|(bytes, _)| Meta::parse(&bytes).ok());
    let other = meta.map(|meta| meta.name).filter(|name| patient.candidate.name != *name.as_str());
    Ok(other.map(|name| misnamed(patient, &path, &name)).transpose()?.into_iter().collect())
}

fn misnamed(patient: &Patient<'_>, path: &Path, name: &str) -> crate::Result<Finding> {
    // Who writes metadata goes by the directory's name, if that is one.
    let can_fix = patient.candidate.session_name().is_ok();
    if name.is_empty() {
        let text = "it names no session; its directory's name stands";
        let finding = Finding::new(FindingCode::MetaName, path, text);
        return Ok(Finding { fix: can_fix.then_some(Fix::WriteMeta), ..finding });
    }
    // What our copy says already is only to be written once more.
    let reading =
        patient.paths.as_ref().map(|paths| read(paths, &patient.candidate.shown(), patient.limits)).transpose()?;
    if let Ok(from) = SessionName::new(name)
        && reading.is_some_and(|reading| reading.meta.name == name)
        && candidate(patient.base, &from)?.is_none()
    {
        let text = format!("it was renamed from {name:?}, and not everybody was told");
        let finding = Finding::new(FindingCode::HalfRenamed, path, text);
        return Ok(Finding { fix: can_fix.then_some(Fix::EndRename { from }), ..finding });
    }
    let text = format!("it names session {name:?}; its directory's name stands");
    let finding = Finding::new(FindingCode::MetaName, path, text);
    Ok(Finding { fix: can_fix.then_some(Fix::WriteMeta), ..finding })
}

/// Metadata that says something else than the history, which is the authority.
pub(super) fn facts(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let Some(facts) = &patient.told()?.facts else { return Ok(Vec::new()) };
    let reading = read(paths, &patient.candidate.shown(), patient.limits)?;
    if reading.damage.is_some() {
        return Ok(Vec::new());
    }
    let others = facts.contradicted_by(&reading.meta);
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let text = format!("it says something else than the history about: {}", others.join(", "));
    Ok(vec![Finding::new(FindingCode::MetaDiffers, &paths.meta(), text).fixed_by(Fix::WriteMeta)])
}

/// Copies of metadata that could not be used.
pub(super) fn aside(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let prefix = format!("{}{ASIDE}", layout::META);
    let is_aside =
        |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()));
    let files = files(paths.dir())?.into_iter().filter(|(path, _)| is_aside(path));
    let text = "metadata that could not be used was kept aside";
    Ok(files.map(|(path, _)| Finding::new(FindingCode::MetaAside, &path, text)).collect())
}
