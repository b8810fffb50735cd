//! The reference's external files: each of its trees has, at the top, a map from keys to absolute paths, and a directory
//! with a copy under each key.

use crate::layout::{REFERENCE_COPIES, REFERENCE_EXTERNALS};
use crate::objects::Objects;
use crate::oid::Kind;
use crate::rel_path::{is_in, joined};
use crate::tree_edit::find;
use crate::{Error, Oid};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file outside the workspace that the reference tracks.
pub(super) struct External {
    /// Where it belongs.
    pub(super) path: PathBuf,
    /// The id of the copy, where this turn has one.
    pub(super) copy: Option<Oid>,
}

/// Whether a path at the top of a tree is the reference's own, and none of the workspace's.
pub(crate) fn is_own(path: &[u8]) -> bool {
    path == REFERENCE_EXTERNALS.as_bytes() || is_in(path, REFERENCE_COPIES.as_bytes())
}

/// The external files of a turn. `None` where the tree has no such map: then both names are the workspace's.
pub(super) fn externals(objects: &Objects, tree: Oid) -> Result<Option<Vec<External>>, Error> {
    #[derive(Deserialize)]
    struct Place {
        original_path: PathBuf,
    }
    let Some(map) = find(objects, Some(tree), REFERENCE_EXTERNALS.as_bytes())? else { return Ok(None) };
    let bytes = objects.read_kind(map.oid, Kind::Blob)?;
    let Ok(places) = serde_json::from_slice::<BTreeMap<String, Place>>(&bytes) else { return Ok(None) };
    let external = |(key, place): (String, Place)| {
        let copy = find(objects, Some(tree), &joined(REFERENCE_COPIES.as_bytes(), key.as_bytes()))?;
        Ok(External { path: place.original_path, copy: copy.map(|leaf| leaf.oid) })
    };
    places.into_iter().map(external).collect::<Result<_, Error>>().map(Some)
}
