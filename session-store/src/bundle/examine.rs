//! What is in a bundle, without bringing it in.

use super::BundleLimits;
use super::manifest::CheckedSession;
use super::read::{Content, Reading, Visitor, refused};
use super::{BundleFault, import::refuse_process};
use crate::{Result, meta};
use session_core::{Limits, Meta, SessionName, SessionPath, count, layout};
use std::io::{BufReader, Read};
use std::path::Path;

/// What is in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct BundleContents {
    /// Whether secrets were masked.
    pub masked: bool,
    /// Its sessions, by their names.
    pub sessions: Vec<BundledContents>,
}

/// A session in a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundledContents {
    /// Its name there.
    pub name: SessionName,
    /// How many members it has.
    pub members: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// How many live messages.
    pub messages: u64,
    /// How many other events.
    pub other_events: u64,
    /// Its title, or else its first prompt.
    pub title: String,
    /// The session that it was forked or compacted from; empty where there is none.
    pub parent: String,
    /// The session that goes on with it; empty where none does.
    pub succeeded_by: String,
}

pub(super) fn examine(
    file: &Path,
    reader: impl Read,
    limits: &BundleLimits,
    of_lines: Limits,
) -> Result<BundleContents> {
    let (reading, manifest) = Reading::begin(file, reader, limits)?;
    let mut examining = Examining { file, limits: of_lines, sessions: Vec::new() };
    reading.through(&manifest, &mut examining)?;
    Ok(BundleContents { masked: manifest.masked, sessions: examining.sessions })
}

struct Examining<'a> {
    file: &'a Path,
    limits: Limits,
    sessions: Vec<BundledContents>,
}

impl Visitor for Examining<'_> {
    fn session(&mut self, session: &CheckedSession) -> Result<()> {
        self.sessions.push(BundledContents {
            name: session.name.clone(),
            members: session.members.len() as u64,
            bytes: session.members.iter().map(|(_, listed)| listed.bytes).sum(),
            messages: 0,
            other_events: 0,
            title: String::new(),
            parent: String::new(),
            succeeded_by: String::new(),
        });
        Ok(())
    }

    fn dir(&mut self, _: &SessionPath) -> Result<()> {
        Ok(())
    }

    fn file(&mut self, path: &SessionPath, content: &mut Content<'_>) -> Result<()> {
        let failed = |error| refused(self.file, None, BundleFault::of(error));
        let Some(session) = self.sessions.last_mut() else { return Ok(()) };
        match path.as_str() {
            layout::HISTORY => {
                let counted = count(BufReader::new(content), self.limits).map_err(failed)?;
                session.messages = counted.messages;
                session.other_events = counted.events.saturating_sub(counted.messages);
            }
            layout::META | layout::META_COPY if content.left() <= meta::MAX_BYTES => {
                let mut bytes = Vec::new();
                content.read_to_end(&mut bytes).map_err(failed)?;
                // Of the two files the reference's comes last, and has what was set last.
                if let Ok(meta) = Meta::parse(&bytes) {
                    session.title = if meta.title.is_empty() { meta.first_prompt } else { meta.title };
                    session.parent = meta.parent;
                    session.succeeded_by = meta.succeeded_by;
                }
            }
            _ => drop(refuse_process(path, content, self.file)?),
        }
        Ok(())
    }
}
