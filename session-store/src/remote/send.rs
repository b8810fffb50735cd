//! Sending segments and files.

use super::contents::File;
use super::cut::cut;
use super::local::Local;
use super::manifest::{Manifest, Segments};
use super::objects::{Call, Written};
use super::packed::pack;
use super::segment::Segment;
use super::sha::Sha;
use super::tree::{PART, Tree};
use super::{Remote, RemoteError, RemoteResult, collect, keys};
use crate::StoreError;
use crate::part::Part;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use session_core::{SessionName, Timestamp};
use session_disk::open_regular;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// With so many segments to send, those that are there already are asked for first.
const MANY: usize = 4;
/// An object is asked for before it is sent if it is so long.
const LARGE: u64 = 256 << 10;

/// A part of the history as the copy is to hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// It is there.
    Keep(Segment),
    Send(Range<u64>),
}

/// The pieces of a history that has become longer.
pub(super) fn continued(history: &Segments, bytes: u64) -> Vec<Piece> {
    let lengths: Vec<u64> = history.segments.iter().map(|segment| segment.bytes).collect();
    let cutting = cut(&lengths, bytes);
    let kept = history.segments[..cutting.keep].iter().copied().map(Piece::Keep);
    kept.chain(cutting.send.into_iter().map(Piece::Send)).collect()
}

/// The pieces of a history that another one has replaced: what is the same at its place is not sent again.
pub(super) fn anew(history: &Segments, local: &Local) -> RemoteResult<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut lengths = Vec::new();
    for segment in history.segments.iter().take_while(|segment| segment.end() <= local.bytes()) {
        lengths.push(segment.bytes);
        pieces.push(match local.has(segment)? {
            true => Piece::Keep(*segment),
            false => Piece::Send(segment.offset..segment.end()),
        });
    }
    let cutting = cut(&lengths, local.bytes());
    pieces.truncate(cutting.keep);
    pieces.extend(cutting.send.into_iter().map(Piece::Send));
    Ok(pieces)
}

/// Sends the pieces that are to be sent, several at once. What was sent after `fresh` is not sent again; what is older and
/// in no manifest may be about to be removed.
pub(super) async fn segments(
    call: &Call<'_>,
    name: &SessionName,
    local: &Local,
    pieces: Vec<Piece>,
    fresh: Timestamp,
    parallel: usize,
) -> RemoteResult<Vec<Segment>> {
    let many = pieces.iter().filter(|piece| matches!(piece, Piece::Send(_))).count() > MANY;
    // What an earlier try has sent.
    let there: HashSet<Segment> = match many {
        true => {
            let listed = call.list(&keys::segments(name), "").await?;
            let fresh = listed.iter().filter(|at| at.modified > fresh);
            fresh.filter_map(|at| keys::segment_of(&at.file)).collect()
        }
        false => HashSet::new(),
    };
    let there = &there;
    let send = |piece: Piece| async move {
        let range = match piece {
            Piece::Keep(segment) => return Ok(segment),
            Piece::Send(range) => range,
        };
        let (segment, packed) = local.pack(&range)?;
        if !there.contains(&segment) {
            call.put(&keys::segment(name, &segment), packed.body).await?;
        }
        Ok(segment)
    };
    stream::iter(pieces).map(send).buffered(parallel.max(1)).try_collect().await
}

/// Sends what the files hold that `there` does not name, and then the document; gives its name.
pub(super) async fn files(
    remote: &Remote,
    call: &Call<'_>,
    files: &BTreeMap<String, File>,
    wanted: &Tree,
    there: &Tree,
) -> RemoteResult<Option<Sha>> {
    let named: HashSet<Sha> = there.0.values().flat_map(|entry| entry.parts.iter().copied()).collect();
    let mut missing: BTreeMap<Sha, (&File, Range<u64>)> = BTreeMap::new();
    for (_, file) in files.iter().filter(|(path, file)| wanted.0.get(*path) == Some(&file.entry)) {
        for (n, (sha, bytes)) in file.entry.parts().enumerate() {
            if !named.contains(&sha) {
                let at = n as u64 * PART;
                missing.insert(sha, (file, at..at + bytes));
            }
        }
    }
    let packed = pack(&wanted.to_json()[..]).expect("memory can be read and compressed");
    if remote.conditional(call).await? {
        let is_needed = |sha: &Sha| *sha == packed.sha || missing.contains_key(sha);
        collect::spare(call, remote.place(), is_needed, remote.now()).await?;
    }
    let sends = missing.into_iter().map(|(sha, (file, range))| part(call, file, range, sha));
    stream::iter(sends).buffer_unordered(remote.options.parallel.max(1)).try_collect::<()>().await?;
    if wanted.0.is_empty() {
        return Ok(None);
    }
    call.put(&keys::object(&packed.sha), packed.body).await?;
    Ok(Some(packed.sha))
}

/// Sends a part of a file, if it is not there.
async fn part(call: &Call<'_>, file: &File, range: Range<u64>, sha: Sha) -> RemoteResult<()> {
    let key = keys::object(&sha);
    if range.end - range.start >= LARGE && call.length(&key).await?.is_some() {
        return Ok(());
    }
    let changed = || RemoteError::KeepsChanging { path: file.at.clone() };
    let (open, _) = open_regular(&file.at).map_err(|_| changed())?;
    let packed = pack(Part { file: &open, at: range.start, upto: range.end }).map_err(StoreError::read(&file.at))?;
    if packed.sha != sha {
        return Err(changed());
    }
    call.put(&key, packed.body).await.map(drop)
}

/// Keeps a manifest whose history another one is about to replace.
pub(super) async fn keep_former(call: &Call<'_>, name: &SessionName, manifest: &Manifest) -> RemoteResult<()> {
    let key = keys::former(name, manifest.generation);
    match call.create(&key, manifest.to_json()).await? {
        // An earlier try has kept it.
        Written::Yes(_) | Written::No => Ok(()),
        Written::Unsupported => call.put(&key, manifest.to_json()).await.map(drop),
    }
}
