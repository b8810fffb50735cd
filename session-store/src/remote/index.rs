//! What manifests say, in one object: a cache, so that a list of many copies needs few requests.
//!
//! It says of each manifest which state of it that was. A list of objects tells which states there are now, so that what
//! the index says is either as true as the manifest or not used. It can be removed at any time; who cannot write it goes
//! without; of two that write it, the later one wins, and what the other one had found out is found out again.

use super::keys;
use super::listed::RemoteSession;
use super::manifest::{Manifest, Segments};
use super::objects::{Call, Version};
use super::packed::pack;
use serde::{Deserialize, Serialize};
use session_core::SessionName;
use std::collections::{BTreeMap, HashSet};
use std::io::Read as _;

const FORMAT: u32 = 1;
/// An index that is longer is none, packed and unpacked.
const MAX_BYTES: (u64, u64) = (256 << 20, 2 << 30);

/// What manifests say.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Index {
    format: u32,
    /// By the names of the sessions.
    copies: BTreeMap<String, Known>,
}

/// What a manifest said when it was in this state.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    version: Version,
    /// Without its segments.
    manifest: Manifest,
}

impl Index {
    /// Reads it. One that is missing, damaged or of another format is empty.
    pub(super) async fn read(call: &Call<'_>) -> Self {
        let Ok(Some((body, _))) = call.get(&keys::index(), MAX_BYTES.0).await else { return Index::default() };
        let mut json = Vec::new();
        let is_read = zstd::Decoder::with_buffer(&body[..])
            .is_ok_and(|decoder| decoder.take(MAX_BYTES.1).read_to_end(&mut json).is_ok());
        let index = if is_read { serde_json::from_slice(&json).unwrap_or_default() } else { Index::default() };
        if index.format == FORMAT { index } else { Index::default() }
    }

    /// What the manifest of a session says, if it is the one that the index knows.
    pub(super) fn known(&self, session: &RemoteSession) -> Option<&Manifest> {
        let known = self.copies.get(session.name.as_str())?;
        session.version.as_ref().is_some_and(|version| version.has_tag_of(&known.version)).then_some(&known.manifest)
    }

    /// Takes in what a manifest says that was read.
    pub(super) fn learn(&mut self, name: &SessionName, manifest: &Manifest, version: &Version) {
        let history = Segments { bytes: manifest.history.bytes, segments: Vec::new() };
        let known = Known { version: version.clone(), manifest: Manifest { history, ..manifest.clone() } };
        self.copies.insert(name.to_string(), known);
    }

    /// Forgets all but these sessions, where these are most of what it knows: else it would name for ever what was removed.
    pub(super) fn forget_others(&mut self, sessions: &[RemoteSession]) {
        if sessions.len() * 2 > self.copies.len() {
            let listed: HashSet<&str> = sessions.iter().map(|session| session.name.as_str()).collect();
            self.copies.retain(|name, _| listed.contains(name.as_str()));
        }
    }

    /// Writes it, if that can be done.
    pub(super) async fn write(mut self, call: &Call<'_>) {
        self.format = FORMAT;
        let json = serde_json::to_vec(&self).expect("strings, numbers and what was JSON before are JSON");
        let packed = pack(&json[..]).expect("memory can be read and compressed");
        // It is a cache: who may not write goes without.
        call.put(&keys::index(), packed.body).await.ok();
    }
}
