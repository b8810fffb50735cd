//! What stands directly under the store's directory and is, or should be, a session.

mod escape;

pub(crate) use escape::escaped;

use crate::paths::flat_path;
use crate::{Result, SessionPaths, StoreError};
use session_core::{NameRule, SessionName, layout};
use session_disk::is_absent;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

/// A name that a session has, or that something has which the reference would take for one.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The directory's name, or the flat file's without its ending.
    pub(crate) name: OsString,
    pub(crate) directory: Option<Node>,
    pub(crate) flat: Option<Node>,
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// What should stand there: a directory, or a regular file.
    Real,
    /// A symbolic link, which nothing here follows.
    Link,
    /// Something else, such as a FIFO.
    Odd,
}

impl Candidate {
    /// The session's name.
    ///
    /// # Errors
    /// Why the name is none.
    pub(crate) fn session_name(&self) -> Result<SessionName, NameFault> {
        let name = self.name.to_str().ok_or(NameFault::NotUtf8)?;
        SessionName::new(name).map_err(|error| NameFault::Rule(error.rule))
    }

    /// What a person is shown: the name, or all of the file's name, escaped.
    pub(crate) fn shown(&self) -> String {
        match self.session_name() {
            Ok(name) => name.to_string(),
            Err(_) => escaped(&self.file_name()),
        }
    }

    /// Whether there is a directory and no flat file beside it.
    pub(crate) fn is_plain(&self) -> bool {
        self.directory == Some(Node::Real) && self.flat.is_none()
    }

    /// Where the session's directory is, if there is one. A flat file's name may end up as `..`, which is none.
    pub(crate) fn paths(&self, base: &Path) -> Option<SessionPaths> {
        (self.directory == Some(Node::Real)).then(|| SessionPaths::new(base.join(&self.name)))
    }

    /// The name under the store's directory: the directory's, or else the flat file's.
    pub(crate) fn file_name(&self) -> OsString {
        let mut name = self.name.clone();
        if self.directory.is_none() {
            name.push(layout::FLAT_SUFFIX);
        }
        name
    }
}

/// Why the name of a directory or file is no session name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// It is not UTF-8.
    #[error("its name is not UTF-8")]
    NotUtf8,
    /// It breaks a rule.
    #[error("its name is no session name: {0}")]
    Rule(NameRule),
}

/// Every candidate, by name. A directory that does not exist holds none.
///
/// A hidden directory counts where it holds a history, as it does for the reference; the store's own does not.
///
/// # Errors
/// [`StoreError::NotADirectory`], or what reading the directory reports.
pub(crate) fn candidates(base: &Path) -> Result<Vec<Candidate>> {
    let entries = match fs::read_dir(base) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(StoreError::NotADirectory { path: base.to_owned() });
        }
        Err(source) => return Err(StoreError::read(base)(source)),
    };
    let mut found = BTreeMap::new();
    for entry in entries {
        let entry = entry.map_err(StoreError::read(base))?;
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            // It was removed between two looks.
            Err(error) if is_absent(&error) => continue,
            Err(source) => return Err(StoreError::read(&entry.path())(source)),
        };
        sort_in(&mut found, &entry, kind);
    }
    Ok(found.into_values().collect())
}

fn sort_in(found: &mut BTreeMap<OsString, Candidate>, entry: &DirEntry, kind: FileType) {
    let file_name = entry.file_name();
    let is_hidden = file_name.as_bytes().starts_with(b".");
    let is_directory = if kind.is_dir() {
        let is_session = !is_hidden || entry.path().join(layout::HISTORY).symlink_metadata().is_ok();
        is_session && file_name != layout::STORE
    } else {
        // A link to anything but a directory was never meant to be a session.
        kind.is_symlink() && !is_hidden && entry.path().is_dir()
    };
    let node = match () {
        () if kind.is_symlink() => Node::Link,
        () if kind.is_dir() || kind.is_file() => Node::Real,
        () => Node::Odd,
    };
    match stem(&file_name) {
        Some(stem) if !kind.is_dir() => at(found, stem).flat = Some(node),
        _ if is_directory => at(found, file_name).directory = Some(node),
        _ => {}
    }
}

fn at(found: &mut BTreeMap<OsString, Candidate>, name: OsString) -> &mut Candidate {
    found.entry(name).or_insert_with_key(|name| Candidate { name: name.clone(), directory: None, flat: None })
}

/// A flat file's name without its ending.
fn stem(file_name: &OsStr) -> Option<OsString> {
    let stem = file_name.as_bytes().strip_suffix(layout::FLAT_SUFFIX.as_bytes())?;
    Some(OsString::from_vec(stem.to_vec()))
}

/// The one candidate with this name.
///
/// # Errors
/// What looking reports.
pub(crate) fn candidate(base: &Path, name: &SessionName) -> Result<Option<Candidate>> {
    let look = |path: &Path, should: fn(&FileType) -> bool| match path.symlink_metadata() {
        Ok(metadata) if should(&metadata.file_type()) => Ok(Some(Node::Real)),
        Ok(metadata) if metadata.is_symlink() => Ok(Some(Node::Link)),
        Ok(_) => Ok(Some(Node::Odd)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(StoreError::read(path)(source)),
    };
    let name: OsString = name.as_str().into();
    let directory = look(&base.join(&name), FileType::is_dir)?.filter(|node| *node != Node::Odd);
    let flat = look(&flat_path(base, &name), FileType::is_file)?;
    // A directory whose name ends as a flat file's does is a session of its own.
    let flat = flat.filter(|node| *node != Node::Odd || !flat_path(base, &name).is_dir());
    Ok((directory.is_some() || flat.is_some()).then_some(Candidate { name, directory, flat }))
}
