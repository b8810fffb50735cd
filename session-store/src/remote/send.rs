//! Sending segments and files.

use super::cut::cut;
use super::files::{self, LocalFile, Stamp};
use super::local::Local;
use super::manifest::{Manifest, Segment, Segments};
use super::objects::{Call, Written};
use super::packed::{max_packed, pack, unpack};
use super::sha::Sha;
use super::state::Files;
use super::tree::{self, Entry, PART, Tree};
use super::{Remote, RemoteError, RemoteResult, collect, keys};
use crate::history::Part;
use crate::small_file::{is_absent, open_regular};
use crate::{SessionPaths, StoreError};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use session_core::{SessionName, Timestamp};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// With so many segments to send, those that are there already are asked for first.
const MANY: usize = 4;
/// An object is asked for before it is sent if it is so long.
const LARGE: u64 = 256 << 10;
/// How often files are looked through again that changed meanwhile.
const LOOKS: usize = 8;

/// A part of the history as the copy is to hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// It is there.
    Keep(Segment),
    Send(Range<u64>),
}

/// A file that is here, and what it holds.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) at: PathBuf,
    pub(super) stamp: Stamp,
    pub(super) entry: Entry,
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

/// The document of the files that a manifest names.
pub(super) async fn tree(call: &Call<'_>, sha: Option<Sha>) -> RemoteResult<Tree> {
    let Some(sha) = sha else { return Ok(Tree::default()) };
    let object = keys::object(&sha);
    let (body, _) = call
        .get(&object, max_packed(tree::MAX_BYTES))
        .await?
        .ok_or_else(|| RemoteError::Missing { object: object.clone() })?;
    let (bytes, length) = decoded(&object, &body, sha)?;
    debug_assert_eq!(bytes.len() as u64, length, "what was counted is what is there");
    Tree::read(&object, &bytes)
}

/// The bytes of an object whose length is not known beforehand.
fn decoded(object: &str, body: &[u8], sha: Sha) -> RemoteResult<(Vec<u8>, u64)> {
    let corrupt = |what: String| RemoteError::Corrupt { object: object.to_owned(), what };
    let mut bytes = Vec::new();
    let decoder = zstd::Decoder::with_buffer(body).map_err(|error| corrupt(error.to_string()))?;
    io::Read::read_to_end(&mut io::Read::take(decoder, tree::MAX_BYTES + 1), &mut bytes)
        .map_err(|error| corrupt(error.to_string()))?;
    let length = bytes.len() as u64;
    unpack(object, body, (sha, length), |_| Ok(()))?;
    Ok((bytes, length))
}

/// The files that are here, with what they hold. Those that are as they were then are not read.
pub(super) fn local_files(
    paths: &SessionPaths,
    machine: &str,
    known: Option<&Files>,
) -> RemoteResult<BTreeMap<String, File>> {
    let mut changed = paths.dir().to_owned();
    for _ in 0..LOOKS {
        let mut all = BTreeMap::new();
        let listed = files::files(paths, machine)?;
        let complete = listed.into_iter().try_for_each(|file| match looked_at(&file, known)? {
            Some(entry) => {
                all.insert(file.path, File { at: file.at, stamp: file.stamp, entry });
                Ok(())
            }
            None => Err(Gone::Changed(file.at)),
        });
        match complete {
            Ok(()) => return Ok(all),
            Err(Gone::Changed(path)) => changed = path,
            Err(Gone::Failed(error)) => return Err(error),
        }
    }
    Err(RemoteError::KeepsChanging { path: changed })
}

enum Gone {
    /// The file is not what was listed: all are listed again, because they belong together.
    Changed(PathBuf),
    Failed(RemoteError),
}

impl From<StoreError> for Gone {
    fn from(error: StoreError) -> Self {
        Gone::Failed(error.into())
    }
}

/// What a file holds that nobody writes to; `None` where there is none.
pub(super) fn entry_at(path: &str, at: &Path) -> RemoteResult<Option<Entry>> {
    match at.symlink_metadata() {
        Ok(metadata) => {
            let file = LocalFile { path: path.to_owned(), at: at.to_owned(), stamp: Stamp::of(&metadata) };
            Ok(looked_at(&file, None)?)
        }
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(StoreError::read(at)(error).into()),
    }
}

/// What a file holds; `None` where it is not as it was listed.
fn looked_at(file: &LocalFile, known: Option<&Files>) -> Result<Option<Entry>, StoreError> {
    if let Some((stamp, entry)) = known.and_then(|known| known.get(&file.path))
        && *stamp == file.stamp
    {
        return Ok(Some(entry.clone()));
    }
    let (open, metadata) = match open_regular(&file.at) {
        Ok(open) => open,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(StoreError::read(&file.at)(error)),
    };
    let bytes = file.stamp.bytes();
    let mut parts = Vec::new();
    for part in 0..bytes.div_ceil(PART).max(1) {
        let (at, upto) = (part * PART, bytes.min((part + 1) * PART));
        parts.push(Sha::of_reader(Part { file: &open, at, upto }).map_err(StoreError::read(&file.at))?);
    }
    let is_same = Stamp::of(&metadata) == file.stamp
        && Stamp::of(&open.metadata().map_err(StoreError::read(&file.at))?) == file.stamp;
    Ok(is_same.then_some(Entry { bytes, parts }))
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
