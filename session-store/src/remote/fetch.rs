//! Fetching segments and files, and putting files in their place.

use super::compare::segment_bytes;
use super::files::{Kind, Stamp, kind};
use super::manifest::Manifest;
use super::objects::Call;
use super::packed::{max_packed, unpack};
use super::sha::Sha;
use super::tree::{self, Entry, Tree};
use super::{RemoteError, RemoteResult, keys};
use crate::{Durability, StoreError};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use session_core::SessionName;
use session_disk::{DiskError, create_new, ensure_dir, publish, remove_file, rename, temp_name, write};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Fetches a history from a place on, several segments at once, and hands its bytes on in order. Each piece was checked.
pub(super) async fn history(
    call: &Call<'_>,
    name: &SessionName,
    manifest: &Manifest,
    from: u64,
    parallel: usize,
    mut to: impl FnMut(&[u8]) -> RemoteResult<()>,
) -> RemoteResult<()> {
    let wanted = manifest.history.segments.iter().filter(|segment| segment.end() > from);
    let fetch = |segment| async move { Ok::<_, RemoteError>((segment, segment_bytes(call, name, segment).await?)) };
    let mut fetched = stream::iter(wanted).map(fetch).buffered(parallel.max(1));
    while let Some((segment, bytes)) = fetched.try_next().await? {
        let known = usize::try_from(from.saturating_sub(segment.offset)).unwrap_or(usize::MAX);
        to(&bytes[known.min(bytes.len())..])?;
    }
    Ok(())
}

/// Fetches files into a session's directory, those that are written once first, and gives what stands there then. A file
/// that somebody else has put there meanwhile is left as it is.
pub(super) async fn files(
    call: &Call<'_>,
    dir: &Path,
    wanted: Vec<(String, Entry)>,
    durability: Durability,
    parallel: usize,
) -> RemoteResult<Vec<(String, Stamp, Entry)>> {
    let (fixed, changing): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|(path, _)| kind(path) == Kind::Fixed);
    let fetch = |(path, entry): (String, Entry)| async move {
        let at = file(call, dir, &path, &entry, durability).await?;
        Ok::<_, RemoteError>((path, at, entry))
    };
    let mut placed: Vec<_> = stream::iter(fixed).map(fetch).buffer_unordered(parallel.max(1)).try_collect().await?;
    sync_dirs(&placed, durability)?;
    for wanted in changing {
        placed.push(fetch(wanted).await?);
    }
    sync_dirs(&placed, durability)?;
    let stamped = placed.into_iter().filter_map(|(path, at, entry)| {
        let metadata = at.symlink_metadata().ok()?;
        Some((path, Stamp::of(&metadata), entry))
    });
    Ok(stamped.collect())
}

/// Fetches one file beside its place, checks it, and gives it its name.
async fn file(call: &Call<'_>, dir: &Path, path: &str, entry: &Entry, durability: Durability) -> RemoteResult<PathBuf> {
    let at = place(dir, path)?;
    let temp = temp_name(&at);
    let filled = fill(call, &temp, entry, durability).await;
    let named = filled.and_then(|()| {
        match kind(path) {
            Kind::Changing => rename(&temp, &at),
            Kind::Fixed | Kind::Elsewhere => match publish(&temp, &at) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove_file(&temp),
                published => published,
            },
        }
        .map_err(|error| StoreError::from(error).into())
    });
    if named.is_err() {
        // The first error is the one to tell.
        drop(remove_file(&temp));
    }
    named.map(|()| at)
}

async fn fill(call: &Call<'_>, temp: &Path, entry: &Entry, durability: Durability) -> RemoteResult<()> {
    let file = create_new(temp).map_err(StoreError::from)?;
    for (sha, bytes) in entry.parts() {
        let key = keys::object(&sha);
        let body = call.get(&key, max_packed(bytes)).await?;
        let (body, _) = body.ok_or_else(|| RemoteError::Missing { object: key.clone() })?;
        unpack(&key, &body, (sha, bytes), |part| {
            Ok(write(&file, temp, part).map_err(|short| StoreError::from(DiskError::from(short)))?)
        })?;
    }
    Ok(durability.sync_data(&file, temp).map_err(StoreError::from)?)
}

/// Where a file of a copy stands in a session. Directories that are missing are made; what is no directory, a link above
/// all, is not gone through.
pub(super) fn place(dir: &Path, path: &str) -> RemoteResult<PathBuf> {
    let mut at = dir.to_owned();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        if parts.peek().is_none() {
            break;
        }
        match fs::symlink_metadata(&at) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(StoreError::Escapes { path: at }.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                ensure_dir(&at).map_err(StoreError::from)?;
            }
            Err(error) => return Err(StoreError::read(&at)(error).into()),
        }
    }
    Ok(at)
}

fn sync_dirs(placed: &[(String, PathBuf, Entry)], durability: Durability) -> RemoteResult<()> {
    let dirs: BTreeSet<&Path> = placed.iter().filter_map(|(_, at, _)| at.parent()).collect();
    Ok(dirs.into_iter().try_for_each(|dir| durability.sync_dir(dir)).map_err(StoreError::from)?)
}

/// The document of the files that a manifest names.
pub(super) async fn tree(call: &Call<'_>, sha: Option<Sha>) -> RemoteResult<Tree> {
    let Some(sha) = sha else { return Ok(Tree::default()) };
    let object = keys::object(&sha);
    let (body, _) = call
        .get(&object, max_packed(tree::MAX_BYTES))
        .await?
        .ok_or_else(|| RemoteError::Missing { object: object.clone() })?;
    Tree::read(&object, &decoded(&object, &body, sha)?)
}

/// The bytes of an object whose length is not known beforehand.
fn decoded(object: &str, body: &[u8], sha: Sha) -> RemoteResult<Vec<u8>> {
    let corrupt = |what: String| RemoteError::Corrupt { object: object.to_owned(), what };
    let mut bytes = Vec::new();
    let decoder = zstd::Decoder::with_buffer(body).map_err(|error| corrupt(error.to_string()))?;
    io::Read::read_to_end(&mut io::Read::take(decoder, tree::MAX_BYTES + 1), &mut bytes)
        .map_err(|error| corrupt(error.to_string()))?;
    unpack(object, body, (sha, bytes.len() as u64), |_| Ok(()))?;
    Ok(bytes)
}
