//! Looking at the workspace: the walk, what the walk does not see, and the facts that go into the commit.

use crate::cache::{self, Cache, Header, Node, Stamp};
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::commit::{self, ChangedBy, LIST_CAP, Trailer, TurnKind};
use crate::error::reading;
use crate::locked::Locked;
use crate::look::{Look, Seen, look_at, look_for};
use crate::meta::Identity;
use crate::options::Durability;
use crate::point::Point;
use crate::rel_path::RelPath;
use crate::root::{Mounts, Root};
use crate::rules::facts;
use crate::sink::{ObjectSink, Opinion};
use crate::skipped::Skipped;
use crate::tree_diff::Leaf;
use crate::tree_edit::{Edit, edit, find as find_in_tree};
use crate::turns::Change;
use crate::walk::{Notes, Walk, Walked, notes};
use crate::{Error, Oid, external};
use std::collections::{BTreeMap, HashMap};

/// What a snapshot is for.
pub(crate) enum Purpose<'a> {
    Turn {
        turn: u32,
        label: &'a str,
        by: ChangedBy,
    },
    Safety {
        n: u32,
        target: Option<&'a Point>,
    },
    Restore {
        turn: u32,
        from: &'a Point,
        safety: u32,
        /// Whether all of it was asked for.
        whole: bool,
        puts: &'a BTreeMap<Vec<u8>, Leaf>,
        /// The contents that were put, as they were read from the store.
        read: &'a HashMap<Oid, Opinion>,
    },
}

/// A snapshot with everything that a restore wants to know of it.
pub(crate) struct Taken {
    pub(crate) commit: Oid,
    pub(crate) tree: Oid,
    pub(crate) trailer: Trailer,
    pub(crate) changed: Vec<Change>,
    pub(crate) notes: Notes,
    pub(crate) look: Look,
    pub(crate) walked: (u64, u64),
}

impl Checkpoints {
    /// Looks at the workspace and gives its objects to a sink, which may keep nothing. The cache is `None` where the old
    /// one is right still.
    pub(crate) fn observe(
        &self,
        locked: &Locked,
        old: Option<&Cache>,
        sink: &ObjectSink<'_>,
        purpose: &Purpose<'_>,
        cancel: &Cancel,
    ) -> Result<(Taken, Option<Cache>), Error> {
        let root = Root::open(&self.workspace, Mounts::Refuse).map_err(reading(&self.workspace))?;
        let identity = Identity::of(&self.workspace)?;
        let (closed, rules) = (self.closed(), self.rules());
        let walk = Walk::new(&root, old, sink, &self.options, cancel, &closed);
        let walked = walk.run(&rules)?;
        let tree = walk.tree_of(&walked.root);
        let found = notes(old, &walked);
        let taken = self.complete(locked, &root, sink, purpose, (tree, found), &walked, walk.start_ns)?;
        let synced = self.options.durability >= Durability::Packs;
        let next = match &walked.root {
            Node::Same(_) => None,
            Node::New(dir) => Some(cache::build(old, dir, self.header(&identity, rules.key(), synced))),
        };
        Ok((taken, next))
    }

    fn header(&self, identity: &Identity, rules: u64, synced: bool) -> Header {
        Header {
            synced,
            dev: identity.dev,
            ino: identity.ino,
            rules,
            boot: crate::clock::boot_id(),
            ..Header::default()
        }
    }

