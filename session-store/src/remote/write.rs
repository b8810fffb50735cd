//! Reading and replacing a manifest.

use super::manifest::{MAX_BYTES, Manifest};
use super::objects::{Call, Version, Written};
use super::{RemoteResult, keys};
use session_core::SessionName;

/// How often a copy is looked at anew because somebody else has written it meanwhile.
pub(super) const ATTEMPTS: usize = 8;

/// The manifest of a session, and which state of it that is.
pub(super) async fn manifest(call: &Call<'_>, name: &SessionName) -> RemoteResult<Option<(Manifest, Version)>> {
    match call.get(&keys::manifest(name), MAX_BYTES).await? {
        Some((bytes, version)) => Ok(Some((Manifest::read(name, &bytes)?, version))),
        None => Ok(None),
    }
}

/// Writes a manifest if the one that is there is still `from`. `None`: it is not.
///
/// Where the store has no conditional writes, it is looked at first; who writes in the same moment may win. What lost
/// stands in the store all the same, and its machine finds that the two went apart.
pub(super) async fn replace(
    call: &Call<'_>,
    name: &SessionName,
    manifest: &Manifest,
    from: Option<&Version>,
    conditional: bool,
) -> RemoteResult<Option<Version>> {
    let (key, json) = (keys::manifest(name), manifest.to_json());
    if !conditional {
        let is = call.get(&key, MAX_BYTES).await?.map(|(_, version)| version);
        return if is.as_ref() == from { call.put(&key, json).await.map(Some) } else { Ok(None) };
    }
    let written = match from {
        None => call.create(&key, json.clone()).await?,
        Some(from) => call.update(&key, json.clone(), from).await?,
    };
    match written {
        Written::Yes(version) => Ok(Some(version)),
        // A try whose answer was lost makes the next one fail. No two writes are the same, so it tells.
        Written::No | Written::Unsupported => match call.get(&key, MAX_BYTES).await? {
            Some((bytes, version)) if bytes == json => Ok(Some(version)),
            _ => Ok(None),
        },
    }
}
