//! The trash.

use super::walk::visit;
use super::{Finding, FindingCode, Found};
use crate::trash;
use std::path::Path;

/// How much is in it.
pub(super) fn size(base: &Path) -> Found {
    let entries = trash::entries(base)?;
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let dir = trash::trash_dir(base);
    let mut bytes = 0;
    visit(&dir, &mut |_, metadata| bytes += if metadata.is_file() { metadata.len() } else { 0 });
    let text = format!("{} sessions, {bytes} bytes", entries.len());
    Ok(vec![Finding::new(FindingCode::Trash, &dir, text)])
}

/// What is in it and cannot be restored.
pub(super) fn broken(base: &Path) -> Found {
    let text = "holds no session that could be restored";
    let broken = trash::broken(base)?.into_iter();
    Ok(broken.map(|path| Finding::new(FindingCode::BrokenTrash, &path, text)).collect())
}
