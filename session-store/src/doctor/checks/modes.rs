//! Who can read and write.

use super::walk::{entries, visit};
use super::{Finding, FindingCode, Found, Patient};
use session_core::layout;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The bits that let anybody but the owner do something.
const OTHERS: u32 = 0o077;

/// Files and directories of a session that others can read or write: one finding, at the first of them.
pub(super) fn session(patient: &Patient<'_>) -> Found {
    let mut loose = Loose::default();
    if let Some(paths) = &patient.paths {
        visit(paths.dir(), &mut |path, metadata| loose.look(path, metadata));
    }
    let flat = crate::flat::flat_path(patient.base, &patient.candidate.name);
    if patient.candidate.flat.is_some()
        && let Ok(metadata) = flat.symlink_metadata()
    {
        loose.look(&flat, &metadata);
    }
    Ok(loose.finding().into_iter().collect())
}

/// The same for the store's own directories.
pub(super) fn store(base: &Path) -> Found {
    let mut loose = Loose::default();
    let own = base.join(layout::STORE);
    for path in [base, &own] {
        if let Ok(metadata) = path.metadata() {
            loose.look(path, &metadata);
        }
    }
    for entry in entries(&own)? {
        visit(&entry.path(), &mut |path, metadata| loose.look(path, metadata));
    }
    Ok(loose.finding().into_iter().collect())
}

#[derive(Default)]
struct Loose {
    first: Option<(PathBuf, u32)>,
    count: u64,
}

impl Loose {
    fn look(&mut self, path: &Path, metadata: &Metadata) {
        // A link has no mode of its own.
        if !metadata.is_symlink() && metadata.mode() & OTHERS != 0 {
            self.count += 1;
            self.first.get_or_insert_with(|| (path.to_owned(), metadata.mode() & 0o7777));
        }
    }

    fn finding(self) -> Option<Finding> {
        let (path, mode) = self.first?;
        let text = match self.count {
            1 => format!("mode {mode:04o} lets others in"),
            n => format!("mode {mode:04o} lets others in, here and in {} more places", n - 1),
        };
        Some(Finding::new(FindingCode::LooseMode, &path, text))
    }
}
