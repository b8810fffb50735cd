//! What a machine remembers of a session's copy: the manifest as it was last seen or written, and what was here then.
//!
//! With it a push needs no look at the copy: the store itself says whether the copy still is as remembered, because the
//! manifest is replaced only if it is. Nothing is taken from it that is not checked: the state of the copy by that
//! condition, the history by which file it is and by its end, the other files by their stamps. Where it is missing or
//! does not fit, everything is compared, which takes longer and says the same.

use super::RemoteResult;
use super::files::Stamp;
use super::local::Local;
use super::manifest::Manifest;
use super::objects::Version;
use super::sha::Sha;
use super::tree::{Entry, Tree};
use crate::directory::own;
use crate::{Durability, SessionPaths, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use session_core::{SessionName, layout};
use session_disk::{ensure_dir, read_regular, replace};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

const FORMAT: u32 = 1;
/// A file that is longer is none.
const MAX_BYTES: u64 = 256 << 20;

/// Files that are here, with their stamps, by their paths in the copy.
pub(super) type Files = BTreeMap<String, (Stamp, Entry)>;

/// What is remembered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct State {
    format: u32,
    /// The store, without credentials.
    place: String,
    /// Whether it has conditional writes.
    pub(super) conditional: bool,
    pub(super) version: Version,
    /// Without metadata.
    pub(super) manifest: Manifest,
    /// What the metadata here was.
    meta: Option<Sha>,
    /// The document of the files, as the manifest names it.
    pub(super) tree: BTreeMap<String, Entry>,
    pub(super) history: Remembered,
    /// The files that were in both places, by their paths in the copy.
    pub(super) files: Files,
}

/// The history that the copy was the same as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Remembered {
    pub(super) device: u64,
    pub(super) inode: u64,
    /// When that file was made, in nanoseconds since 1970: an inode is given again, to one that took its place. `None`
    /// where that is not known, and then nothing is known of the history.
    #[serde(default)]
    pub(super) made: Option<u128>,
    /// How much of it.
    pub(super) bytes: u64,
    /// What the last bytes of that were.
    pub(super) end: Sha,
}

/// Where the state of one copy stands.
///
/// # Errors
/// [`StoreError::Escapes`].
pub(super) fn path(paths: &SessionPaths, place: &str, name: &SessionName) -> RemoteResult<PathBuf> {
    let sha = Sha::of(format!("{place}\n{name}").as_bytes()).to_string();
    Ok(own(paths, &[layout::REMOTE])?.join(format!("{}.json", &sha[..16])))
}

/// Reads it; `None` where there is none that can be used.
pub(super) fn read(path: &std::path::Path, place: &str) -> Option<State> {
    let (bytes, _) = read_regular(path, MAX_BYTES).ok()?;
    let state: State = serde_json::from_slice(&bytes).ok()?;
    (state.format == FORMAT && state.place == place).then_some(state)
}

/// The files to remember, of those that are here and those that the copy names: what both have in common; where they
/// differ, what they last had in common. So what was changed or removed on one side stays that, however often both are
/// looked at, and what was changed in both stays a conflict until somebody settles it.
pub(super) fn known(here: Files, tree: &Tree, before: Option<&State>) -> Files {
    let is_anywhere = |path: &String| here.contains_key(path) || tree.0.contains_key(path);
    let before = before.into_iter().flat_map(|state| &state.files).filter(|(path, _)| is_anywhere(path));
    let mut known: Files = before.map(|(path, file)| (path.clone(), file.clone())).collect();
    known.extend(here.into_iter().filter(|(path, (_, entry))| tree.0.get(path) == Some(entry)));
    known
}

impl State {
    #[expect(clippy::too_many_arguments, reason = "each is a part of what is remembered")]
    pub(super) fn new(
        place: &str,
        conditional: bool,
        version: Version,
        manifest: &Manifest,
        meta: Option<&RawValue>,
        tree: Tree,
        history: Remembered,
        files: Files,
    ) -> Self {
        State {
            format: FORMAT,
            place: place.to_owned(),
            conditional,
            version,
            meta: meta.map(sha_of),
            manifest: Manifest { meta: None, ..manifest.clone() },
            tree: tree.0,
            history,
            files,
        }
    }

    /// Whether the metadata is what it was.
    pub(super) fn has_meta(&self, meta: Option<&RawValue>) -> bool {
        self.meta == meta.map(sha_of)
    }

    /// On disk when it returns: the state, replaced in one step.
    pub(super) fn write(&self, paths: &SessionPaths, path: &std::path::Path) -> RemoteResult<()> {
        ensure_dir(&paths.remote()).map_err(StoreError::from)?;
        let json = serde_json::to_vec(self).expect("strings and numbers are always JSON");
        // What a power cut takes of it is found out by comparing.
        Ok(replace(path, &json, Durability::Os).map_err(StoreError::from)?)
    }

    /// The files that were in both places.
    pub(super) fn base(&self) -> Tree {
        Tree(self.files.iter().map(|(path, (_, entry))| (path.clone(), entry.clone())).collect())
    }

    pub(super) fn tree(&self) -> Tree {
        Tree(self.tree.clone())
    }

    /// How much of a history is known to be what the copy was: all of that, or nothing.
    ///
    /// A history only grows, so it is the same if it is the same file. Another one may have taken its place twice and have
    /// its inode; but it was made later, by more than any clock of files is coarse: see [`crate::rewrite`].
    pub(super) fn proven(&self, local: &Local) -> io::Result<u64> {
        let Remembered { device, inode, made, bytes, end } = self.history;
        let is_it = (device, inode) == local.identity() && made.is_some() && made == local.made();
        Ok(if is_it && bytes <= local.bytes() && local.end_before(bytes)? == end { bytes } else { 0 })
    }
}

/// What tells one metadata from another.
fn sha_of(meta: &RawValue) -> Sha {
    Sha::of(meta.get().as_bytes())
}

impl Remembered {
    /// A history, up to a place.
    pub(super) fn of(local: &Local, bytes: u64) -> io::Result<Self> {
        let (device, inode) = local.identity();
        Ok(Remembered { device, inode, made: local.made(), bytes, end: local.end_before(bytes)? })
    }
}
