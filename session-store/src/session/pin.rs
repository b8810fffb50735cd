//! Pinning: a session that is never pruned.

use crate::meta::{is_pinned, set_pinned};
use crate::{Result, Session};
use session_core::{Extension, Meta, Note};

impl Session {
    /// Whether the session is pinned. Nothing is written.
    ///
    /// # Errors
    /// As [`Session::meta`].
    pub fn is_pinned(&self) -> Result<bool> {
        Ok(is_pinned(&self.meta()?.meta))
    }

    /// Pins the session: no pruning takes it, or anything of it, until it is unpinned. Pinning again changes nothing. Gives
    /// the metadata as it is then.
    ///
    /// On disk when it returns: an `x.note` in the history, where there is one, and a mark in the metadata, which waits
    /// there until there is: then it becomes one of the first lines.
    ///
    /// # Errors
    /// As [`Session::append`] and [`Session::update_meta`].
    pub fn pin(&self) -> Result<Meta> {
        self.set_pinned(Note::PINNED)
    }

    /// Takes the pin away. Unpinning again changes nothing. Gives the metadata as it is then.
    ///
    /// On disk when it returns: as [`Session::pin`] says it.
    ///
    /// # Errors
    /// As [`Session::pin`].
    pub fn unpin(&self) -> Result<Meta> {
        self.set_pinned(Note::UNPINNED)
    }

    fn set_pinned(&self, topic: &str) -> Result<Meta> {
        let meta = self.meta()?.meta;
        let wanted = topic == Note::PINNED;
        if is_pinned(&meta) == wanted {
            return Ok(meta);
        }
        let note = Note { topic: topic.to_owned(), text: String::new() };
        let change = |meta: &mut Meta| {
            set_pinned(meta, wanted);
            Ok(true)
        };
        self.keep_fact(Extension::Note(note), change, |meta| is_pinned(meta) == wanted)
    }
}
