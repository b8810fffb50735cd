//! The session's title.

use crate::meta::fill_title;
use crate::{Result, Session};
use session_core::{Extension, Item, Meta, TitleSet, TitleSource, first_words_title, normalize_title};

impl Session {
    /// Gives a session without a title one that is made from its first prompt: the first message of the user that a person
    /// wrote something of, live or not. Gives the metadata as it is then.
    ///
    /// On disk when it returns, and errors: as [`Session::set_title`].
    ///
    /// # Errors
    /// See there; [`crate::StoreError::Read`].
    pub fn auto_title(&self) -> Result<Meta> {
        let meta = self.meta()?.meta;
        if !meta.title.is_empty() {
            return Ok(meta);
        }
        let view = self.view()?;
        let mut prompt = None;
        for item in view.forwards() {
            if let Item::Record(record) = view.told(item)? {
                let written = record.event.prompt();
                prompt = written.filter(|written| !written.is_empty());
                if prompt.is_some() {
                    break;
                }
            }
        }
        let prompt = prompt.unwrap_or(meta.first_prompt);
        self.set_title(&first_words_title(&prompt, None), TitleSource::Auto)
    }

    /// Sets the title, brought into the form of titles. One that a program made only fills an empty field; one that a
    /// person gave replaces any. Gives the metadata as it is then.
    ///
    /// On disk when it returns: an `x.title` event in the history, where there is one, and the title in the metadata.
    /// Without a history the title waits in the metadata until there is.
    ///
    /// # Errors
    /// As [`Session::append`] and [`Session::update_meta`].
    pub fn set_title(&self, title: &str, by: TitleSource) -> Result<Meta> {
        let title = self.as_title(title)?;
        let meta = self.meta()?.meta;
        if !fill_title(&mut meta.clone(), &title, by) || (title.is_empty() && by == TitleSource::Auto) {
            return Ok(meta);
        }
        self.retitle(&title, by, |_| {})
    }

    /// Sets a title that a person gave, as [`Session::set_title`] does, and other fields, as [`Session::update_meta`]
    /// does: the metadata is written once. What `change` does to the title and to `succeeded_by` does not count.
    ///
    /// On disk when it returns: an `x.title` event in the history, where there is one, and all the fields in the metadata.
    /// After an error none of the fields, though the event may be there, and then the title counts.
    ///
    /// # Errors
    /// As [`Session::append`] and [`Session::update_meta`].
    pub fn update_meta_and_title(&self, title: &str, change: impl FnOnce(&mut Meta)) -> Result<Meta> {
        self.retitle(&self.as_title(title)?, TitleSource::User, change)
    }

    fn as_title(&self, title: &str) -> Result<String> {
        let mut title = normalize_title(title);
        self.redaction.text(&mut title, &self.paths.meta())?;
        Ok(title)
    }

    fn retitle(&self, title: &str, by: TitleSource, change: impl FnOnce(&mut Meta)) -> Result<Meta> {
        let fact = Extension::Title(TitleSet { title: title.to_owned(), by });
        let change = |meta: &mut Meta| {
            let succeeded_by = meta.succeeded_by.clone();
            self.change_by_the_rules(meta, change)?;
            meta.succeeded_by = succeeded_by;
            Ok(fill_title(meta, title, by))
        };
        self.keep_fact(fact, change, |meta| meta.title == title)
    }
}
