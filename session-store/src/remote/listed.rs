//! Copies, as a list of objects shows them.

use super::Traffic;
use super::objects::Version;
use session_core::{SessionName, Timestamp};

/// Copies, as a list of objects shows them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RemoteList {
    /// In the order of their names.
    pub sessions: Vec<RemoteSession>,
    /// What was sent and received.
    pub traffic: Traffic,
}

/// A copy, as a list of objects shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteSession {
    /// The session.
    pub name: SessionName,
    /// When its manifest was last written, by the clock of the store.
    pub written: Timestamp,
    /// How long its manifest is.
    pub manifest_bytes: u64,
    pub(super) version: Option<Version>,
}
