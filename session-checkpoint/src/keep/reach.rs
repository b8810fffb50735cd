//! Which objects commits need.

use crate::objects::Objects;
use crate::objects::Trees as _;
use crate::point::read_commit;
use crate::tree::{Mode, parse};
use crate::{Error, Oid};
use std::collections::HashSet;

/// The objects reached so far.
#[derive(Default)]
pub(super) struct Reach {
    pub(super) seen: HashSet<Oid>,
}

impl Reach {
    /// Adds a commit with its tree; not its parents, of which each has a reference of its own. What cannot be read is
    /// kept by name, and what lies behind it is unknown: false.
    pub(super) fn add(&mut self, objects: &Objects, oid: Oid) -> Result<bool, Error> {
        if !self.seen.insert(oid) {
            return Ok(true);
        }
        match read_commit(objects, oid) {
            Ok((oid, commit)) => {
                self.seen.insert(oid);
                self.tree(objects, commit.tree)
            }
            Err(Error::MissingObject { .. } | Error::DamagedObject { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn tree(&mut self, objects: &Objects, oid: Oid) -> Result<bool, Error> {
        if !self.seen.insert(oid) {
            return Ok(true);
        }
        let bytes = match objects.tree(oid) {
            Ok(bytes) => bytes,
            Err(Error::MissingObject { .. } | Error::DamagedObject { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(entries) = parse(&bytes) else { return Ok(false) };
        let mut whole = true;
        for entry in entries {
            match entry.mode {
                Mode::Dir => whole &= self.tree(objects, entry.oid)?,
                Mode::Gitlink => {}
                Mode::File | Mode::Exec | Mode::Link => {
                    self.seen.insert(entry.oid);
                }
            }
        }
        Ok(whole)
    }
}
