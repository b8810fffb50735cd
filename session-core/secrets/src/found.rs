//! A secret that was found.

use crate::Secret;
use crate::mask::{self, Edit};
use crate::texts::Texts;
use crate::view::View;
use std::ops::Range;

/// A secret, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The rule that found it.
    pub rule: &'static str,
    /// What the rule finds, in a sentence.
    pub description: &'static str,
    /// From its first byte to its last in the bytes that were looked through.
    pub at: Range<usize>,
    /// What it is.
    pub secret: Secret,
    /// Whether it was recognised by its own bytes alone.
    pub by_itself: bool,
    pub(crate) edits: Vec<Edit>,
    pub(crate) is_generic: bool,
}

impl Found {
    /// Masks it in the bytes that were looked through, or in a copy of them.
    ///
    /// # Panics
    /// If they are fewer.
    pub fn mask(&self, bytes: &mut [u8]) {
        self.edits.iter().for_each(|edit| edit.apply(bytes));
    }

    /// Whether masking it changes anything.
    pub(crate) fn changes(&self, bytes: &[u8]) -> bool {
        self.edits.iter().any(|edit| edit.changes(bytes))
    }

    /// Becomes all of the text that it was found in.
    pub(crate) fn widen(&mut self, bytes: &[u8], texts: Option<&Texts>) {
        self.at = texts.and_then(|texts| texts.around(&self.at)).unwrap_or(0..bytes.len());
        let layers = View::layers(&bytes[self.at.clone()]);
        // No escape is left in the deepest, so that none stays.
        let edits = layers.last().into_iter().flat_map(|view| mask::mask(view, &(0..view.text.len())));
        self.edits = edits.map(|edit| edit.moved(self.at.start)).collect();
    }

    /// Becomes this and what overlaps it, told as one. Where that lies inside, it changes nothing.
    pub(crate) fn join(&mut self, new: Found) {
        self.by_itself &= new.by_itself;
        if self.at.start <= new.at.start && new.at.end <= self.at.end {
            return;
        }
        self.at = self.at.start.min(new.at.start)..self.at.end.max(new.at.end);
        self.edits.extend(new.edits);
        if self.is_generic && !new.is_generic {
            (self.rule, self.description, self.secret) = (new.rule, new.description, new.secret);
            self.is_generic = false;
        }
    }
}
