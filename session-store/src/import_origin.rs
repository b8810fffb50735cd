//! Where a session comes from that was made elsewhere.

use crate::SessionPaths;
use serde::{Deserialize, Serialize};
use session_core::{Fields, layout};
use session_disk::read_regular;

/// Longer ones were not written here.
const MAX_ORIGIN_BYTES: u64 = 64 << 10;

/// Where an imported session comes from. It stands in the first line of its history, and as a copy in its metadata.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportOrigin {
    /// The name of the file.
    pub source: String,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Which of the sessions in it this is, from 0.
    pub index: u64,
    /// The format.
    pub format: String,
    /// The version of the format, or of the program that wrote it; empty where the file does not say it.
    pub version: String,
    /// What the other program calls the session.
    pub id: String,
    /// What the other program calls the session that this one was forked from or belongs to.
    pub parent: String,
}

impl ImportOrigin {
    /// The member of `x`, in the first line of the history and in the metadata.
    pub(crate) const MEMBER: &str = "import";
    /// The format of a session that came with a bundle. Where that came from stands in a file of its own,
    /// [`layout::BUNDLE`], since nothing of what came is changed.
    #[cfg(feature = "bundle")]
    pub(crate) const BUNDLE: &str = "bundle";

    /// Whether both are the same session of the same file.
    pub fn is_same(&self, other: &ImportOrigin) -> bool {
        !self.sha256.is_empty() && self.sha256 == other.sha256 && self.index == other.index
    }

    /// The bundle that a session came with.
    pub(crate) fn of_bundle(paths: &SessionPaths) -> Option<Self> {
        let (bytes, _) = read_regular(&paths.dir().join(layout::BUNDLE), MAX_ORIGIN_BYTES).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The bytes of that file.
    #[cfg(feature = "bundle")]
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("strings and a number are always JSON");
        bytes.push(b'\n');
        bytes
    }

    pub(crate) fn of(x: &Fields) -> Option<Self> {
        serde_json::from_value(x.value(ImportOrigin::MEMBER)?).ok()
    }

    pub(crate) fn put_on(&self, x: &mut Fields) {
        x.set(ImportOrigin::MEMBER, &serde_json::to_value(self).expect("strings and a number are always JSON"));
    }
}
