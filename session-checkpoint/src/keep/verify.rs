//! Looking whether everything is there and is itself.

use crate::health::{BadObject, Inspector, Stock};
use crate::pack::{Damage, PackSet, PackState, RawPack};
use crate::point::TurnRef;
use crate::reader::Reader;
use crate::refs::Family;
use crate::{Error, Oid};
use serde::Serialize;
use std::path::PathBuf;

/// How much `verify` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VerifyDepth {
    /// Every pack's bytes against its checksum, every commit and tree, and whether each content is there.
    #[default]
    Packs,
    /// Every content too, against its id.
    Contents,
}

/// What `verify` found of one checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TurnHealth {
    /// The checkpoint, by name.
    pub name: String,
    /// What it lacks, at most 100 of it. Empty is whole.
    pub bad: Vec<BadObject>,
    /// How much it lacks.
    pub bad_n: u64,
}

/// A pack whose bytes are not what they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DamagedPack {
    /// The pack.
    pub path: PathBuf,
    /// Whether it is the index that is damaged, and not the pack.
    pub index: bool,
    /// Objects in it that are damaged.
    pub objects: u64,
}

/// What `verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verification {
    /// Every turn and safety snapshot.
    pub turns: Vec<TurnHealth>,
    /// Packs that are damaged.
    pub packs: Vec<DamagedPack>,
    /// Packs that were set aside at some open, because they were.
    pub set_aside: Vec<PathBuf>,
    /// Objects that were looked at.
    pub objects: u64,
}

impl Verification {
    /// Whether nothing is wrong with any checkpoint.
    pub fn is_whole(&self) -> bool {
        self.packs.is_empty() && self.turns.iter().all(|turn| turn.bad_n == 0)
    }
}

const SHOWN: usize = 100;

impl Reader {
    /// Looks at every checkpoint. It changes nothing: what is damaged is told, and the other turns stay usable.
    ///
    /// # Errors
    /// Failed reads of directories. Damage is no error but an answer.
    pub fn verify(&self, depth: VerifyDepth) -> Result<Verification, Error> {
        PackSet::look(&self.layout.packs(), |packs| self.verify_with(packs, depth), Verification::is_whole)
    }

    fn verify_with(&self, packs: &PackSet, depth: VerifyDepth) -> Result<Verification, Error> {
        let mut stock = Stock::of(&self.layout, packs)?;
        let objects = self.objects()?;
        let mut damaged = Vec::new();
        for pack in &packs.packs {
            if let Err(damage) = pack.check() {
                let bad = damaged_objects(pack);
                damaged.push(DamagedPack {
                    path: pack.pack_path(),
                    index: damage == Damage::Index,
                    objects: bad.len() as u64,
                });
                // What was stored again is whole.
                stock.mark_damaged(bad.into_iter().filter(|oid| objects.read(*oid).is_err()));
            }
        }
        let mut inspector = Inspector::new(&objects, &stock, depth == VerifyDepth::Contents);
        let mut turns = Vec::new();
        for family in [Family::Turn, Family::Safety] {
            for (n, target) in self.refs().list(family)? {
                let name = if family == Family::Turn { TurnRef::Turn(n) } else { TurnRef::Safety(n) };
                turns.push(health(&mut inspector, name, target));
            }
        }
        let checked = inspector.checked;
        Ok(Verification { turns, packs: damaged, set_aside: self.set_aside()?, objects: checked })
    }

    /// Packs that were set aside because they were damaged.
    pub(crate) fn set_aside(&self) -> Result<Vec<PathBuf>, Error> {
        let dir = self.layout.damaged();
        Ok(crate::listing::names(&dir)?.into_iter().map(|name| dir.join(name)).collect())
    }
}

fn health(inspector: &mut Inspector<'_>, name: TurnRef, target: Option<Oid>) -> TurnHealth {
    let mut bad = match target {
        Some(oid) => inspector.commit(oid),
        // The reference itself holds no id.
        None => vec![BadObject { oid: Oid::ZERO, state: crate::health::ObjectState::Damaged, path: Vec::new() }],
    };
    let bad_n = bad.len() as u64;
    bad.truncate(SHOWN);
    TurnHealth { name: name.to_string(), bad, bad_n }
}

/// The objects of a damaged pack whose own bytes are wrong. Without a usable index all of it is unknown.
fn damaged_objects(pack: &PackState) -> Vec<Oid> {
    let Some(index) = pack.index() else { return Vec::new() };
    let all = || index.entries().map(|entry| entry.oid).collect();
    let Ok(raw) = RawPack::open(&pack.pack_path(), index) else { return all() };
    let mut buffer = Vec::new();
    let is_bad = |n: &usize| !matches!(raw.read(*n, &mut buffer), Ok(Some(_)));
    (0..raw.len()).filter(is_bad).map(|n| raw.oid(n)).collect()
}
