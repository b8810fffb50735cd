//! The session's metadata.

use crate::history::hold_or_create;
use crate::meta::{self, MetaReading, Update};
use crate::{Result, Session, workspace};
use session_core::Meta;
use std::time::Duration;

/// How long an update of the metadata waits for those of other processes.
const UPDATE_WAIT: Duration = Duration::from_secs(10);

impl Session {
    /// The session's metadata as the files say it now. Nothing is written.
    ///
    /// # Errors
    /// [`crate::StoreError::Deleted`], [`crate::StoreError::Read`]. Bad content is no error: see [`MetaReading::damage`].
    #[doc(alias = "Meta")]
    pub fn meta(&self) -> Result<MetaReading> {
        self.verify()?;
        meta::read(&self.paths, &self.name, self.options.limits)
    }

    /// Changes the metadata: reads it, lets `change` change it, and replaces the files, so that no change that another
    /// process makes to another field is lost. `updated` is set to now where anything changes. Gives what is in the files
    /// then.
    ///
    /// A title that a person set stays: see [`Session::set_title`].
    ///
    /// On disk when it returns: `meta.json` and our copy of it, each replaced in one step. Where `succeeded_by` was changed
    /// and there is no history, an empty one, so that nobody begins one meanwhile.
    ///
    /// # Errors
    /// [`crate::StoreError::NotLocked`] where `succeeded_by` was changed and this handle's lock is not held;
    /// [`crate::StoreError::Deleted`]; [`crate::StoreError::Locked`] where another process stays in an update; the step that failed.
    #[doc(alias = "SaveMeta")]
    pub fn update_meta(&self, change: impl FnOnce(&mut Meta)) -> Result<Meta> {
        let mut appends = None;
        let changed = self.change_meta(|meta| {
            let succeeded_by = meta.succeeded_by.clone();
            self.change_by_the_rules(meta, change)?;
            if meta.succeeded_by != succeeded_by {
                self.held()?.check()?;
                // Who is appending has done so before; who comes later sees it.
                appends = hold_or_create(&self.paths)?;
            }
            Ok(())
        });
        drop(appends);
        changed
    }

    pub(super) fn change_by_the_rules(&self, meta: &mut Meta, change: impl FnOnce(&mut Meta)) -> Result<()> {
        let before = meta.clone();
        change(meta);
        self.redact_texts(&before, meta)?;
        meta::keep_users_title(&before, meta);
        if *meta != before {
            meta.updated = Some(self.clock.utc());
        }
        Ok(())
    }

    fn redact_texts(&self, before: &Meta, meta: &mut Meta) -> Result<()> {
        let texts = [
            (&before.title, &mut meta.title),
            (&before.first_prompt, &mut meta.first_prompt),
            (&before.summary, &mut meta.summary),
        ];
        let mut changed = texts.into_iter().filter(|(before, text)| *before != *text);
        changed.try_for_each(|(_, text)| self.redaction.text(text, &self.paths.meta()))
    }

    /// Changes the metadata without the rules of [`Session::update_meta`].
    pub(crate) fn change_meta(&self, change: impl FnOnce(&mut Meta) -> Result<()>) -> Result<Meta> {
        self.change_meta_within(UPDATE_WAIT, change)
    }

    pub(super) fn change_meta_within(
        &self,
        wait: Duration,
        change: impl FnOnce(&mut Meta) -> Result<()>,
    ) -> Result<Meta> {
        self.verify()?;
        let update = Update {
            paths: &self.paths,
            name: &self.name,
            limits: self.options.limits,
            durability: self.options.durability,
            now: self.clock.utc(),
            wait,
        };
        let change = |meta: &mut Meta| {
            let before = meta.clone();
            change(meta)?;
            if *meta != before {
                workspace::identify(meta, &before.workspace);
            }
            Ok(())
        };
        meta::update(&update, change).map_err(|error| self.or_deleted(error))
    }
}
