//! The copy that a push begins from: as it is remembered, or as it is.

use super::super::compare::{Standing, compare, proven};
use super::super::local::Local;
use super::super::manifest::Manifest;
use super::super::objects::Version;
use super::super::state::State;
use super::super::tree::Tree;
use super::super::{RemoteError, RemoteResult, fetch, write};
use super::Push;
use crate::StoreError;

/// The copy as it is, and how what is here stands to it.
pub(super) struct Seen {
    pub(super) manifest: Manifest,
    /// `None`: there is no copy.
    pub(super) version: Option<Version>,
    pub(super) standing: Standing,
    pub(super) tree: Tree,
    /// False: it is what is remembered.
    pub(super) is_looked_at: bool,
}

impl Push<'_> {
    /// Whether the history here goes on from where the state was remembered.
    pub(super) fn continues(&self, state: &State, local: &Local) -> RemoteResult<bool> {
        let proven = state.proven(local).map_err(StoreError::read(local.path()))?;
        let is_same_kind = state.manifest.redacted == self.options.redactor.is_some();
        Ok(is_same_kind && proven == state.manifest.history.bytes)
    }

    /// The copy as it was when it was last seen or written.
    pub(super) fn as_remembered(&self, state: &State, local: &Local) -> Seen {
        let is_longer = local.bytes() > state.manifest.history.bytes;
        let (mut manifest, mut version) = (state.manifest.clone(), state.version.clone());
        // Taking the lease has written the manifest since, and nothing else in it.
        if let Some((lease, _)) = self.lease {
            let (seen, of_lease) = lease.seen().clone();
            if (&seen.history, seen.files, seen.generation) == (&manifest.history, manifest.files, manifest.generation)
            {
                (manifest, version) = (seen, of_lease);
            }
        }
        Seen {
            manifest,
            version: Some(version),
            standing: if is_longer { Standing::Ahead } else { Standing::Same },
            tree: state.tree(),
            is_looked_at: false,
        }
    }

    /// The copy as it is.
    pub(super) async fn look(&self, state: Option<&State>, local: &Local) -> RemoteResult<Seen> {
        let Some((manifest, version)) = write::manifest(&self.call, &self.name).await? else {
            let manifest = Manifest::new(&self.name, self.remote.machine(), self.remote.now());
            let manifest = Manifest { redacted: self.options.redactor.is_some(), ..manifest };
            let tree = Tree::default();
            return Ok(Seen { manifest, version: None, standing: Standing::Ahead, tree, is_looked_at: true });
        };
        if manifest.redacted != self.options.redactor.is_some() {
            return Err(RemoteError::Redaction { name: self.name.clone(), is_redacted: manifest.redacted });
        }
        let proven = proven(state, local, &manifest)?;
        let standing = compare(&self.call, &self.name, local, &manifest, proven).await?;
        let tree = match state {
            Some(state) if state.manifest.files == manifest.files => state.tree(),
            Some(_) | None => fetch::tree(&self.call, manifest.files).await?,
        };
        Ok(Seen { manifest, version: Some(version), standing, tree, is_looked_at: true })
    }
}