    /// Adds to the walk's tree what the walk does not see, and writes down the facts.
    #[expect(clippy::too_many_arguments, reason = "one step of `take`, cut out for its length")]
    fn complete(
        &self,
        locked: &Locked,
        root: &Root,
        sink: &ObjectSink<'_>,
        purpose: &Purpose<'_>,
        (tree, mut found): (Option<Oid>, Notes),
        walked: &Walked,
        start_ns: i64,
    ) -> Result<Taken, Error> {
        let mut look = Look::default();
        let mut edits = BTreeMap::new();
        let mut more = Vec::new();
        let max_bytes = self.options.max_file_bytes;
        match purpose {
            Purpose::Turn { .. } => {}
            Purpose::Safety { target: None, .. } => {}
            Purpose::Safety { target: Some(target), .. } => {
                look = look_for(sink, root, max_bytes, start_ns, tree, target.commit.tree)?;
                edits.extend(look.found.iter().map(|(path, leaf)| (path.clone(), Edit::Put(*leaf))));
                let blocked = look.blocked.iter().filter_map(|(path, reason)| {
                    Some(Skipped { path: RelPath::new(path.clone())?, reason: *reason, size: 0 })
                });
                found.skipped.extend(blocked);
                more = target.external_paths();
            }
            Purpose::Restore { puts, from, .. } => {
                more = from.external_paths();
                // What a rule excludes now was written all the same, and belongs to what undo must know.
                for path in puts.keys().filter(|path| external::outside(path).is_none()) {
                    if find_in_tree(sink, tree, path)?.is_none()
                        && let Seen::Leaf(leaf, _) = look_at(sink, root, max_bytes, start_ns, path)?
                    {
                        edits.insert(path.clone(), Edit::Put(leaf));
                    }
                }
            }
        }
        let externals = external::capture(sink, max_bytes, start_ns, &Self::externals(&locked.meta, more))?;
        edits.extend(externals.edits);
        look.stamps.extend(externals.stamps);
        look.externals =
            externals.states.iter().map(|state| (external::tree_path(&state.path), state.clone())).collect();
        found.skipped.extend(externals.skipped);
        let tree = match edit(sink, tree, &edits)? {
            Some(tree) => tree,
            None => crate::tree_edit::TreeSink::keep(sink, b"")?,
        };
        let trailer = self.trailer(purpose, &found, externals.states, walked.files);
        let walked = (walked.files, walked.bytes);
        Ok(Taken { commit: Oid::ZERO, tree, trailer, changed: Vec::new(), notes: found, look, walked })
    }

    fn trailer(
        &self,
        purpose: &Purpose<'_>,
        found: &Notes,
        external: Vec<commit::ExternalState>,
        files: u64,
    ) -> Trailer {
        let (turn, kind, label, by) = match purpose {
            Purpose::Turn { turn, label, by } => (*turn, TurnKind::Turn, (*label).to_owned(), *by),
            Purpose::Safety { n, target } => {
                let label = target.map_or_else(String::new, |point| format!("before restoring {}", point.name));
                (*n, TurnKind::Safety, label, ChangedBy::Session)
            }
            Purpose::Restore { turn, from, .. } => {
                (*turn, TurnKind::Restore, format!("restored {}", from.name), ChangedBy::Session)
            }
        };
        let (restored_from, safety, looked_for) = match purpose {
            Purpose::Turn { .. } => (None, None, None),
            Purpose::Safety { target, .. } => (None, None, target.map(|point| point.oid)),
            Purpose::Restore { from, safety, .. } => (Some(from.name.to_string()), Some(*safety), None),
        };
        Trailer {
            v: crate::layout::FORMAT,
            turn,
            kind,
            label,
            time_ms: crate::clock::now_ms(),
            by,
            complete: !found.skipped.iter().any(|skipped| skipped.reason.makes_incomplete()),
            files,
            restored_from,
            safety,
            partial: matches!(purpose, Purpose::Restore { whole: false, .. }),
            looked_for,
            imported: false,
            external,
            skipped: found.skipped.iter().take(LIST_CAP).cloned().collect(),
            skipped_n: found.skipped.len() as u64,
            empty_dirs: found.empty_dirs.iter().take(LIST_CAP).cloned().collect(),
            empty_dirs_n: found.empty_dirs.len() as u64,
            hidden_dirs: found.hidden_dirs.iter().take(LIST_CAP).cloned().collect(),
            hidden_dirs_n: found.hidden_dirs.len() as u64,
            rules: facts(&self.options),
        }
    }
}

impl Taken {
    /// The stamp that a path had, by the cache of this snapshot or by the look beside it.
    pub(crate) fn stamp(&self, cache: Option<&Cache>, path: &[u8]) -> Option<Stamp> {
        self.look.stamps.get(path).copied().or_else(|| Some(cache?.lookup(path)?.stamp))
    }
}
