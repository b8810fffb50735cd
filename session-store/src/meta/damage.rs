//! What is wrong with a metadata file.

use session_core::MetaFault;
use std::fmt;

/// Why a session's `meta.json` could not be used. It is a finding, not an error: the session opens all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetaDamage {
    /// It is empty.
    Empty,
    /// It holds something else than metadata.
    Content(MetaFault),
    /// It cannot be read: a directory, a link, no permission, too large.
    Unreadable {
        /// What the system says.
        reason: String,
    },
}

impl fmt::Display for MetaDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetaDamage::Empty => f.write_str("it is empty"),
            MetaDamage::Content(fault) => fault.fmt(f),
            MetaDamage::Unreadable { reason } => f.write_str(reason),
        }
    }
}
