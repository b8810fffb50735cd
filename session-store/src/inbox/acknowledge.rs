//! What becomes of a message that was taken: it is recorded, or waits again.

use super::claims::{ClaimName, name_of};
use super::drain::was_there;
use super::entry::names;
use super::{Inbox, NAMES};
use crate::{Result, StoreError};
use session_core::layout::CLAIMS;
use session_disk::{publish, remove_file};
use std::ffi::{OsStr, OsString};
use std::io;

impl Inbox {
    /// Removes messages that the history has recorded. One call for many costs little more than one for one.
    ///
    /// On disk when it returns: the files are gone. That is not synced: a message that comes back after a power cut is
    /// found in the history.
    ///
    /// # Errors
    /// [`StoreError::NoSuchClaim`] for an id that names no claimed message, after all others were removed;
    /// [`StoreError::Disk`].
    pub fn acknowledge<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let (dir, claims) = (self.claims()?, self.claim_names()?);
        let mut missing = None;
        for id in ids {
            let claim = find(&claims, id);
            let removed = match claim {
                Some(claim) => was_there(remove_file(&dir.join(claim.to_string())))?,
                None => false,
            };
            if !removed {
                missing.get_or_insert(id);
            }
        }
        missing.map_or(Ok(()), |id| Err(self.no_such_claim(id)))
    }

    /// Lets claimed messages wait again, for a caller that cannot record them after all.
    ///
    /// On disk when it returns: the messages, in the inbox; synced with the durability of data.
    ///
    /// # Errors
    /// [`StoreError::NoSuchClaim`] for an id that names no claimed message, after all others were given back;
    /// [`StoreError::Disk`].
    pub fn release<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let claims = self.claim_names()?;
        let mut missing = None;
        for id in ids {
            match find(&claims, id).map_or_else(|| Err(self.no_such_claim(id)), |claim| self.give_back(claim)) {
                Err(error @ StoreError::NoSuchClaim { .. }) => missing = missing.or(Some(error)),
                given_back => given_back?,
            }
        }
        self.sync_dir(&self.dir()?)?;
        self.sync_dir(&self.claims()?)?;
        missing.map_or(Ok(()), Err)
    }

    pub(super) fn give_back(&self, claim: &ClaimName) -> Result<()> {
        let (from, dir) = (self.claims()?.join(claim.to_string()), self.dir()?);
        let mut name = name_of(&claim.id).to_owned();
        for _ in 0..NAMES {
            match publish(&from, &dir.join(&name)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    // It has waited longest: it comes first.
                    name = super::delivered_name(Some(0)).into();
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(self.no_such_claim(&claim.id)),
                given_back => return Ok(given_back?),
            }
        }
        Err(self.no_such_claim(&claim.id))
    }

    fn no_such_claim(&self, id: &str) -> StoreError {
        StoreError::NoSuchClaim { id: id.to_owned(), path: self.paths.inbox().join(CLAIMS) }
    }

    /// The claims, by id.
    pub(super) fn claim_names(&self) -> Result<Vec<ClaimName>> {
        let names = names(&self.claims()?)?;
        let mut claims: Vec<ClaimName> =
            names.iter().map(OsString::as_os_str).filter_map(|name: &OsStr| ClaimName::parse(name)).collect();
        claims.sort();
        Ok(claims)
    }
}

fn find<'a>(sorted: &'a [ClaimName], id: &str) -> Option<&'a ClaimName> {
    let at = sorted.binary_search_by(|claim| claim.id.as_str().cmp(id)).ok()?;
    Some(&sorted[at])
}
