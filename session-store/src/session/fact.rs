//! What must last: an event in the history, and a copy in the metadata, which waits there until there is a history.

use crate::history::hold_history;
use crate::{Result, Session, meta};
use session_core::{Extension, Meta};

impl Session {
    /// Tells the history of a fact, where there is one, and then changes the metadata; `change` says whether it did. `says`
    /// is whether metadata says it. Gives the metadata as it is then.
    ///
    /// The history first: who dies before the metadata says it has not answered, and repeats it.
    pub(super) fn keep_fact(
        &self,
        fact: Extension,
        change: impl FnOnce(&mut Meta) -> Result<bool>,
        says: impl Fn(&Meta) -> bool,
    ) -> Result<Meta> {
        let is_told = self.has_history()?;
        let now = self.clock.utc();
        let event = [fact.into_event(now)];
        if is_told {
            self.append(&event)?;
        }
        let meta = self.change_meta(|meta| {
            if change(meta)? {
                meta.updated = Some(now);
            }
            Ok(())
        })?;
        if !is_told && says(&meta) && self.begun_without(&says)? {
            self.append(&event)?;
        }
        Ok(meta)
    }

    /// Whether there is a history by now that does not say what the metadata does. Asked after the metadata was changed:
    /// whoever begins a history has its lock and then reads the metadata, and who comes later reads what is there now.
    pub(crate) fn begun_without(&self, says: impl Fn(&Meta) -> bool) -> Result<bool> {
        let Some(_appends) = hold_history(&self.paths)? else { return Ok(false) };
        Ok(self.has_history()? && !says(&meta::of_history(&self.paths.history(), self.options.limits)?))
    }
}
