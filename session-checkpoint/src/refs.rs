//! References: one file each, created whole, never moved except the head.
//!
//! They are read here and not by the git library, because a reference that a power cut left empty must be listed as
//! broken and not end the listing; and written here, because a turn must be create-only and synced.

use crate::error::reading;
use crate::layout::Layout;
use crate::{Error, Oid, stored};
use session_disk::Durability;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The branch whose history is the chain of turns.
pub(crate) const HEAD: &str = "refs/heads/turns";
/// What `git pack-refs` or `git gc` puts into one file.
const PACKED: &str = "packed-refs";
const TURN_DIR: &str = "refs/tags";
const TURN_PREFIX: &str = "turn-";
const SAFETY_DIR: &str = "refs/checkpoint/safety";

/// A family of numbered references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Turn,
    Safety,
}

impl Family {
    pub(crate) fn name(self, n: u32) -> String {
        match self {
            Family::Turn => format!("{TURN_DIR}/{TURN_PREFIX}{n}"),
            Family::Safety => format!("{SAFETY_DIR}/{n}"),
        }
    }

    fn number(self, name: &str) -> Option<u32> {
        let digits = match self {
            Family::Turn => name.strip_prefix(TURN_DIR)?.strip_prefix('/')?.strip_prefix(TURN_PREFIX)?,
            Family::Safety => name.strip_prefix(SAFETY_DIR)?.strip_prefix('/')?,
        };
        // The reference counts turns from 0; safety snapshots are ours alone.
        let is_zero = digits == "0" && self == Family::Turn;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (is_zero || !digits.starts_with('0'));
        plain.then(|| digits.parse().ok()).flatten()
    }

    fn dir(self) -> &'static str {
        match self {
            Family::Turn => TURN_DIR,
            Family::Safety => SAFETY_DIR,
        }
    }
}

/// What a reference holds: an id, or nothing that can be read.
pub(crate) type Target = Option<Oid>;

/// The references of one repository.
#[derive(Debug, Clone)]
pub(crate) struct Refs {
    repo: PathBuf,
}

impl Refs {
    pub(crate) fn new(repo: &Path) -> Self {
        Refs { repo: repo.to_owned() }
    }

    pub(crate) fn of(layout: &Layout) -> Self {
        Refs::new(&layout.repo)
    }

    /// The file of a reference that is not packed.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.repo.join(name)
    }

    /// All references of a family, broken ones included, in the order of their numbers.
    pub(crate) fn list(&self, family: Family) -> Result<BTreeMap<u32, Target>, Error> {
        let mut found: BTreeMap<u32, Target> =
            self.packed()?.into_iter().filter_map(|(name, oid)| Some((family.number(&name)?, Some(oid)))).collect();
        let dir = self.repo.join(family.dir());
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(reading(&dir)(error)),
        };
        for entry in entries {
            let name = entry.map_err(reading(&dir))?.file_name();
            let number = name.to_str().and_then(|name| family.number(&format!("{}/{name}", family.dir())));
            if let Some(number) = number {
                found.insert(number, self.loose(&dir.join(&name))?.flatten());
            }
        }
        Ok(found)
    }

    /// The highest number in a family, by the names alone; 0 where there is none.
    pub(crate) fn last(&self, family: Family) -> Result<u32, Error> {
        let packed = self.packed()?.into_iter().filter_map(|(name, _)| family.number(&name)).max().unwrap_or(0);
        let names = crate::listing::names(&self.repo.join(family.dir()))?;
        let loose = names.iter().filter_map(|name| family.number(&format!("{}/{name}", family.dir()))).max();
        Ok(packed.max(loose.unwrap_or(0)))
    }

    /// One reference: `None` where it does not exist, `Some(None)` where it is broken.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Target>, Error> {
        match self.loose(&self.repo.join(name))? {
            Some(target) => Ok(Some(target)),
            None => Ok(self.packed()?.into_iter().find(|(packed, _)| packed == name).map(|(_, oid)| Some(oid))),
        }
    }

    fn loose(&self, path: &Path) -> Result<Option<Target>, Error> {
        let target = |bytes: &[u8]| Oid::from_hex(std::str::from_utf8(bytes).ok()?.trim());
        Ok(stored::read(path)?.map(|bytes| target(&bytes)))
    }

    /// Those that git has packed.
    fn packed(&self) -> Result<Vec<(String, Oid)>, Error> {
        let bytes = stored::read(&self.repo.join(PACKED))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let line = |line: &str| {
            let (oid, name) = line.split_once(' ')?;
            Some((name.to_owned(), Oid::from_hex(oid)?))
        };
        Ok(text.lines().filter_map(line).collect())
    }

    /// Creates a reference that must not exist. On disk when it returns: the reference, synced as `durability` says; after
    /// an error none, unless it was there before or cannot be taken back.
    pub(crate) fn create(&self, name: &str, oid: Oid, durability: Durability) -> Result<(), Error> {
        let path = self.repo.join(name);
        session_disk::create_dir_all(path.parent().expect("a reference has a directory"))?;
        session_disk::create(&path, format!("{oid}\n").as_bytes(), durability).map_err(|error| {
            if error.kind() != io::ErrorKind::AlreadyExists {
                // It may have its name, and not be synced. The first error is the one to tell.
                drop(session_disk::remove_file(&path));
            }
            error.into()
        })
    }

    /// Points a reference at a commit, whatever it pointed at before.
    pub(crate) fn set(&self, name: &str, oid: Oid, durability: Durability) -> Result<(), Error> {
        let path = self.repo.join(name);
        session_disk::create_dir_all(path.parent().expect("a reference has a directory"))?;
        Ok(session_disk::replace(&path, format!("{oid}\n").as_bytes(), durability)?)
    }

    /// Gives a repository that has no references all that it is to have, in the form in which git packs them: one file,
    /// however many they are. On disk when it returns: that file, synced.
    pub(crate) fn fill(&self, refs: &BTreeMap<String, Oid>) -> Result<(), Error> {
        let lines: String = refs.iter().map(|(name, oid)| format!("{oid} {name}\n")).collect();
        Ok(session_disk::replace(&self.repo.join(PACKED), lines.as_bytes(), Durability::Data)?)
    }

    /// Removes references, packed or loose. Those that do not exist are no error.
    pub(crate) fn remove(&self, names: &[String]) -> Result<(), Error> {
        let path = self.repo.join(PACKED);
        let bytes = stored::read(&path)?.unwrap_or_default();
        let packed = String::from_utf8(bytes).map_err(|_| Error::Damaged { path: path.clone() })?;
        let goes = |line: &&str| line.split_once(' ').is_some_and(|(_, name)| names.iter().any(|gone| gone == name));
        if packed.lines().any(|line| goes(&line)) {
            let rest: String = packed.lines().filter(|line| !goes(line)).flat_map(|line| [line, "\n"]).collect();
            session_disk::replace(&path, rest.as_bytes(), Durability::Data)?;
        }
        for name in names {
            session_disk::remove_file_if_there(&self.repo.join(name))?;
        }
        Ok(())
    }
}
