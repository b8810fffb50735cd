//! What of a history is live: the one fold, forwards and backwards.
//!
//! A history is only ever appended to; a rollback says that the last messages before it no longer count. Replaying a
//! history means folding these rollbacks in. The unit is the message: an event that carries none neither counts nor is
//! taken away.
//!
//! - [`Replay`] runs forwards over a stream and holds only what is live.
//! - [`ReplayBackwards`] gives the live messages from the last one on, without reading what is before them.
//! - [`Conversation`], [`count`] and [`LiveEvents`] are the usual questions; a [`Counter`] goes on where it stopped, and
//!   [`HistoryPart`]s are read side by side.

mod backwards;
mod count;
mod counting;
mod fold;
mod last;
mod part;

pub use backwards::ReplayBackwards;
pub use count::{Count, Counter};
pub use counting::count;
pub use fold::{Effect, Replay};
pub use last::{LastReport, last_messages, last_model, last_report};
pub use part::HistoryPart;

use crate::decode::Said;
use crate::scan::Glance;
use crate::{Bodies, Defect, Item, Limits, Message, Scan};
use std::io::{self, BufRead};

/// The live conversation of a history, and what was wrong with the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[doc(alias = "Load")]
#[non_exhaustive]
pub struct Conversation {
    /// The live messages, in order.
    pub messages: Vec<Message>,
    /// What was wrong with lines, in file order: the first [`Conversation::MAX_DEFECTS`], so that a file full of
    /// damage costs no more memory than what it says. [`last_messages`] keeps the last ones instead.
    pub defects: Vec<Defect>,
    /// How many defects are skipped ([`Defect::is_skipped`]), also those that are not held. One line can have several.
    pub skipped: u64,
    /// How many defects are repaired ([`crate::Outcome::Repaired`]), also those that are not held. One line can have
    /// several.
    pub repaired: u64,
    /// Whether a rollback reached back across a skipped line, or was one, so that what is live is a guess.
    pub uncertain: bool,
}

impl Conversation {
    /// How many defects are held one by one.
    pub const MAX_DEFECTS: usize = 10_000;

    /// Replays a whole history. Memory is that of the live messages and the longest line.
    ///
    /// # Errors
    /// What the reader reports. Content is never an error.
    ///
    /// ```
    /// use session_core::{Conversation, Limits};
    /// let history = br#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"a"}}
    /// {"ts":"2026-01-02T03:04:06Z","kind":"message","message":{"role":"assistant","content":"b"}}
    /// {"ts":"2026-01-02T03:04:07Z","kind":"rollback","dropped":1}
    /// "#;
    /// let conversation = Conversation::read(&history[..], Limits::default())?;
    /// assert_eq!(conversation.messages.len(), 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read(history: impl BufRead, limits: Limits) -> io::Result<Self> {
        HistoryPart::load(history, limits).map(Conversation::from)
    }

    /// Whether every line of the history was understood and no rollback is in doubt. After [`last_messages`], only the
    /// lines that were read count.
    pub fn is_complete(&self) -> bool {
        !self.uncertain && self.skipped == 0
    }
}

/// Which events of a history are live. Defects are not counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LiveEvents {
    /// For each event in file order: whether its message is live, or `None` where it carries none that counts.
    pub events: Vec<Option<bool>>,
    /// As [`Conversation::uncertain`].
    pub uncertain: bool,
}

impl LiveEvents {
    /// Whether the message of an event is live, by the event's number, from 1, as it stands everywhere else. `None` where it
    /// carries none that counts, and where there is no such event.
    pub fn get(&self, number: u64) -> Option<bool> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.events.get(index).copied().flatten()
    }

    /// Finds the live events of a history, keeping no text.
    ///
    /// # Errors
    /// What the reader reports. Content is never an error.
    pub fn read(history: impl BufRead, limits: Limits) -> io::Result<Self> {
        let mut replay = Replay::new();
        let mut events = Vec::new();
        let mut scan = Scan::with_limits(history, limits).bodies(Bodies::Skip);
        while let Some(glance) = scan.glance(|_: Said<'_, ()>| ()) {
            let effect = match glance? {
                Glance::Message(_) => Effect::Adds,
                Glance::Item(Item::Record(record)) => record.event.effect(),
                Glance::Item(Item::Defect(defect)) => {
                    replay.defect(&defect);
                    continue;
                }
            };
            let number = events.len();
            events.push((effect == Effect::Adds).then_some(false));
            replay.event(&effect, || number);
        }
        for &number in replay.live() {
            events[number] = Some(true);
        }
        Ok(LiveEvents { events, uncertain: replay.is_uncertain() })
    }
}
