//! Who can read and write.

use super::walk::visit;
use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::directory::entries;
use session_core::layout;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The bits that let anybody but the owner do something.
const OTHERS: u32 = 0o077;

/// Files and directories of a session that others can read or write: one finding, at the first of them.
pub(super) fn session(patient: &Patient<'_>) -> Found {
    let mut loose = Loose::default();
    for root in roots(patient) {
        visit(&root, &mut |path, metadata| loose.look(path, metadata));
    }
    Ok(loose.finding().into_iter().collect())
}

/// The same for the store's own directories.
pub(super) fn store(base: &Path) -> Found {
    let mut loose = Loose::default();
    of_store(base, &mut |path, metadata| loose.look(path, metadata))?;
    Ok(loose.finding().into_iter().collect())
}

/// What of a session has modes.
fn roots(patient: &Patient<'_>) -> Vec<PathBuf> {
    let dir = patient.paths.as_ref().map(|paths| paths.dir().to_owned());
    let flat = crate::paths::flat_path(patient.base, &patient.candidate.name);
    dir.into_iter().chain(patient.candidate.flat.is_some().then_some(flat)).collect()
}

fn of_store(base: &Path, visitor: &mut impl FnMut(&Path, &Metadata)) -> crate::Result<()> {
    let own = base.join(layout::STORE);
    for path in [base, &own] {
        if let Ok(metadata) = path.metadata() {
            visitor(path, &metadata);
        }
    }
    for entry in entries(&own)? {
        visit(&entry.path(), visitor);
    }
    Ok(())
}

/// Every loose path of a session, or of the store, with its mode; a directory before what is in it.
pub(in crate::doctor) fn loose(patient: &Patient<'_>) -> Vec<(PathBuf, u32)> {
    let mut all = Vec::new();
    for root in roots(patient) {
        visit(&root, &mut |path, metadata| all.extend(is_loose(metadata).then(|| (path.to_owned(), mode(metadata)))));
    }
    all
}

/// The same of the store's own directories.
pub(in crate::doctor) fn loose_of_store(base: &Path) -> crate::Result<Vec<(PathBuf, u32)>> {
    let mut all = Vec::new();
    of_store(base, &mut |path, metadata| all.extend(is_loose(metadata).then(|| (path.to_owned(), mode(metadata)))))?;
    Ok(all)
}

/// A link has no mode of its own.
fn is_loose(metadata: &Metadata) -> bool {
    !metadata.is_symlink() && metadata.mode() & OTHERS != 0
}

fn mode(metadata: &Metadata) -> u32 {
    metadata.mode() & 0o7777
}

#[derive(Default)]
struct Loose {
    first: Option<(PathBuf, u32)>,
    count: u64,
}

impl Loose {
    fn look(&mut self, path: &Path, metadata: &Metadata) {
        if is_loose(metadata) {
            self.count += 1;
            self.first.get_or_insert_with(|| (path.to_owned(), mode(metadata)));
        }
    }

    fn finding(self) -> Option<Finding> {
        let (path, mode) = self.first?;
        let text = match self.count {
            1 => format!("mode {mode:04o} lets others in"),
            2 => format!("mode {mode:04o} lets others in, here and in another place"),
            n => format!("mode {mode:04o} lets others in, here and in {} other places", n - 1),
        };
        Some(Finding::new(FindingCode::LooseMode, &path, text).fixed_by(Fix::Tighten))
    }
}
