//! What a bundle says of itself: its first member.

use super::error::Refused;
use super::{BundleFault, BundleLimits};
use crate::inbox;
use serde::{Deserialize, Serialize};
use session_core::{Belongs, SessionName, SessionPath};
use std::collections::HashSet;

/// The name of the manifest's member. No session has a name that starts with a dot.
pub(super) const MANIFEST: &str = ".bundle.json";
/// The form that this program writes.
pub(super) const SCHEMA: &str = "session/bundle.v1";
/// How the names of all forms begin.
const ANY_SCHEMA: &str = "session/bundle.";
/// No manifest is longer. 64 MiB.
pub(super) const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// The manifest: what follows it in the archive, in that order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) schema: String,
    /// Whether secrets were masked.
    pub(super) masked: bool,
    pub(super) sessions: Vec<ListedSession>,
}

/// A session of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListedSession {
    pub(super) name: String,
    /// In the order of their paths' bytes.
    pub(super) members: Vec<Listed>,
}

/// A member of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listed {
    /// Inside the session.
    pub(super) path: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) bytes: u64,
    /// The SHA-256 of its bytes, in hexadecimal digits. Empty: it is a directory.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) sha256: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Listed {
    pub(super) fn is_dir(&self) -> bool {
        self.sha256.is_empty()
    }
}

impl Manifest {
    /// Its bytes: compact JSON and a newline, so that what is in it decides every byte.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("strings, numbers and lists always serialize");
        bytes.push(b'\n');
        bytes
    }

    /// Reads a manifest, and checks all that it says.
    pub(super) fn read(bytes: &[u8], limits: &BundleLimits) -> Result<CheckedManifest, Refused> {
        #[derive(Deserialize)]
        struct Version {
            #[serde(default)]
            schema: String,
        }
        let whole = |fault| (Some(MANIFEST.to_owned()), fault);
        let unreadable = |source| whole(BundleFault::Manifest { source });
        let Version { schema } = serde_json::from_slice(bytes).map_err(unreadable)?;
        match schema.as_str() {
            SCHEMA => {}
            other if other.starts_with(ANY_SCHEMA) => {
                return Err(whole(BundleFault::NewerFormat { schema, known: SCHEMA }));
            }
            _ => return Err(whole(BundleFault::NoBundle)),
        }
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(unreadable)?;
        manifest.check(limits)
    }

    fn check(self, limits: &BundleLimits) -> Result<CheckedManifest, Refused> {
        let (mut members, mut bytes) = (0, 0_u64);
        for listed in self.sessions.iter().flat_map(|session| &session.members) {
            members += 1;
            bytes = bytes.saturating_add(listed.bytes);
        }
        if members > limits.max_members {
            return Err((None, BundleFault::TooMany { members, limit: limits.max_members }));
        }
        if bytes > limits.max_bytes {
            return Err((None, BundleFault::TooLarge { bytes, limit: limits.max_bytes }));
        }
        let mut names = HashSet::new();
        let mut sessions = Vec::new();
        for session in self.sessions {
            let refused = |fault| (Some(session.name.clone()), fault);
            let name = SessionName::new(session.name.clone()).map_err(|error| refused(error.into()))?;
            if !names.insert(name.clone()) {
                return Err(refused(BundleFault::Duplicate));
            }
            sessions.push(CheckedSession { members: checked(&name, session.members)?, name });
        }
        Ok(CheckedManifest { masked: self.masked, sessions })
    }
}

/// A manifest whose names and paths are good ones, each there once, in their order.
#[derive(Debug, Clone)]
pub(super) struct CheckedManifest {
    pub(super) masked: bool,
    pub(super) sessions: Vec<CheckedSession>,
}

#[derive(Debug, Clone)]
pub(super) struct CheckedSession {
    pub(super) name: SessionName,
    pub(super) members: Vec<(SessionPath, Listed)>,
}

fn checked(session: &SessionName, listed: Vec<Listed>) -> Result<Vec<(SessionPath, Listed)>, Refused> {
    let mut members: Vec<(SessionPath, Listed)> = Vec::new();
    for listed in listed {
        let refused = |fault| (Some(member(session, &listed.path)), fault);
        let path = SessionPath::new(listed.path.clone()).map_err(|error| refused(error.into()))?;
        if path.belongs() == Belongs::Machine {
            return Err(refused(BundleFault::NotPortable));
        }
        if inbox::unowned(&path) != path {
            return Err(refused(BundleFault::Process));
        }
        // In their order each comes once.
        if members.last().is_some_and(|(before, _)| *before >= path) {
            return Err(refused(BundleFault::Duplicate));
        }
        members.push((path, listed));
    }
    Ok(members)
}

/// What a member is called in the archive.
pub(super) fn member(session: &SessionName, path: &str) -> String {
    format!("{session}/{path}")
}
