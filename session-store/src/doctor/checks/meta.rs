//! Metadata.

use super::walk::files;
use super::{Finding, FindingCode, Found, Patient};
use crate::meta::read;
use crate::small_file;
use session_core::{Meta, layout};

/// What the largest metadata takes that is looked into here.
const MAX_BYTES: u64 = 16 << 20;

/// Metadata that cannot be used.
pub(super) fn whole(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let reading = read(paths, &patient.candidate.shown(), patient.limits)?;
    let finding = |damage| Finding::new(FindingCode::BadMeta, &paths.meta(), format!("{damage}"));
    Ok(reading.damage.map(finding).into_iter().collect())
}

/// Metadata that names another session, as a copied directory has it. The directory's name is the authority.
pub(super) fn name(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let path = paths.meta();
    // What cannot be read or used is the finding of another check.
    let meta = small_file::read(&path, MAX_BYTES).ok().and_then(|(bytes, _)| Meta::parse(&bytes).ok());
    let other = meta.map(|meta| meta.name).filter(|name| patient.candidate.name != *name.as_str());
    let finding = |name: String| {
        let text = if name.is_empty() {
            "it names no session; its directory's name stands".to_owned()
        } else {
            format!("it names session {name:?}; its directory's name stands")
        };
        Finding::new(FindingCode::MetaName, &path, text)
    };
    Ok(other.map(finding).into_iter().collect())
}

/// Copies of metadata that could not be used.
pub(super) fn aside(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let prefix = format!("{}.bad-", layout::META);
    let is_aside = |path: &std::path::Path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
    };
    let files = files(paths.dir())?.into_iter().filter(|(path, _)| is_aside(path));
    let text = "metadata that could not be used was kept aside";
    Ok(files.map(|(path, _)| Finding::new(FindingCode::MetaAside, &path, text)).collect())
}
