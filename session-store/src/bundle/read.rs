//! Reading a bundle: everything in it is held against its manifest.

use super::archive::{Member, MemberKind, read_end, read_header, read_padding};
use super::digest::Digest;
use super::manifest::{CheckedManifest, CheckedSession, Listed, MANIFEST, MAX_MANIFEST_BYTES, Manifest, member};
use super::unpack::Unpacked;
use super::{BundleError, BundleFault, BundleLimits};
use crate::{Result, StoreError};
use session_core::SessionPath;
use std::io::{self, Read};
use std::path::Path;

/// What is done with the members of a bundle.
pub(super) trait Visitor {
    /// A session begins.
    fn session(&mut self, session: &CheckedSession) -> Result<()>;

    /// A directory of it.
    fn dir(&mut self, path: &SessionPath) -> Result<()>;

    /// A file of it. What is not read of its content is passed over.
    fn file(&mut self, path: &SessionPath, content: &mut Content<'_>) -> Result<()>;
}

/// A bundle that is being read.
pub(super) struct Reading<'a, R: Read> {
    file: &'a Path,
    archive: Unpacked<'a, R>,
    /// The member that was begun last.
    at: Option<String>,
}

impl<'a, R: Read> Reading<'a, R> {
    /// Begins a bundle, and reads its manifest. `file` is for errors.
    pub(super) fn begin(file: &'a Path, reader: R, limits: &BundleLimits) -> Result<(Self, CheckedManifest)> {
        let archive = Unpacked::new(reader, limits).map_err(|fault| refused(file, None, fault))?;
        let mut reading = Reading { file, archive, at: None };
        match reading.header()? {
            Some(Member { name, kind: MemberKind::File, len }) if name == MANIFEST => {
                if len > MAX_MANIFEST_BYTES {
                    let limit = MAX_MANIFEST_BYTES;
                    return Err(reading.refused(BundleFault::ManifestTooLong { limit }));
                }
                let mut bytes = Vec::new();
                let read = (&mut reading.archive).take(len).read_to_end(&mut bytes);
                read.map_err(|error| reading.refused(BundleFault::of(error)))?;
                if bytes.len() as u64 != len {
                    return Err(reading.refused(BundleFault::Truncated));
                }
                read_padding(&mut reading.archive, len).map_err(|fault| reading.refused(fault))?;
                let checked = Manifest::read(&bytes, limits);
                let manifest = checked.map_err(|(member, fault)| refused(file, member, fault))?;
                Ok((reading, manifest))
            }
            _ => Err(reading.refused(BundleFault::NoBundle)),
        }
    }

    /// Goes through the members. When it returns, the bundle is what its manifest says, to its last byte.
    pub(super) fn through(mut self, manifest: &CheckedManifest, visitor: &mut dyn Visitor) -> Result<()> {
        for session in &manifest.sessions {
            visitor.session(session)?;
            for (path, listed) in &session.members {
                self.expect(manifest, &member(&session.name, path.as_str()), listed)?;
                if listed.is_dir() {
                    visitor.dir(path)?;
                } else {
                    self.file(path, listed, visitor)?;
                }
            }
        }
        if let Some(found) = self.header()? {
            return Err(self.refused(unexpected(manifest, &found.name)));
        }
        self.at = None;
        let Reading { file, mut archive, .. } = self;
        let ended = read_end(&mut archive).and_then(|()| archive.end());
        ended.map_err(|fault| refused(file, None, fault))
    }

    /// Reads the header of the member that has to come now.
    fn expect(&mut self, manifest: &CheckedManifest, name: &str, listed: &Listed) -> Result<()> {
        let found = self.header()?;
        let is_to_come =
            |found: &Member| names(manifest).skip_while(|other| other != name).any(|other| other == found.name);
        match found {
            Some(found) if found.name == name => {
                let kind = if listed.is_dir() { MemberKind::Dir } else { MemberKind::File };
                let is_meant = (found.kind, found.len) == (kind, listed.bytes);
                if is_meant { Ok(()) } else { Err(self.refused(BundleFault::Mismatch)) }
            }
            Some(found) if !is_to_come(&found) => Err(self.refused(unexpected(manifest, &found.name))),
            Some(_) | None => {
                self.at = Some(name.to_owned());
                Err(self.refused(BundleFault::Missing))
            }
        }
    }

    fn header(&mut self) -> Result<Option<Member>> {
        match read_header(&mut self.archive) {
            Ok(found) => {
                self.at = found.as_ref().map(|found| found.name.clone()).or(self.at.take());
                Ok(found)
            }
            Err((name, fault)) => {
                self.at = name.or(self.at.take());
                Err(self.refused(fault))
            }
        }
    }

    fn file(&mut self, path: &SessionPath, listed: &Listed, visitor: &mut dyn Visitor) -> Result<()> {
        let mut content = Content { from: &mut self.archive, left: listed.bytes, digest: Digest::new(), fault: None };
        let visited = visitor.file(path, &mut content);
        let ended = content.end(&listed.sha256);
        // What is wrong with the bundle comes before what that has made of the visit.
        ended.map_err(|fault| self.refused(fault))?;
        visited.map_err(|error| match error {
            StoreError::Bundle(BundleError { fault, .. }) => self.refused(fault),
            error => error,
        })?;
        read_padding(&mut self.archive, listed.bytes).map_err(|fault| self.refused(fault))
    }

    fn refused(&self, fault: BundleFault) -> StoreError {
        refused(self.file, self.at.clone(), fault)
    }
}

/// What the members are called, in their order.
fn names(manifest: &CheckedManifest) -> impl Iterator<Item = String> {
    manifest
        .sessions
        .iter()
        .flat_map(|session| session.members.iter().map(|(path, _)| member(&session.name, path.as_str())))
}

/// What is wrong with a member that should not come where it does.
fn unexpected(manifest: &CheckedManifest, name: &str) -> BundleFault {
    match SessionPath::new(name) {
        Err(error) => error.into(),
        Ok(_) if names(manifest).any(|listed| listed == name) => BundleFault::Duplicate,
        Ok(_) => BundleFault::Unlisted,
    }
}

pub(super) fn refused(file: &Path, member: Option<String>, fault: BundleFault) -> StoreError {
    StoreError::Bundle(BundleError { file: file.to_owned(), member, fault })
}

/// The bytes of a member.
pub(super) struct Content<'a> {
    from: &'a mut dyn Read,
    left: u64,
    digest: Digest,
    /// What went wrong with reading.
    fault: Option<BundleFault>,
}

impl Content<'_> {
    /// How many bytes are left.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Reads what is left, and compares.
    fn end(mut self, sha256: &str) -> Result<(), BundleFault> {
        let rest = io::copy(&mut self, &mut io::sink());
        match (self.fault.take(), rest) {
            (Some(fault), _) => Err(fault),
            (None, Err(error)) => Err(BundleFault::of(error)),
            (None, Ok(_)) if self.digest.hex() == sha256 => Ok(()),
            (None, Ok(_)) => Err(BundleFault::Digest),
        }
    }
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let failed = || io::Error::other("the bundle cannot be read");
        if self.fault.is_some() {
            return Err(failed());
        }
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if wanted == 0 {
            return Ok(0);
        }
        let read = match self.from.read(&mut buffer[..wanted]) {
            Ok(0) => Err(BundleFault::Truncated),
            Ok(read) => Ok(read),
            Err(error) => Err(BundleFault::of(error)),
        };
        let read = read.map_err(|fault| {
            self.fault = Some(fault);
            failed()
        })?;
        self.digest.update(&buffer[..read]);
        self.left -= read as u64;
        Ok(read)
    }
}
