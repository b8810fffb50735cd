//! What can go wrong with a copy in an object store.

use crate::StoreError;
use session_core::{SessionName, Timestamp, format_time};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The result of an operation on an object store.
pub type RemoteResult<T> = Result<T, RemoteError>;

/// An operation on an object store that failed. Nothing in it holds a credential.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// A text that should say where an object store is does not, or its settings are not whole.
    #[error("{place:?} cannot be used as an object store: {reason}")]
    Place {
        /// The text, without what might be a password.
        place: String,
        /// Why.
        reason: String,
    },
    /// A request failed, after as many tries as the options allow.
    #[error("cannot {doing} {object}")]
    Request {
        /// What was attempted.
        doing: &'static str,
        /// The object, or the prefix.
        object: String,
        /// Why.
        source: Refused,
    },
    /// An object that another one names is not there.
    #[error("{object} is missing")]
    Missing {
        /// The object.
        object: String,
    },
    /// An object is not what its name, or whoever names it, says. Nothing of it was used.
    #[error("{object} is damaged: {what}")]
    Corrupt {
        /// The object.
        object: String,
        /// What is wrong.
        what: String,
    },
    /// The copy was written by a program with a newer format. Nothing was written.
    #[error("{object} has format {format}, this program knows up to {known}")]
    NewerFormat {
        /// The object.
        object: String,
        /// Its format.
        format: u32,
        /// The newest that is known.
        known: u32,
    },
    /// There is no copy of this name.
    #[error("there is no session {name} in {place}")]
    NotThere {
        /// The session.
        name: SessionName,
        /// The store.
        place: String,
    },
    /// Both have events that the other one lacks. Nothing was written anywhere.
    #[error(transparent)]
    Diverged(Box<Divergence>),
    /// The copy has events that are not here yet. Nothing was written.
    #[error("the copy of session {name} is ahead: it has {remote_bytes} bytes, {local_bytes} are here")]
    Behind {
        /// The session.
        name: SessionName,
        /// What is here.
        local_bytes: u64,
        /// What is there.
        remote_bytes: u64,
    },
    /// Another machine has the lease. Nothing was written.
    #[error("session {name} is leased to {holder} until {}", format_time(until))]
    Leased {
        /// The session.
        name: SessionName,
        /// Who has it.
        holder: String,
        /// When it is free unless it is renewed.
        until: Timestamp,
    },
    /// The lease that was held is another's by now, or was given up. Nothing was written.
    #[error("the lease of session {name} was lost to {holder}")]
    LeaseLost {
        /// The session.
        name: SessionName,
        /// Who took it, as far as it is known.
        holder: String,
    },
    /// The store cannot replace an object only if it is as expected, so that nobody can be kept out by it.
    #[error(
        "{place} has no conditional writes: sessions can be copied there, but not leased, and nothing can be collected"
    )]
    NoConditionalWrites {
        /// The store.
        place: String,
    },
    /// What is needed is just being removed, or somebody else is about to. Nothing was written but objects.
    #[error("what no session names is being removed from {place}")]
    Collecting {
        /// The store.
        place: String,
    },
    /// Others kept writing to the copy at the same time.
    #[error("the copy of session {name} keeps changing")]
    Contended {
        /// The session.
        name: SessionName,
    },
    /// One of the two is redacted and the other is not. Nothing was written.
    #[error("the copy of session {name} is {}", if *is_redacted { "redacted" } else { "not redacted" })]
    Redaction {
        /// The session.
        name: SessionName,
        /// Whether it is the copy that is.
        is_redacted: bool,
    },
    /// A file of the session did not stay as it was while it was read.
    #[error("{} keeps changing", path.display())]
    KeepsChanging {
        /// The file.
        path: PathBuf,
    },
    /// The threads and timers that requests need could not be made.
    #[error("cannot begin to send requests")]
    Runtime(#[source] io::Error),
    /// The session here.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a request failed: what the store or the network said, without the bodies of answers, which may name keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refused {
    text: String,
}

impl Refused {
    pub(super) fn new(text: String) -> Self {
        Refused { text }
    }
}

/// Two histories of one session, neither of which is the beginning of the other.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Divergence {
    /// The session.
    pub name: SessionName,
    /// How much of both is known to be the same, in bytes: at least this.
    pub common_bytes: u64,
    /// The end that is here.
    pub local: HistoryEnd,
    /// The end that is in the store.
    pub remote: HistoryEnd,
}

/// Where a history ends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryEnd {
    /// How long it is.
    pub bytes: u64,
    /// Which machine it is on, or was sent from.
    pub machine: String,
    /// When it was last written, or sent.
    pub at: Option<Timestamp>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Divergence { name, common_bytes, local, remote } = self;
        write!(f, "session {name} went on in two places after byte {common_bytes}: here {local}, there {remote}")
    }
}

impl std::error::Error for Divergence {}

impl fmt::Display for HistoryEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes by {}", self.bytes, self.machine)?;
        self.at.map_or(Ok(()), |at| write!(f, " at {}", format_time(&at)))
    }
}
