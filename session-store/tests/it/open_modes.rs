//! Permissions, whatever the umask is.

use super::process::Player;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Every path below `dir`, itself included, with its permission bits.
fn modes(dir: &Path, found: &mut Vec<(String, bool, u32)>) {
    let metadata = fs::symlink_metadata(dir).expect("it is there");
    found.push((dir.display().to_string(), metadata.is_dir(), metadata.permissions().mode() & 0o7777));
    if metadata.is_dir() {
        for entry in fs::read_dir(dir).expect("it can be read") {
            modes(&entry.expect("it can be read").path(), found);
        }
    }
}

#[test]
fn s04_directories_are_0700_and_files_0600_whatever_the_umask() {
    for umask in ["000", "077", "022", "777"] {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let base = dir.path().join("home").join("sessions");
        Player::start("does everything", &base, umask).ends();
        let mut found = Vec::new();
        modes(&dir.path().join("home"), &mut found);
        for name in ["history.jsonl", "meta.json", ".meta.json", ".lock", "meta.json.bad-", "turn.pid", ".turn"] {
            assert!(found.iter().any(|(path, ..)| path.contains(name)), "{umask}: no {name} in {found:?}");
        }
        for (path, is_dir, mode) in found {
            assert_eq!(mode, if is_dir { 0o700 } else { 0o600 }, "umask {umask}: {path} has {mode:o}");
        }
    }
}
