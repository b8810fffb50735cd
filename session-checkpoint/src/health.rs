//! What of the store is whole, what is damaged, and what is missing.

use crate::commit::decode;
use crate::error::reading;
use crate::layout::Layout;
use crate::loose;
use crate::objects::Objects;
use crate::oid::Kind;
use crate::pack::{Index, PackSet, PackState};
use crate::rel_path::joined;
use crate::tree::{Mode, parse};
use crate::turns::{Turn, TurnState};
use crate::{Error, Oid, stored};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

/// What is known of an object without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectState {
    /// It is there.
    Present,
    /// It is there, and its bytes are not its own any more.
    Damaged,
    /// It is not there.
    Missing,
}

/// The objects that a store holds, by what its indexes say.
pub(crate) struct Stock<'a> {
    packs: Vec<(&'a PackState, bool)>,
    loose: HashMap<Oid, bool>,
    /// Indexes of packs that were set aside.
    aside: Vec<Index>,
    /// Objects of good packs whose own bytes were found damaged.
    damaged: HashSet<Oid>,
    store: PathBuf,
}

impl<'a> Stock<'a> {
    pub(crate) fn of(layout: &Layout, packs: &'a PackSet) -> Result<Self, Error> {
        let aside = crate::listing::names(&layout.damaged())?
            .into_iter()
            .filter(|name| name.ends_with(".idx"))
            .filter_map(|name| Index::parse(stored::read(&layout.damaged().join(name)).ok()??))
            .collect();
        let mut loose_objects = HashMap::new();
        for (oid, path) in loose::list(layout)? {
            let whole = fs::metadata(&path).map_err(reading(&path))?.len() > 0;
            loose_objects.insert(oid, whole);
        }
        let packs = packs.packs.iter().map(|pack| (pack, looks_whole(pack))).collect();
        Ok(Stock { packs, loose: loose_objects, aside, damaged: HashSet::new(), store: layout.store.clone() })
    }

    /// Marks objects whose bytes were read and found wrong.
    pub(crate) fn mark_damaged(&mut self, oids: impl IntoIterator<Item = Oid>) {
        self.damaged.extend(oids);
    }

    /// Whether anything at all is known to be wrong.
    fn is_suspicious(&self) -> bool {
        !self.aside.is_empty() || self.packs.iter().any(|(_, whole)| !whole) || self.loose.values().any(|whole| !whole)
    }

    pub(crate) fn state(&self, oid: Oid) -> ObjectState {
        let holds = |pack: &PackState| pack.index().is_some_and(|index| index.contains(oid));
        if self.damaged.contains(&oid) {
            return ObjectState::Damaged;
        }
        if self.loose.get(&oid) == Some(&true) || self.packs.iter().any(|(pack, whole)| *whole && holds(pack)) {
            return ObjectState::Present;
        }
        let damaged = self.loose.contains_key(&oid)
            || self.packs.iter().any(|(pack, _)| holds(pack))
            || self.aside.iter().any(|index| index.contains(oid));
        if damaged { ObjectState::Damaged } else { ObjectState::Missing }
    }

    /// The error for an object that is not there as it should be.
    pub(crate) fn expect(&self, oid: Oid) -> Result<(), Error> {
        let store = self.store.clone();
        match self.state(oid) {
            ObjectState::Present => Ok(()),
            ObjectState::Damaged => Err(Error::DamagedObject { oid, store }),
            ObjectState::Missing => Err(Error::MissingObject { oid, store }),
        }
    }
}

/// The cheap look: both ends of the pack are where they should be, and the index is its own.
fn looks_whole(pack: &PackState) -> bool {
    let look = || {
        let index = pack.index()?;
        let file = fs::File::open(pack.pack_path()).ok()?;
        let (mut head, mut tail) = ([0; 4], [0; 20]);
        file.read_exact_at(&mut head, 0).ok()?;
        file.read_exact_at(&mut tail, pack.len.checked_sub(20)?).ok()?;
        Some(&head == b"PACK" && tail == index.pack_checksum())
    };
    look() == Some(true)
}

/// An object that a turn needs and cannot have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BadObject {
    /// The object.
    pub oid: Oid,
    /// Whether it is damaged or missing.
    pub state: ObjectState,
    /// A path that leads to it; empty for the turn's own commit and root.
    #[serde(with = "crate::rel_path::json_bytes")]
    pub path: Vec<u8>,
}

