//! What a store offers for finding what is wrong.

use super::{Examination, examine, examine_sessions};
use crate::{Result, Store};
use session_core::SessionName;

impl Store {
    /// Looks for what is not as it should be, in the whole store. Reads only.
    ///
    /// # Errors
    /// What keeps the store's directory itself from being read. What cannot be read below it is a finding.
    pub fn doctor(&self) -> Result<Examination> {
        examine(self.base_dir(), self.options().limits, self.clock().utc())
    }

    /// The same for some sessions.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`] for a name that none has.
    pub fn doctor_sessions(&self, names: &[SessionName]) -> Result<Examination> {
        examine_sessions(self.base_dir(), names, self.options().limits, self.clock().utc())
    }
}
