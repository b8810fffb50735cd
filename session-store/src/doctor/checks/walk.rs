//! Going through whole directories, and who has given up there.

use crate::directory::entries;
use crate::stamp::age;
use std::fs::Metadata;
use std::path::Path;
use std::time::Duration;

/// What was written longer ago than this is in nobody's hands: it would have its name by now.
const IDLE: Duration = Duration::from_secs(60);

/// Whether somebody who was making a file has given up.
pub(super) fn is_idle(metadata: &Metadata) -> bool {
    age(metadata).is_ok_and(|age| age >= IDLE)
}

/// Visits a directory and everything below it, links themselves and not what they point to. What cannot be read is
/// passed over: another check says so where it matters.
pub(super) fn visit(path: &Path, visitor: &mut impl FnMut(&Path, &Metadata)) {
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        visitor(&path, &metadata);
        if metadata.is_dir() {
            open.extend(entries(&path).into_iter().flatten().rev().map(|entry| entry.path()));
        }
    }
}
