//! Making a bundle: first everything is looked at and digested, then it is written.

use super::BundleSecrets;
use super::archive::{MemberKind, write_end, write_header, write_padding};
use super::digest::Digest;
use super::even::Even;
use super::look::{Look, Part, look};
use super::manifest::{Listed, ListedSession, MANIFEST, Manifest, SCHEMA, member};
use super::mask::{finder, stream};
use crate::inner_files::LeftOut;
use crate::{Result, SessionPaths, Store, StoreError, meta};
use session_core::checkpoint::Checkpointer;
use session_core::{SessionName, layout};
use session_secrets::Finder;
use std::io::{self, Write};
use zstd::stream::write::Encoder;

/// How hard the compressor tries. Another level makes other bytes of the same sessions.
const LEVEL: i32 = 3;

/// A bundle that is being made: the sessions as they were when each was added.
pub struct BundlePlan<'a> {
    store: &'a Store,
    secrets: BundleSecrets,
    sessions: Vec<Planned>,
}

/// A session of a bundle that is being made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundledSession {
    /// Its name.
    pub name: SessionName,
    /// How many members it has in the bundle.
    pub members: u64,
    /// How many bytes they have, unpacked.
    pub bytes: u64,
    /// At how many places a secret was masked.
    pub masked: u64,
    /// The session that goes on with it; empty where none does.
    pub succeeded_by: String,
    /// What does not go along, though nothing says that it should not.
    pub left_out: Vec<LeftOut>,
    /// Whether a rewind was interrupted, or runs. The copy knows nothing of it.
    pub rewinds: bool,
}

struct Planned {
    told: BundledSession,
    paths: SessionPaths,
    look: Look,
    finder: Option<Finder>,
    listed: Vec<Listed>,
}

impl<'a> BundlePlan<'a> {
    pub(super) fn new(store: &'a Store, secrets: BundleSecrets) -> Self {
        BundlePlan { store, secrets, sessions: Vec::new() }
    }

    /// Adds a session as it stands now, and tells what of it goes along. Links to successors are not followed. A session
    /// that is a flat file is migrated, as by opening it. `progress` is told how many bytes were read.
    ///
    /// No lock is taken. A session whose turn runs is taken as it is at one moment: the history up to its last whole line,
    /// and what belongs to it. Where secrets are masked, `checkpoints` are looked through, which are never masked.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::KeepsChanging`]; [`StoreError::NotMasked`] and
    /// [`StoreError::SecretInCheckpoint`]; failed reads. The plan is as it was.
    pub fn add(
        &mut self,
        name: &SessionName,
        checkpoints: Option<&dyn Checkpointer>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<&BundledSession> {
        let paths = self.store.ready(name)?;
        let limits = self.store.options().limits;
        let look = look(&paths, limits)?;
        let finder = match self.secrets {
            BundleSecrets::Mask => Some(finder(&paths, &look, checkpoints, progress)?),
            BundleSecrets::Keep => None,
        };
        let told = BundledSession {
            name: name.clone(),
            members: look.parts.len() as u64,
            bytes: 0,
            masked: 0,
            succeeded_by: meta::read(&paths, name.as_str(), limits)?.meta.succeeded_by,
            left_out: look.left_out.clone(),
            rewinds: paths.dir().join(layout::REWIND).symlink_metadata().is_ok(),
        };
        let mut planned = Planned { told, paths, look, finder, listed: Vec::new() };
        planned.digest(progress)?;
        self.sessions.retain(|planned| planned.told.name != *name);
        self.sessions.push(planned);
        Ok(&self.sessions[self.sessions.len() - 1].told)
    }

    /// What was added, in that order.
    pub fn sessions(&self) -> impl Iterator<Item = &BundledSession> {
        self.sessions.iter().map(|planned| &planned.told)
    }

    /// Writes the bundle. The same sessions make the same bytes, in whatever order they were added. `progress` is told how
    /// many bytes were read.
    ///
    /// # Errors
    /// [`StoreError::BundleOutput`]; [`StoreError::KeepsChanging`] for a file that is not any more what it was when its
    /// session was added; failed reads. What was written then is no bundle.
    pub fn write(&self, out: impl Write, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let mut sessions: Vec<&Planned> = self.sessions.iter().collect();
        sessions.sort_by(|a, b| a.told.name.cmp(&b.told.name));
        let mut encoder = Encoder::new(out, LEVEL).map_err(output)?;
        encoder.include_checksum(true).map_err(output)?;
        let mut out = Even::new(encoder);
        let manifest = self.manifest(&sessions).encode();
        let len = manifest.len() as u64;
        write_header(&mut out, MANIFEST, MemberKind::File, len).map_err(output)?;
        out.write_all(&manifest).and_then(|()| write_padding(&mut out, len)).map_err(output)?;
        for planned in sessions {
            planned.write(&mut out, progress)?;
        }
        write_end(&mut out).map_err(output)?;
        let mut out = out.end().and_then(Encoder::finish).map_err(output)?;
        out.flush().map_err(output)
    }

    fn manifest(&self, sessions: &[&Planned]) -> Manifest {
        let listed =
            |planned: &&Planned| ListedSession { name: planned.told.name.to_string(), members: planned.listed.clone() };
        Manifest {
            schema: SCHEMA.to_owned(),
            masked: self.secrets == BundleSecrets::Mask,
            sessions: sessions.iter().map(listed).collect(),
        }
    }
}

fn output(source: io::Error) -> StoreError {
    StoreError::BundleOutput { source }
}

impl Planned {
    /// Reads all parts, and takes down what the manifest says of them.
    fn digest(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        for (path, part) in &self.look.parts {
            let mut listed = Listed { path: path.to_string(), bytes: 0, sha256: String::new() };
            if !matches!(part, Part::Dir) {
                let mut digest = Digest::new();
                self.told.masked +=
                    stream(&self.paths, (path, part), &self.look.history, self.finder.as_ref(), &mut |bytes| {
                        digest.update(bytes);
                        listed.bytes += bytes.len() as u64;
                        progress(bytes.len() as u64);
                        Ok(())
                    })?;
                listed.sha256 = digest.hex();
            }
            self.told.bytes += listed.bytes;
            self.listed.push(listed);
        }
        Ok(())
    }

    fn write(&self, out: &mut dyn Write, progress: &mut dyn FnMut(u64)) -> Result<()> {
        for ((path, part), listed) in self.look.parts.iter().zip(&self.listed) {
            let name = member(&self.told.name, path.as_str());
            let kind = if listed.is_dir() { MemberKind::Dir } else { MemberKind::File };
            write_header(out, &name, kind, listed.bytes).map_err(output)?;
            if listed.is_dir() {
                continue;
            }
            let changed = || StoreError::KeepsChanging { path: self.paths.dir().join(path) };
            let (mut digest, mut written) = (Digest::new(), 0);
            stream(&self.paths, (path, part), &self.look.history, self.finder.as_ref(), &mut |bytes| {
                written += bytes.len() as u64;
                // More than its header says would be taken for the next one.
                if written > listed.bytes {
                    return Err(changed());
                }
                digest.update(bytes);
                progress(bytes.len() as u64);
                out.write_all(bytes).map_err(output)
            })?;
            if digest.hex() != listed.sha256 {
                return Err(changed());
            }
            write_padding(out, listed.bytes).map_err(output)?;
        }
        Ok(())
    }
}
