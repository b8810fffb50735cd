//! Naming a checkpoint, and finding it.

use crate::commit::{Commit, TurnKind, decode};
use crate::objects::Objects;
use crate::oid::Kind;
use crate::refs::{Family, Refs};
use crate::{Error, Oid};
use std::fmt;
use std::str::FromStr;

/// Which checkpoint is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnRef {
    /// The one of this number.
    Turn(u32),
    /// The safety snapshot of this number.
    Safety(u32),
    /// The newest turn.
    Latest,
}

impl fmt::Display for TurnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TurnRef::Turn(n) => write!(f, "turn-{n}"),
            TurnRef::Safety(n) => write!(f, "safety-{n}"),
            TurnRef::Latest => f.write_str("latest"),
        }
    }
}

/// A text that names no checkpoint: it must be `N`, `turn-N`, `safety-N`, `safety:N` or `latest`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} names no checkpoint: it must be N, turn-N, safety-N or latest")]
pub struct ParseTurnRefError {
    text: String,
}

impl FromStr for TurnRef {
    type Err = ParseTurnRefError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| digits.parse().ok().filter(|n| *n > 0);
        let safety = text.strip_prefix("safety-").or_else(|| text.strip_prefix("safety:"));
        let found = match (text, text.strip_prefix("turn-"), safety) {
            ("latest", _, _) => Some(TurnRef::Latest),
            (_, Some(digits), _) => number(digits).map(TurnRef::Turn),
            (_, _, Some(digits)) => number(digits).map(TurnRef::Safety),
            _ => number(text).map(TurnRef::Turn),
        };
        found.ok_or_else(|| ParseTurnRefError { text: text.to_owned() })
    }
}

/// A checkpoint that was found and read.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) name: TurnRef,
    pub(crate) oid: Oid,
    pub(crate) commit: Commit,
}

impl Point {
    /// The newest turn that stood when it was taken: itself, where it is one; 0 where there was none. By number and not by
    /// time: two turns may be of one millisecond, and clocks are set back.
    pub(crate) fn newest_turn(&self, objects: &Objects) -> u32 {
        match self.name {
            TurnRef::Turn(n) => n,
            // The reference's turns are older than all of ours.
            TurnRef::Safety(_) if self.is_imported() => 0,
            TurnRef::Safety(_) | TurnRef::Latest => {
                let parent = self.commit.parent.and_then(|oid| read_commit(objects, oid).ok());
                parent.and_then(|(_, commit)| Some(commit.trailer?.turn)).unwrap_or(0)
            }
        }
    }

    pub(crate) fn is_restore(&self) -> bool {
        self.commit.trailer.as_ref().is_some_and(|trailer| trailer.kind == TurnKind::Restore)
    }

    /// Whether it was taken from the reference's repository.
    pub(crate) fn is_imported(&self) -> bool {
        self.commit.trailer.as_ref().is_some_and(|trailer| trailer.imported)
    }

    /// The absolute paths of the external files that it knows about, absent ones included.
    pub(crate) fn external_paths(&self) -> Vec<Vec<u8>> {
        let external = self.commit.trailer.iter().flat_map(|trailer| &trailer.external);
        external.map(|state| state.path.clone()).collect()
    }
}

/// The safety snapshot that undoes a restore, if it is in this store. A fork has the restores of its parent without what
/// undoes them, and a snapshot of its own may have the number of one of its parent's.
pub(crate) fn own_safety(
    refs: &Refs,
    fork_base: Option<u32>,
    turn: u32,
    safety: Option<u32>,
) -> Result<Option<u32>, Error> {
    let Some(safety) = safety.filter(|_| fork_base.is_none_or(|base| turn > base)) else { return Ok(None) };
    Ok(refs.get(&Family::Safety.name(safety))?.map(|_| safety))
}

/// Finds a checkpoint and reads its commit.
pub(crate) fn find(refs: &Refs, objects: &Objects, name: TurnRef) -> Result<Point, Error> {
    let missing = || Error::NoTurn { turn: name.to_string() };
    let (name, family, n) = match name {
        TurnRef::Turn(n) => (name, Family::Turn, n),
        TurnRef::Safety(n) => (name, Family::Safety, n),
        TurnRef::Latest => {
            let (n, _) = refs.list(Family::Turn)?.pop_last().ok_or_else(missing)?;
            (TurnRef::Turn(n), Family::Turn, n)
        }
    };
    let broken = |source| Error::BrokenTurn { turn: name.to_string(), source: Box::new(source) };
    let path = refs.path(&family.name(n));
    let oid = refs.get(&family.name(n))?.ok_or_else(missing)?.ok_or_else(|| broken(Error::Damaged { path }))?;
    let (oid, commit) = read_commit(objects, oid).map_err(broken)?;
    Ok(Point { name, oid, commit })
}

/// Reads a commit, through annotated tags.
pub(crate) fn read_commit(objects: &Objects, oid: Oid) -> Result<(Oid, Commit), Error> {
    let mut oid = oid;
    // A tag of a tag of a tag is somebody's joke; a loop of them cannot be, since ids depend on contents.
    for _ in 0..8 {
        match objects.read(oid)? {
            (Kind::Commit, bytes) => {
                return decode(&bytes).map(|commit| (oid, commit)).ok_or_else(|| objects.damaged(oid));
            }
            (Kind::Tag, bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let target = text.lines().next().and_then(|line| Oid::from_hex(line.strip_prefix("object ")?));
                oid = target.ok_or_else(|| objects.damaged(oid))?;
            }
            (Kind::Tree | Kind::Blob, _) => break,
        }
    }
    Err(objects.damaged(oid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_do_not() {
        for name in [TurnRef::Turn(1), TurnRef::Safety(20), TurnRef::Latest] {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert_eq!("7".parse(), Ok(TurnRef::Turn(7)));
        assert_eq!("safety:7".parse(), Ok(TurnRef::Safety(7)));
        for bad in ["", "0", "turn-", "turn-0", "safety-x", "-1", "HEAD"] {
            assert!(bad.parse::<TurnRef>().is_err(), "{bad}");
        }
    }
}
