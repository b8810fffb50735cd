//! Reading metadata, whatever state its files are in. Nothing is written.

use super::MetaDamage;
use super::merge::{hide_known, merge};
use super::rebuild::{Facts, facts};
use crate::stamp::age;
use crate::{Result, SessionPaths, StoreError};
use session_core::{Limits, Meta};
use session_disk::read_regular;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long a file that is not whole is looked at again.
const PATIENCE: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(4);
/// A file that is not whole and older than this is not being written: it is corrupt.
const SETTLED: Duration = Duration::from_secs(5);
/// The largest metadata file that is read.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// A session's metadata, and where it was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MetaReading {
    /// The metadata. Its name is the directory's where the file has none.
    pub meta: Meta,
    /// Where it was found.
    pub source: MetaSource,
    /// What is wrong with `meta.json`, if anything is.
    pub damage: Option<MetaDamage>,
}

/// Where metadata was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaSource {
    /// In `meta.json`, merged with our copy.
    File,
    /// In our copy, `.meta.json`.
    Copy,
    /// In the history: what it says of first prompt, times, title and so on.
    History,
    /// Nowhere: only the name is known.
    Nothing,
}

/// The files as they were found.
pub(super) struct Found {
    pub(super) reading: MetaReading,
    /// What `meta.json` holds, if it is whole.
    pub(super) file: Option<Meta>,
    /// What somebody wrote to it before and we replaced without having seen it.
    pub(super) missed: Option<Meta>,
    /// What the copy holds, known values included, if it is whole.
    pub(super) copy: Option<Meta>,
    /// Whether a copy is there that is not whole.
    pub(super) copy_is_bad: bool,
    /// The bytes of `meta.json`, if they could be read.
    pub(super) bytes: Option<Vec<u8>>,
}

/// Reads the metadata of the session at `paths`; `name` is its directory's.
///
/// # Errors
/// [`StoreError::Read`] where the session's files cannot even be looked at. Content is never an error.
pub(crate) fn read(paths: &SessionPaths, name: &str, limits: Limits) -> Result<MetaReading> {
    find(paths, name, limits, None).map(|found| found.reading)
}

/// `missed` is what somebody wrote to `meta.json` and we replaced without having seen it: it counts like what stands
/// there now, which may be newer.
pub(super) fn find(paths: &SessionPaths, name: &str, limits: Limits, missed: Option<&Meta>) -> Result<Found> {
    let (look, bytes) = look_patiently(&paths.meta())?;
    let (copy, copy_is_bad) = match look_once(&paths.meta_copy())?.0 {
        Look::Whole(copy) => (Some(*copy), false),
        Look::Missing => (None, false),
        Look::Bad(_) => (None, true),
    };
    let (file, damage) = match look {
        Look::Whole(file) => (Some(*file), None),
        Look::Missing => (None, None),
        Look::Bad(damage) => (None, Some(damage)),
    };
    let others: Vec<&Meta> = missed.into_iter().chain(&file).collect();
    let (mut meta, source) = match (&copy, others.last()) {
        (Some(copy), Some(_)) => (merge(copy, &others), MetaSource::File),
        (None, Some(newest)) => ((*newest).clone(), MetaSource::File),
        (copy, None) => fallback(paths, copy.as_ref(), damage.is_some(), limits)?,
    };
    hide_known(&mut meta);
    if meta.name.is_empty() {
        name.clone_into(&mut meta.name);
    }
    let reading = MetaReading { meta, source, damage };
    Ok(Found { reading, file, missed: missed.cloned(), copy, copy_is_bad, bytes })
}

/// What is known without `meta.json`: the copy, and the history where the file is there and says nothing.
fn fallback(paths: &SessionPaths, copy: Option<&Meta>, damaged: bool, limits: Limits) -> Result<(Meta, MetaSource)> {
    let history = || -> Result<Option<Facts>> { facts(&paths.history(), limits) };
    match copy {
        Some(copy) if damaged => {
            let mut meta = copy.clone();
            history()?.iter().for_each(|facts| facts.complete(&mut meta));
            Ok((meta, MetaSource::Copy))
        }
        Some(copy) => Ok((copy.clone(), MetaSource::Copy)),
        None => Ok(match history()? {
            Some(facts) => (facts.into_meta(), MetaSource::History),
            None => (Meta::default(), MetaSource::Nothing),
        }),
    }
}

/// What a metadata file holds.
pub(super) enum Look {
    Whole(Box<Meta>),
    Missing,
    Bad(MetaDamage),
}

/// Looks again at a file that is not whole while it may be in somebody's hands.
pub(super) fn look_patiently(path: &Path) -> Result<(Look, Option<Vec<u8>>)> {
    let start = Instant::now();
    loop {
        let (look, bytes) = look_once(path)?;
        let may_be_written = match &look {
            Look::Whole(_) | Look::Missing | Look::Bad(MetaDamage::Unreadable { .. }) => false,
            Look::Bad(MetaDamage::Empty | MetaDamage::Content(_)) => !is_settled(path),
        };
        if !may_be_written || start.elapsed() >= PATIENCE {
            return Ok((look, bytes));
        }
        thread::sleep(PAUSE);
    }
}

/// Whether nobody has written the file lately. A time in the future says nothing.
fn is_settled(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| age(&metadata).is_ok_and(|age| age > SETTLED))
}

fn look_once(path: &Path) -> Result<(Look, Option<Vec<u8>>)> {
    let error = match read_regular(path, MAX_BYTES) {
        Ok((bytes, _)) => {
            let look = match Meta::parse(&bytes) {
                Ok(meta) => Look::Whole(Box::new(meta)),
                Err(_) if bytes.is_empty() => Look::Bad(MetaDamage::Empty),
                Err(fault) => Look::Bad(MetaDamage::Content(fault)),
            };
            return Ok((look, Some(bytes)));
        }
        Err(error) => error,
    };
    match path.symlink_metadata() {
        Err(gone) if gone.kind() == io::ErrorKind::NotFound => Ok((Look::Missing, None)),
        Ok(_) => Ok((Look::Bad(MetaDamage::Unreadable { reason: error.to_string() }), None)),
        // Not even its name can be looked up: this is about the session, not about one file.
        Err(source) => Err(StoreError::Read { path: path.to_owned(), source }),
    }
}
