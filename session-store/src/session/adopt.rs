//! Metadata that comes from a copy of the session.

use crate::{Result, Session, meta};
use session_core::Meta;

impl Session {
    /// Takes over what a copy of this session that is ahead says about it. Where it works stays as it is here, and so does
    /// a title that a person has set.
    pub(crate) fn adopt_meta(&self, other: &Meta) -> Result<()> {
        self.change_meta(|meta| {
            let before = meta.clone();
            *meta = Meta { name: before.name.clone(), ..other.clone() };
            if !before.workspace.is_empty() {
                meta.workspace.clone_from(&before.workspace);
            }
            meta.created = before.created.or(other.created);
            meta.updated = before.updated.max(other.updated);
            meta::keep_users_title(&before, meta);
            Ok(())
        })?;
        Ok(())
    }
}
