//! Reading the conversation.

use crate::{HistoryView, Result, Session};
use session_core::{Conversation, LastReport};

impl Session {
    /// The history as it stands now. No lock is taken and nothing is written; a session without one has an empty one.
    ///
    /// # Errors
    /// [`crate::StoreError::Deleted`], [`crate::StoreError::Read`].
    pub fn view(&self) -> Result<HistoryView> {
        self.verify()?;
        HistoryView::open(&self.paths, self.options.limits)
    }

    /// The live conversation, and what was wrong with the file. Content is never an error.
    ///
    /// # Errors
    /// As [`Session::view`].
    #[doc(alias = "Load")]
    pub fn load(&self) -> Result<Conversation> {
        self.view()?.load()
    }

    /// The model of the last settings that name one, found from the end.
    ///
    /// # Errors
    /// As [`Session::view`].
    #[doc(alias = "LastSettingsModel")]
    pub fn last_model(&self) -> Result<Option<String>> {
        self.view()?.last_model()
    }

    /// The last structured report, and whether it is still what the conversation says, found from the end.
    ///
    /// # Errors
    /// As [`Session::view`].
    #[doc(alias = "LastReport")]
    pub fn last_report(&self) -> Result<Option<LastReport>> {
        self.view()?.last_report()
    }
}
