//! Whether a copy is whole: every object that it names is there and holds what its name says.

use super::compare::segment_bytes;
use super::objects::{Call, Traffic};
use super::packed::{max_packed, unpack};
use super::sha::Sha;
use super::{Remote, RemoteError, RemoteResult, fetch, keys};
use futures_util::{StreamExt as _, stream};
use session_core::SessionName;
use std::collections::BTreeSet;

/// What was found when a copy was looked through.
#[derive(Debug)]
#[non_exhaustive]
pub struct Verified {
    /// How many objects were looked at, its manifest included.
    pub objects: u64,
    /// How many bytes they hold, before they were compressed.
    pub bytes: u64,
    /// What is wrong, each with the name of the object.
    pub faults: Vec<RemoteError>,
    /// What was received for it.
    pub traffic: Traffic,
}

impl Remote {
    /// Fetches every object that a copy names, and compares it with its name. Nothing is kept.
    ///
    /// # Errors
    /// [`RemoteError::NotThere`]; [`RemoteError::NewerFormat`]; [`RemoteError::Request`] where the manifest cannot be
    /// fetched. Everything else that is wrong is part of the answer.
    pub fn verify(&self, name: &SessionName) -> RemoteResult<Verified> {
        let call = self.objects().call();
        self.run(self.verify_with(&call, name))
    }

    async fn verify_with(&self, call: &Call<'_>, name: &SessionName) -> RemoteResult<Verified> {
        let mut verified = Verified { objects: 1, bytes: 0, faults: Vec::new(), traffic: Traffic::default() };
        let manifest = match self.manifest_of(call, name).await {
            Ok((manifest, _)) => manifest,
            Err(fault @ RemoteError::Corrupt { .. }) => {
                verified.faults.push(fault);
                return Ok(Verified { traffic: call.traffic(), ..verified });
            }
            Err(error) => return Err(error),
        };
        let segments = manifest.history.segments.iter();
        let segments =
            segments.map(|segment| async move { segment_bytes(call, name, segment).await.map(|_| segment.bytes) });
        let found: Vec<_> = stream::iter(segments).buffered(self.options.parallel).collect().await;
        let tree = match fetch::tree(call, manifest.files).await {
            Ok(tree) => tree,
            Err(fault) => {
                verified.faults.push(fault);
                Default::default()
            }
        };
        let parts: BTreeSet<(Sha, u64)> = tree.0.values().flat_map(|entry| entry.parts().collect::<Vec<_>>()).collect();
        let parts = parts.into_iter().map(|(sha, bytes)| async move { part(call, sha, bytes).await.map(|()| bytes) });
        let of_files: Vec<_> = stream::iter(parts).buffered(self.options.parallel).collect().await;
        verified.objects += u64::from(manifest.files.is_some());
        for found in found.into_iter().chain(of_files) {
            verified.objects += 1;
            match found {
                Ok(bytes) => verified.bytes += bytes,
                Err(fault) => verified.faults.push(fault),
            }
        }
        verified.traffic = call.traffic();
        Ok(verified)
    }
}

/// Fetches a part of a file, and compares it with its name.
async fn part(call: &Call<'_>, sha: Sha, bytes: u64) -> RemoteResult<()> {
    let key = keys::object(&sha);
    let body = call.get(&key, max_packed(bytes)).await?;
    let (body, _) = body.ok_or_else(|| RemoteError::Missing { object: key.clone() })?;
    unpack(&key, &body, (sha, bytes), |_| Ok(()))
}
