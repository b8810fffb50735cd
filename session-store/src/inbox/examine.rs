//! What has become of messages that were taken, for who looks after a session.

use super::Inbox;
use super::claims::{ClaimName, Lives};
use super::entry::names;
use crate::Result;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A file among the claims.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) path: PathBuf,
    pub(crate) state: TakenState,
}

/// What has become of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TakenState {
    /// The process that took it lives.
    InHands,
    /// That is gone, and the history has the message of this id.
    Recorded(String),
    /// That is gone, and the history does not have the message of this id.
    Abandoned(String),
    /// It is nothing that was taken.
    Stray,
}

impl Inbox {
    /// Everything that stands among the claims. `recorded` is asked at most once, with ids whose takers are gone.
    pub(crate) fn taken(
        &self,
        recorded: impl FnOnce(&BTreeSet<String>) -> Result<BTreeSet<String>>,
    ) -> Result<Vec<Taken>> {
        let (mut lives, mut orphans) = (Lives::default(), BTreeSet::new());
        let mut taken = Vec::new();
        let claims = self.claims()?;
        for name in names(&claims)? {
            let path = claims.join(&name);
            if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let state = match ClaimName::parse(&name) {
                None => TakenState::Stray,
                Some(claim) if lives.owner_of(&claim)? => TakenState::InHands,
                Some(claim) => {
                    orphans.insert(claim.id.clone());
                    TakenState::Abandoned(claim.id)
                }
            };
            taken.push(Taken { path, state });
        }
        if !orphans.is_empty() {
            let recorded = recorded(&orphans)?;
            for one in &mut taken {
                if let TakenState::Abandoned(id) = &one.state
                    && recorded.contains(id)
                {
                    one.state = TakenState::Recorded(id.clone());
                }
            }
        }
        Ok(taken)
    }
}
