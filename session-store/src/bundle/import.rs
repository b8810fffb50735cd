//! Bringing in what a bundle holds: all of it, or nothing.

use super::imported::ImportedFromBundle;
use super::manifest::CheckedSession;
use super::place::place;
use super::read::{Content, Reading, Visitor, refused};
use super::{BundleFault, BundleLimits};
use crate::staging::Staged;
use crate::{ImportOrigin, Result, Store};
use session_core::{Belongs, SessionName, SessionPath, layout};
use session_disk::{DiskError, create_dir_all, create_new, replace, write};
use session_proc::ProcessFile;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

const BUFFER: usize = 128 << 10;
/// What is known of a process is shorter.
const MAX_PROCESS_BYTES: u64 = 32 << 20;

/// How a bundle comes in.
#[derive(Debug, Clone, Copy)]
pub struct BundleImport<'a> {
    /// What the bundle is called, in errors and where it is noted where a session came from.
    pub file: &'a Path,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: &'a str,
    /// How much it may ask for.
    pub limits: BundleLimits,
    /// The name of the session, where there is one only.
    pub name: Option<&'a SessionName>,
}

impl Store {
    /// Brings in the sessions of a bundle. A session whose name is taken gets another one, and those of the bundle that
    /// name it follow. One that came in with the same bundle before is left alone, whatever has become of it.
    ///
    /// The bundle should have been examined: then what is wrong with it is known before anything is written.
    ///
    /// On disk when it returns: the sessions, each whole, synced as the durability says. After an error there is none of
    /// them. After a death there is none, or some, each of them whole; repeating it brings in the others.
    ///
    /// # Errors
    /// [`crate::StoreError::Bundle`]; [`crate::StoreError::Exists`] where the name that was wished for is taken; the step
    /// that failed.
    pub fn import_bundle(&self, import: &BundleImport<'_>, reader: impl Read) -> Result<Vec<ImportedFromBundle>> {
        let (reading, manifest) = Reading::begin(import.file, reader, &import.limits)?;
        let known = self.known_of(import)?;
        let mut unpacking = Unpacking { store: self, file: import.file, known: &known, sessions: Vec::new() };
        reading.through(&manifest, &mut unpacking)?;
        let mut newcomers = Vec::new();
        for (place, session) in unpacking.sessions.into_iter().enumerate() {
            let Newcomer { was, staged, dirs } = session;
            let Some(staged) = staged else { continue };
            let (origin, durability) = (import.origin(place, &was), self.options().durability);
            replace(&staged.paths().dir().join(layout::BUNDLE), &origin.to_json(), durability)?;
            dirs.iter().rev().try_for_each(|dir| durability.sync_dir(dir))?;
            newcomers.push((place, staged));
        }
        let was: Vec<SessionName> = manifest.sessions.iter().map(|session| session.name.clone()).collect();
        place(self, &was, &known, newcomers, import.name)
    }

    /// Which sessions of a bundle came in before, by their places in it.
    fn known_of(&self, import: &BundleImport<'_>) -> Result<BTreeMap<usize, SessionName>> {
        let mut known = BTreeMap::new();
        for (name, origin) in self.imports()? {
            let place = usize::try_from(origin.index).unwrap_or(usize::MAX);
            if origin.is_same(&import.origin(place, &name)) {
                known.entry(place).or_insert(name);
            }
        }
        Ok(known)
    }
}

impl BundleImport<'_> {
    fn origin(&self, place: usize, name: &SessionName) -> ImportOrigin {
        ImportOrigin {
            source: self.file.display().to_string(),
            sha256: self.sha256.to_owned(),
            index: place as u64,
            format: ImportOrigin::BUNDLE.to_owned(),
            id: name.to_string(),
            ..ImportOrigin::default()
        }
    }
}

/// A bundle that is unpacked into staging.
struct Unpacking<'a> {
    store: &'a Store,
    file: &'a Path,
    known: &'a BTreeMap<usize, SessionName>,
    sessions: Vec<Newcomer<'a>>,
}

/// A session of it.
struct Newcomer<'a> {
    /// Its name in the bundle.
    was: SessionName,
    /// `None`: it came in before.
    staged: Option<Staged<'a>>,
    /// The directories that have something in them.
    dirs: BTreeSet<PathBuf>,
}

impl Newcomer<'_> {
    /// Makes a directory, with those above it.
    fn make_dir(&mut self, dir: &Path) -> Result<()> {
        if self.dirs.contains(dir) {
            return Ok(());
        }
        create_dir_all(dir)?;
        let session = self.staged.as_ref().map(|staged| staged.paths().dir());
        let inside = dir.ancestors().take_while(|dir| session.is_some_and(|session| dir.starts_with(session)));
        self.dirs.extend(inside.map(Path::to_owned));
        Ok(())
    }
}

impl Visitor for Unpacking<'_> {
    fn session(&mut self, session: &CheckedSession) -> Result<()> {
        let was = session.name.clone();
        let is_known = self.known.contains_key(&self.sessions.len());
        let staged = if is_known { None } else { Some(Staged::unclaimed(self.store, was.clone())?) };
        self.sessions.push(Newcomer { was, staged, dirs: BTreeSet::new() });
        Ok(())
    }

    fn dir(&mut self, path: &SessionPath) -> Result<()> {
        let Some((session, dir)) = self.at() else { return Ok(()) };
        session.make_dir(&dir.join(path))
    }

    fn file(&mut self, path: &SessionPath, content: &mut Content<'_>) -> Result<()> {
        let (bundle, durability) = (self.file, self.store.options().durability);
        let Some((session, dir)) = self.at() else { return Ok(()) };
        let here = dir.join(path);
        session.make_dir(here.parent().unwrap_or(&dir))?;
        let file = create_new(&here)?;
        let looked_at = refuse_process(path, content, bundle)?;
        write(&file, &here, &looked_at).map_err(DiskError::from)?;
        let mut buffer = vec![0; BUFFER];
        loop {
            match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => write(&file, &here, &buffer[..read]).map_err(DiskError::from)?,
                Err(error) => return Err(refused(bundle, None, BundleFault::of(error))),
            }
        }
        Ok(durability.sync_data(&file, &here)?)
    }
}

impl<'a> Unpacking<'a> {
    /// The session that was begun last, unless it came in before, and its directory.
    fn at(&mut self) -> Option<(&mut Newcomer<'a>, PathBuf)> {
        let session = self.sessions.last_mut()?;
        let dir = session.staged.as_ref()?.paths().dir().to_owned();
        Some((session, dir))
    }
}

/// Reads a file that says something of a process, and refuses it where it leads to one. Of every other nothing is read.
pub(super) fn refuse_process(path: &SessionPath, content: &mut Content<'_>, file: &Path) -> Result<Vec<u8>> {
    if path.belongs() != Belongs::Process {
        return Ok(Vec::new());
    }
    let failed = |fault| refused(file, None, fault);
    let known = ProcessFile::of(Path::new(path.as_str()).file_name().unwrap_or(OsStr::new("")));
    let known = known.filter(|_| content.left() <= MAX_PROCESS_BYTES).ok_or_else(|| failed(BundleFault::Process))?;
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes).map_err(|error| failed(BundleFault::of(error)))?;
    if known.is_portable(&bytes) { Ok(bytes) } else { Err(failed(BundleFault::Process)) }
}
