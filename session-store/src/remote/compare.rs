//! How the history that is here and the one in the copy stand to each other.

use super::error::{Divergence, HistoryEnd};
use super::local::Local;
use super::manifest::Manifest;
use super::objects::Call;
use super::packed::{max_packed, unpack};
use super::segment::Segment;
use super::state::State;
use super::{RemoteError, RemoteResult, keys};
use session_core::SessionName;

/// How they stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Same,
    /// What is here continues what is there.
    Ahead,
    /// What is there continues what is here.
    Behind,
    /// Neither: they are the same up to this place, at least.
    Apart(u64),
}

/// Compares. The first `proven` bytes are known to be the same.
pub(super) async fn compare(
    call: &Call<'_>,
    name: &SessionName,
    local: &Local,
    manifest: &Manifest,
    proven: u64,
) -> RemoteResult<Standing> {
    for segment in &manifest.history.segments {
        let is_same = match () {
            () if segment.end() <= proven => true,
            () if segment.end() <= local.bytes() => local.has(segment)?,
            () if segment.offset >= local.bytes() => return Ok(Standing::Behind),
            () => {
                let bytes = segment_bytes(call, name, segment).await?;
                let here = usize::try_from(local.bytes() - segment.offset).unwrap_or(usize::MAX);
                let begins = local.has_bytes(segment.offset, &bytes[..here.min(bytes.len())])?;
                return Ok(if begins { Standing::Behind } else { Standing::Apart(segment.offset) });
            }
        };
        if !is_same {
            return Ok(Standing::Apart(segment.offset));
        }
    }
    Ok(if local.bytes() > manifest.history.bytes { Standing::Ahead } else { Standing::Same })
}

/// How much of what is here is known to be the same as what is there: what both had when they were the same, as far as
/// the copy still is made of the segments of then.
pub(super) fn proven(state: Option<&State>, local: &Local, manifest: &Manifest) -> RemoteResult<u64> {
    let Some(state) = state else { return Ok(0) };
    let proven = state.proven(local).map_err(crate::StoreError::read(local.path()))?;
    let (then, now) = (&state.manifest.history.segments, &manifest.history.segments);
    let kept: u64 = then.iter().zip(now).take_while(|(then, now)| then == now).map(|(then, _)| then.bytes).sum();
    Ok(proven.min(kept))
}

/// The bytes of a segment, checked.
pub(super) async fn segment_bytes(call: &Call<'_>, name: &SessionName, segment: &Segment) -> RemoteResult<Vec<u8>> {
    let key = keys::segment(name, segment);
    let body = call.get(&key, max_packed(segment.bytes)).await?;
    let (body, _) = body.ok_or_else(|| RemoteError::Missing { object: key.clone() })?;
    let mut bytes = Vec::with_capacity(usize::try_from(segment.bytes).unwrap_or_default().min(64 << 20));
    unpack(&key, &body, (segment.sha, segment.bytes), |part| {
        bytes.extend_from_slice(part);
        Ok(())
    })?;
    Ok(bytes)
}

/// That they went apart.
pub(super) fn diverged(
    name: &SessionName,
    common_bytes: u64,
    local: (&Local, &str),
    manifest: &Manifest,
) -> RemoteError {
    let (local, machine) = local;
    let local = HistoryEnd { bytes: local.bytes(), machine: machine.to_owned(), at: local.modified() };
    let pushed = &manifest.pushed;
    let remote = HistoryEnd { bytes: manifest.history.bytes, machine: pushed.by.clone(), at: pushed.time() };
    RemoteError::Diverged(Box::new(Divergence { name: name.clone(), common_bytes, local, remote }))
}
