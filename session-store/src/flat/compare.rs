//! How much of a flat file a history holds.

use crate::{HistoryView, Result};
use session_core::{Effect, Item, Message, Replay};
use std::hash::{BuildHasher as _, RandomState};

/// What the history of a session is to a flat file of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// It begins with every message of the flat file: the migration is complete.
    Complete,
    /// Its messages are the first `held` of the flat file's, which has more: the migration was interrupted.
    Interrupted {
        /// Messages that the history holds.
        held: usize,
    },
    /// It is another conversation.
    Different,
}

/// Compares the messages that were ever added to the history, in file order, with the flat file's conversation.
///
/// Rollbacks in the history are not folded in: one that came after a complete migration would make it look interrupted.
/// Messages are the same when the reference reads the same in them. Memory is eight bytes for each message.
pub(crate) fn compare(history: &HistoryView, flat: &HistoryView) -> Result<Relation> {
    let hasher = RandomState::new();
    let digest = |message: &Message| hasher.hash_one(message.to_reference_json());
    let mut replay = Replay::new();
    for item in flat.forwards() {
        if let Item::Record(record) = flat.told(item)? {
            replay.event(&record.event.effect(), || record.event.message.as_deref().map(&digest));
        }
    }
    let wanted = replay.live();
    let mut held = 0;
    for item in history.forwards() {
        if held == wanted.len() {
            break;
        }
        if let Item::Record(record) = history.told(item)?
            && record.event.effect() == Effect::Adds
        {
            if record.event.message.as_deref().map(&digest) != wanted[held] {
                return Ok(Relation::Different);
            }
            held += 1;
        }
    }
    Ok(if held == wanted.len() { Relation::Complete } else { Relation::Interrupted { held } })
}
