//! Events without a message that say something to a person.

use crate::{Event, Extension, Kind, TurnPhase};

/// What an event without a message says to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aside {
    /// A notice of the agent.
    Notice(String),
    /// The model that the conversation goes on with.
    Model(String),
    /// So many messages were taken back.
    TakenBack(u64),
    /// A turn ended otherwise than well.
    Ended(String),
    /// A snapshot of the workspace was taken, restored, or could not be taken.
    Checkpoint {
        /// What happened: `taken`, `restored`, `failed`.
        action: String,
        /// Its number.
        turn: Option<u64>,
        /// What a person should know about it.
        note: String,
    },
    /// The conversation goes on in another session.
    GoesOn(String),
}

impl Aside {
    /// What an event says; `None` for messages, and for what is not for people.
    pub fn of(event: &Event) -> Option<Self> {
        match (&event.kind, event.extension()) {
            (Kind::Rollback, _) => {
                u64::try_from(event.dropped).ok().filter(|dropped| *dropped > 0).map(Aside::TakenBack)
            }
            _ if event.message.is_some() => None,
            (Kind::Notice, _) => Some(Aside::Notice(event.text.clone())).filter(|_| !event.text.is_empty()),
            (Kind::Settings, _) => Some(Aside::Model(event.model.clone())).filter(|_| !event.model.is_empty()),
            (_, Some(Extension::Turn(mark))) => {
                let is_bad = mark.phase == TurnPhase::End && !matches!(mark.outcome.as_str(), "" | "done");
                is_bad.then_some(Aside::Ended(mark.outcome))
            }
            (_, Some(Extension::Checkpoint(mark))) => {
                Some(Aside::Checkpoint { action: mark.action, turn: mark.turn, note: mark.note })
            }
            (_, Some(Extension::Successor(next))) => Some(Aside::GoesOn(next.name)),
            _ => None,
        }
    }
}
