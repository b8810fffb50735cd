//! Why a message is not delivered.

use session_core::layout::MAX_INBOX_BYTES;
use session_core::{Timestamp, format_time};
use std::fmt;
use std::io;

/// Why a file of the inbox cannot be delivered.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unfit {
    /// There is nothing in it but white space, and there was not for two seconds.
    Empty,
    /// It has more than [`MAX_INBOX_BYTES`] bytes.
    TooLarge {
        /// How many it has.
        bytes: u64,
    },
    /// It cannot be read.
    Unreadable {
        /// Why.
        source: io::Error,
    },
    /// Nobody took it in time.
    Expired {
        /// When it was too late.
        at: Timestamp,
    },
    /// It was meant for another turn, which is over.
    OtherTurn {
        /// The id of that turn.
        turn: String,
    },
}

impl Unfit {
    /// Whether its sender wanted it so: the message itself is as it should be.
    pub fn is_expiry(&self) -> bool {
        match self {
            Unfit::Expired { .. } | Unfit::OtherTurn { .. } => true,
            Unfit::Empty | Unfit::TooLarge { .. } | Unfit::Unreadable { .. } => false,
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Empty => f.write_str("it is empty"),
            Unfit::TooLarge { bytes } => write!(f, "it has {bytes} bytes, {MAX_INBOX_BYTES} are allowed"),
            Unfit::Unreadable { source } => write!(f, "it cannot be read: {source}"),
            Unfit::Expired { at } => write!(f, "it expired at {}", format_time(at)),
            Unfit::OtherTurn { turn } => write!(f, "it was for the turn {turn:?}, which is over"),
        }
    }
}
