//! What a restore is limited to.

use crate::rel_path::{RelPath, is_in};
use std::collections::BTreeSet;

/// What a restore is limited to.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    pub(super) paths: Vec<RelPath>,
    pub(super) mine: Option<BTreeSet<Vec<u8>>>,
}

impl Limits {
    pub(super) fn covers(&self, path: &[u8]) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|limit| is_in(path, limit.as_bytes()))
    }

    pub(super) fn is_mine(&self, path: &[u8]) -> bool {
        self.mine.as_ref().is_none_or(|mine| mine.contains(path))
    }
}
