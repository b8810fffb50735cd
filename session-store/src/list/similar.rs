//! Names that somebody may have meant.

use crate::Result;
use crate::candidate::candidates;
use session_core::SessionName;
use std::cmp::Reverse;
use std::path::Path;

/// How many names are offered at most.
const MAX_OFFERED: usize = 3;

/// The sessions whose names are close to a name that none has, the closest first: those that begin with it or differ in
/// at most a third of its letters.
pub(super) fn similar(base: &Path, name: &str) -> Result<Vec<SessionName>> {
    let allowed = (name.chars().count() / 3).max(1);
    let mut close = Vec::new();
    for candidate in candidates(base)? {
        let Ok(candidate) = candidate.session_name() else { continue };
        let distance = strsim::osa_distance(&name.to_lowercase(), &candidate.as_str().to_lowercase());
        let begins_so = !name.is_empty() && candidate.as_str().starts_with(name);
        if begins_so || distance <= allowed {
            close.push((Reverse(begins_so), distance, candidate));
        }
    }
    close.sort();
    Ok(close.into_iter().take(MAX_OFFERED).map(|(_, _, name)| name).collect())
}
