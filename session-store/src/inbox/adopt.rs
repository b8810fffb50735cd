//! Messages that were left behind in a session that another goes on with.

use super::Inbox;
use super::claims::Lives;
use super::drain::was_there;
use super::entry::names;
use crate::Result;
use session_core::layout::{CLAIMS, INBOX};
use session_disk::{publish, rename};
use std::collections::BTreeSet;
use std::io;

impl Inbox {
    /// Takes the messages of a session that this one goes on with: those that wait there, and those whose taker died
    /// before it recorded them. `recorded` says which ids that session's history has.
    ///
    /// On disk when it returns: the files, under the same names, in this inbox; with the durability of data the
    /// directories are synced. Each is moved in one step, so that a crash leaves none in both.
    pub(crate) fn adopt(
        &self,
        from: &Inbox,
        recorded: impl FnOnce(&BTreeSet<String>) -> Result<BTreeSet<String>>,
    ) -> Result<()> {
        let waiting = names(&from.dir()?)?;
        let mut lives = Lives::default();
        let mut orphans = Vec::new();
        for claim in from.claim_names()? {
            if !lives.owner_of(&claim)? {
                orphans.push(claim);
            }
        }
        if waiting.is_empty() && orphans.is_empty() {
            return Ok(());
        }
        let (source, inbox) = (from.dir()?, self.make_dir(&[INBOX])?);
        if !orphans.is_empty() {
            let recorded = recorded(&orphans.iter().map(|claim| claim.id.clone()).collect())?;
            let (source, claims) = (from.claims()?, self.make_dir(&[INBOX, CLAIMS])?);
            for orphan in orphans.iter().filter(|orphan| !recorded.contains(&orphan.id)) {
                let name = orphan.to_string();
                was_there(rename(&source.join(&name), &claims.join(&name)))?;
            }
            self.sync_dir(&claims)?;
        }
        for name in waiting {
            let path = source.join(&name);
            if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            match publish(&path, &inbox.join(&name)) {
                // A file that was dropped by hand under a name that is taken here: it comes with the next call.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                moved => drop(was_there(moved)?),
            }
        }
        self.sync_dir(&inbox)?;
        Ok(from.sync_dir(&source)?)
    }
}