/// Finds what turns lack. Subtrees that were seen are not read again.
pub(crate) struct Inspector<'a> {
    pub(crate) objects: &'a Objects,
    pub(crate) stock: &'a Stock<'a>,
    /// Whether contents are read, too.
    pub(crate) deep: bool,
    seen: HashMap<Oid, Vec<BadObject>>,
    pub(crate) checked: u64,
}

impl<'a> Inspector<'a> {
    pub(crate) fn new(objects: &'a Objects, stock: &'a Stock<'a>, deep: bool) -> Self {
        Inspector { objects, stock, deep, seen: HashMap::new(), checked: 0 }
    }

    /// What a commit lacks.
    pub(crate) fn commit(&mut self, oid: Oid) -> Vec<BadObject> {
        match self.object(oid, Kind::Commit, true, b"") {
            Ok(bytes) => match decode(&bytes) {
                Some(commit) => self.tree(commit.tree, b""),
                None => vec![BadObject { oid, state: ObjectState::Damaged, path: Vec::new() }],
            },
            Err(bad) => vec![bad],
        }
    }

    fn object(&mut self, oid: Oid, kind: Kind, read: bool, path: &[u8]) -> Result<Vec<u8>, BadObject> {
        self.checked += 1;
        let bad = |state| BadObject { oid, state, path: path.to_vec() };
        match self.stock.state(oid) {
            ObjectState::Present if !read => Ok(Vec::new()),
            ObjectState::Present => match self.objects.read_kind(oid, kind) {
                Ok(bytes) => Ok(bytes),
                Err(Error::MissingObject { .. }) => Err(bad(ObjectState::Missing)),
                Err(_) => Err(bad(ObjectState::Damaged)),
            },
            state => Err(bad(state)),
        }
    }

    fn tree(&mut self, oid: Oid, path: &[u8]) -> Vec<BadObject> {
        if let Some(known) = self.seen.get(&oid) {
            return known.clone();
        }
        let bad = match self.object(oid, Kind::Tree, true, path) {
            Err(bad) => vec![bad],
            Ok(bytes) => match parse(&bytes) {
                None => vec![BadObject { oid, state: ObjectState::Damaged, path: path.to_vec() }],
                Some(entries) => {
                    let mut bad = Vec::new();
                    for entry in entries {
                        let path = joined(path, entry.name);
                        match entry.mode {
                            Mode::Dir => bad.extend(self.tree(entry.oid, &path)),
                            Mode::Gitlink => {}
                            Mode::File | Mode::Exec | Mode::Link => bad.extend(self.blob(entry.oid, &path)),
                        }
                    }
                    bad
                }
            },
        };
        self.seen.insert(oid, bad.clone());
        bad
    }

    fn blob(&mut self, oid: Oid, path: &[u8]) -> Option<BadObject> {
        if let Some(known) = self.seen.get(&oid) {
            return known.first().cloned();
        }
        let bad = self.object(oid, Kind::Blob, self.deep, path).err();
        self.seen.insert(oid, bad.iter().cloned().collect());
        bad
    }
}

/// Marks the turns of a list that are known to be broken. Where nothing is wrong this is a look at the ends of each
/// pack; only where something is are the turns' trees walked.
pub(crate) fn mark(layout: &Layout, turns: &mut [Turn]) -> Result<(), Error> {
    let broken = PackSet::look(&layout.packs(), |packs| broken(layout, packs, turns), Vec::is_empty)?;
    for n in broken {
        turns[n].state = TurnState::Broken;
    }
    Ok(())
}

/// Which turns of a list are known to be broken, by their place in it.
fn broken(layout: &Layout, packs: &PackSet, turns: &[Turn]) -> Result<Vec<usize>, Error> {
    let stock = Stock::of(layout, packs)?;
    let lacks_commit = |turn: &Turn| stock.state(turn.commit) != ObjectState::Present;
    if !stock.is_suspicious() && !turns.iter().any(lacks_commit) {
        return Ok(Vec::new());
    }
    let objects = Objects::open(&layout.objects())?;
    let mut inspector = Inspector::new(&objects, &stock, false);
    Ok((0..turns.len()).filter(|n| !inspector.commit(turns[*n].commit).is_empty()).collect())
}
