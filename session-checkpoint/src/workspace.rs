//! Which directories may be a workspace.

use crate::Error;
use crate::error::{Refusal, reading};
use crate::options::Options;
use std::path::{Path, PathBuf};

/// The directories for temporary files, each of which belongs to everybody.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/run", "/private/tmp", "/private/var/tmp"];

/// The workspace's real path, or why it is none.
pub(crate) fn checked(options: &Options, store: &Path) -> Result<PathBuf, Error> {
    let given = &options.workspace;
    let path = given.canonicalize().map_err(reading(given))?;
    match refusal(options, &path, store) {
        Some(reason) => Err(Error::RefusedWorkspace { path, reason }),
        None => Ok(path),
    }
}

fn refusal(options: &Options, path: &Path, store: &Path) -> Option<Refusal> {
    if !path.is_dir() {
        return Some(Refusal::NoDirectory);
    }
    if path.parent().is_none() {
        return Some(Refusal::Root);
    }
    if TEMPORARY.iter().any(|dir| path == Path::new(dir)) {
        return Some(Refusal::Temporary);
    }
    if path.starts_with(store) {
        return Some(Refusal::Store);
    }
    let of_user = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok().flatten().map(|user| user.dir);
    for home in [of_user, options.home.clone()].into_iter().flatten() {
        let home = home.canonicalize().unwrap_or(home);
        if path == home {
            return Some(Refusal::Home);
        }
        if home.starts_with(path) {
            return Some(Refusal::AboveHome);
        }
    }
    None
}
