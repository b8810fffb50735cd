//! What a push is going to send.

use super::super::compare::{Standing, diverged};
use super::super::contents;
use super::super::local::Local;
use super::super::send::{self, Piece};
use super::super::state::State;
use super::super::tree::{Merged, Tree, merged};
use super::super::{Change, Copied, RemoteError, RemoteResult, redacted};
use super::{Push, Seen};
use crate::StoreError;
use serde_json::value::RawValue;
use session_core::{Meta, SessionName};
use std::collections::BTreeMap;

/// What is to be sent.
pub(super) struct Plan {
    pub(super) pieces: Vec<Piece>,
    /// What is here.
    pub(super) files: BTreeMap<String, contents::File>,
    /// What the copy is to name.
    pub(super) tree: Tree,
    pub(super) meta: Option<Box<RawValue>>,
    pub(super) copied: Copied,
}

impl Push<'_> {
    /// What is to be sent. `is_unchanged`: nobody else has changed what the copy holds since both were the same.
    ///
    /// # Errors
    /// [`RemoteError::Behind`] and [`RemoteError::Diverged`] where the copy has what is not here.
    pub(super) fn plan(
        &self,
        local: &Local,
        seen: &Seen,
        state: Option<&State>,
        is_unchanged: bool,
    ) -> RemoteResult<Plan> {
        let before = &seen.manifest;
        let (pieces, generation) = match seen.standing {
            Standing::Same | Standing::Ahead => (send::continued(&before.history, local.bytes()), before.generation),
            // So it is the history here that was replaced.
            Standing::Apart(_) if is_unchanged => (send::anew(&before.history, local)?, before.generation + 1),
            Standing::Apart(common) => {
                return Err(diverged(&self.name, common, (local, self.remote.machine()), before));
            }
            Standing::Behind => {
                let (local_bytes, remote_bytes) = (local.bytes(), before.history.bytes);
                return Err(RemoteError::Behind { name: self.name.clone(), local_bytes, remote_bytes });
            }
        };
        let (files, Merged { tree, conflicts }) = self.files(state, &seen.tree)?;
        let copied = Copied {
            session: SessionName::new(self.session.name()).map_err(StoreError::from)?,
            copy: self.name.clone(),
            change: match seen.version {
                None => Change::Made,
                Some(_) if generation != before.generation => Change::Replaced,
                Some(_) if local.bytes() > before.history.bytes || tree != seen.tree => Change::Added,
                Some(_) => Change::Nothing,
            },
            generation,
            history_bytes: local.bytes(),
            new_bytes: local.bytes().saturating_sub(before.history.bytes),
            files: tree.0.iter().filter(|(path, entry)| seen.tree.0.get(*path) != Some(entry)).count() as u64,
            conflicts,
            not_remembered: None,
            traffic: self.call.traffic(),
        };
        Ok(Plan { pieces, files, tree, meta: self.meta()?, copied })
    }

    /// The files that are here, and the document that names them and those of others.
    fn files(&self, state: Option<&State>, tree: &Tree) -> RemoteResult<(BTreeMap<String, contents::File>, Merged)> {
        if self.options.redactor.is_some() {
            return Ok((BTreeMap::new(), Merged { tree: tree.clone(), conflicts: Vec::new() }));
        }
        let known = state.map(|state| &state.files);
        let files = contents::local_files(self.session.paths(), self.remote.machine(), known)?;
        let local = Tree(files.iter().map(|(path, file)| (path.clone(), file.entry.clone())).collect());
        let base = state.map(State::base).unwrap_or_default();
        let merged = merged(&base, &local, tree);
        Ok((files, merged))
    }

    fn meta(&self) -> RemoteResult<Option<Box<RawValue>>> {
        let mut meta = self.session.meta()?.meta;
        if let Some(redactor) = &self.options.redactor {
            redacted::meta(&mut meta, &**redactor, &self.session.paths().meta())?;
        }
        Ok(raw(&meta))
    }
}

/// Metadata as a manifest holds it.
pub(in crate::remote) fn raw(meta: &Meta) -> Option<Box<RawValue>> {
    // It is made of strings and of what was JSON before, so that there is no other case.
    RawValue::from_string(String::from_utf8(meta.to_json()).ok()?).ok()
}
