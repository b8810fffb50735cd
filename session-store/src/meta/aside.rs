//! Keeping what is replaced although nobody could read it.

use crate::Result;
use session_core::Timestamp;
use session_disk::{DiskError, hard_link, rename_new, set_mode};
use std::io;
use std::path::Path;

/// What stands between the name of a file that is kept aside and the time.
pub(crate) const ASIDE: &str = ".bad-";
/// How many files of one second are told apart.
const MAX_SAME_SECOND: u32 = 1000;

/// Keeps what stands at `path` as `<path>.bad-<time>` beside it. A file stays where it is too, until it is replaced.
///
/// On disk when it returns: the second name, not synced; the replacement syncs the directory.
///
/// # Errors
/// The step that failed.
pub(super) fn keep(path: &Path, now: Timestamp) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let time = now.format("%Y%m%dT%H%M%SZ");
    let is_dir = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    let put: fn(&Path, &Path) -> Result<(), DiskError> = if is_dir { rename_new } else { hard_link };
    for n in 1..MAX_SAME_SECOND {
        let suffix = if n == 1 { String::new() } else { format!("-{n}") };
        let aside = path.with_file_name(format!("{name}{ASIDE}{time}{suffix}"));
        match put(path, &aside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Ok(()) if aside.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) => {
                return Ok(set_mode(&aside, 0o600)?);
            }
            put => return Ok(put?),
        }
    }
    // So many of one second are copies of one fault: what they say is kept.
    Ok(())
}
