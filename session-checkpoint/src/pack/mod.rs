//! Packs: one per snapshot with changes, written and indexed by ourselves.
//!
//! A pack of ours holds whole objects only, never deltas, so that an object is found, checked and copied without
//! reading another one. Stock git may repack them into deltas; those are read through the git library.

mod copies;
mod deflate;
mod entry;
mod index;
mod raw;
mod set;
mod writer;

pub(crate) use copies::Copies;
pub(crate) use deflate::{Compression, deflate};
pub(crate) use entry::EntryKind;
pub(crate) use index::Index;
pub(crate) use raw::{Damage, RawPack};
pub(crate) use set::{PackSet, PackState};
pub(crate) use writer::{Finished, PackWriter};
