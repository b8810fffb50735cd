//! The files that make up a session, by their paths inside it: what a copy of it elsewhere is made of.
//!
//! Nothing is opened, nothing is followed, and what belongs to this machine is passed over.

use crate::directory::nodes;
use crate::stamp::Stamp;
use crate::{Result, SessionPaths};
use session_core::{Belongs, PathRule, SessionPath, SessionPathError, layout};
use std::fs::{DirEntry, Metadata};
use std::path::Path;

/// A regular file of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InnerFile {
    pub(crate) path: SessionPath,
    /// How long it was when it was looked at.
    pub(crate) len: u64,
    pub(crate) stamp: Stamp,
}

/// What of a session goes along with a copy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct InnerFiles {
    /// In the order of their paths' bytes.
    pub(crate) files: Vec<InnerFile>,
    /// Directories of the checkpoints in which nothing goes along: git knows a repository by some of its directories.
    pub(crate) empty_dirs: Vec<SessionPath>,
    /// What is neither file nor directory, or has a name that no archive should have.
    pub(crate) strange: Vec<LeftOut>,
}

/// Something in a session's directory that does not go along with a copy of it, though nothing says that it should not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Its path inside the session. What is no UTF-8 in it is U+FFFD.
    pub path: String,
    /// Why.
    pub why: LeftOutWhy,
}

/// Why something does not go along.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeftOutWhy {
    /// It is a symbolic link.
    #[error("it is a symbolic link")]
    Link,
    /// It is a FIFO, a socket or a device.
    #[error("it is no regular file")]
    Special,
    /// Its name is not one that an archive may have.
    #[error(transparent)]
    Name(#[from] SessionPathError),
    /// It says something of a process, and cannot be read.
    #[error("it cannot be read as what is known of a process")]
    Unreadable,
}

/// The files of a session as they stand now.
///
/// # Errors
/// [`crate::StoreError::Read`] for a directory that cannot be read. What goes away meanwhile is not there.
pub(crate) fn inner_files(paths: &SessionPaths) -> Result<InnerFiles> {
    let mut inner = InnerFiles::default();
    below(paths.dir(), "", &mut inner)?;
    inner.files.sort_by(|a, b| a.path.cmp(&b.path));
    inner.empty_dirs.sort();
    inner.strange.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(inner)
}

fn below(dir: &Path, prefix: &str, inner: &mut InnerFiles) -> Result<()> {
    nodes(dir)?.iter().try_for_each(|(entry, metadata)| one(entry, metadata, prefix, inner))
}

fn one(entry: &DirEntry, metadata: &Metadata, prefix: &str, inner: &mut InnerFiles) -> Result<()> {
    let name = entry.file_name();
    let shown = format!("{prefix}{}", name.to_string_lossy());
    let path = match name.to_str() {
        Some(_) => SessionPath::new(&*shown),
        None => Err(SessionPathError { path: shown.clone(), rule: PathRule::Encoding }),
    };
    let path = match path {
        Ok(path) => path,
        Err(error) => {
            inner.strange.push(LeftOut { path: shown, why: error.into() });
            return Ok(());
        }
    };
    if path.belongs() == Belongs::Machine {
        return Ok(());
    }
    if metadata.is_dir() {
        let before = inner.files.len() + inner.empty_dirs.len();
        below(&entry.path(), &format!("{shown}/"), inner)?;
        if inner.files.len() + inner.empty_dirs.len() == before && path.is_in(layout::CHECKPOINTS) {
            inner.empty_dirs.push(path);
        }
    } else if metadata.is_file() {
        inner.files.push(InnerFile { path, len: metadata.len(), stamp: Stamp::of(metadata) });
    } else {
        let why = if metadata.is_symlink() { LeftOutWhy::Link } else { LeftOutWhy::Special };
        inner.strange.push(LeftOut { path: shown, why });
    }
    Ok(())
}
