//! What came in with a bundle.

use session_core::SessionName;

/// A session that came in with a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportedFromBundle {
    /// Its name here.
    pub name: SessionName,
    /// Its name in the bundle.
    pub was: SessionName,
    /// Whether it came in with the same bundle before, and was left alone now.
    pub is_known: bool,
}
