//! What was wrong inside one object, and reading members that may be wrong.

use crate::json::{Cursor, Lossy, Malformed, Shape};
use crate::{Fault, Fields};
use std::borrow::Cow;

/// The first fault of each severity in one object.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The event can be kept.
    pub(crate) repaired: Option<Fault>,
    /// The event cannot be kept.
    pub(crate) skipped: Option<Fault>,
}

impl Notes {
    pub(crate) fn take_lossy(&mut self, cursor: &Cursor<'_>) {
        if let Some(lossy) = cursor.lossy() {
            self.repaired.get_or_insert(match lossy {
                Lossy::Surrogate => Fault::LoneSurrogate,
                Lossy::Utf8 => Fault::InvalidUtf8,
            });
        }
    }

    pub(crate) fn wrong(&mut self, weight: Weight, field: &'static str) {
        let fault = Fault::WrongType { field };
        match weight {
            Weight::Side => self.repaired.get_or_insert(fault),
            Weight::Vital => self.skipped.get_or_insert(fault),
        };
    }
}

/// Whether an event can be kept when this member has the wrong type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Side,
    Vital,
}

/// A member being read: where, and what to do when its type is wrong.
pub(crate) struct Member<'c, 'a, 'n> {
    pub(crate) cursor: &'c mut Cursor<'a>,
    pub(crate) notes: &'n mut Notes,
    pub(crate) field: &'static str,
    pub(crate) weight: Weight,
}

impl<'c, 'a, 'n> Member<'c, 'a, 'n> {
    /// A member of an object, before it is known which one.
    pub(crate) fn new(cursor: &'c mut Cursor<'a>, notes: &'n mut Notes) -> Self {
        Member { cursor, notes, field: "", weight: Weight::Vital }
    }

    /// A member without which the event can be kept.
    pub(crate) fn side(self, field: &'static str) -> Self {
        Member { field, weight: Weight::Side, ..self }
    }

    /// A member without which it cannot.
    pub(crate) fn vital(self, field: &'static str) -> Self {
        Member { field, weight: Weight::Vital, ..self }
    }

    /// A string; null leaves what was there.
    pub(crate) fn string_into<T: From<Cow<'a, str>>>(self, to: &mut T) -> Result<(), Malformed> {
        match self.cursor.shape()? {
            Shape::String => self.cursor.string().map(|text| *to = T::from(text)),
            Shape::Null => self.cursor.skip().map(drop),
            _ => self.wrong_type(),
        }
    }

    /// A string that is read also when bodies are not; null leaves what was there.
    pub(crate) fn word_into<T: From<Cow<'a, str>>>(self, to: &mut T) -> Result<(), Malformed> {
        match self.cursor.shape()? {
            Shape::String => self.cursor.word().map(|text| *to = T::from(text)),
            Shape::Null => self.cursor.skip().map(drop),
            _ => self.wrong_type(),
        }
    }

    /// An integer of 64 bits; null leaves what was there.
    pub(crate) fn integer_into(self, to: &mut i64) -> Result<(), Malformed> {
        match self.cursor.shape()? {
            Shape::Number => {
                match self.cursor.integer()? {
                    Some(n) => *to = n,
                    None => self.notes.wrong(self.weight, self.field),
                }
                Ok(())
            }
            Shape::Null => self.cursor.skip().map(drop),
            _ => self.wrong_type(),
        }
    }

    /// A bool; null takes away what was there.
    pub(crate) fn bool_into(self, to: &mut Option<bool>) -> Result<(), Malformed> {
        match self.cursor.shape()? {
            Shape::Bool => self.cursor.bool().map(|value| *to = Some(value)),
            Shape::Null => {
                *to = None;
                self.cursor.skip().map(drop)
            }
            _ => self.wrong_type(),
        }
    }

    /// A list; null empties it. A second list under the same name is read onto the elements of the first, as the
    /// reference does. A list of the wrong type, or with an element of the wrong type, leaves the list empty.
    pub(crate) fn list_into<T: Default>(
        self,
        to: &mut Vec<T>,
        mut element: impl FnMut(&mut Cursor<'a>, &mut T) -> Result<bool, Malformed>,
    ) -> Result<(), Malformed> {
        match self.cursor.shape()? {
            Shape::Array => {
                let mut count = 0;
                let mut right = true;
                self.cursor.array(|cursor| {
                    if count == to.len() {
                        to.push(T::default());
                    }
                    right &= element(cursor, &mut to[count])?;
                    count += 1;
                    Ok(())
                })?;
                to.truncate(count);
                if !right {
                    to.clear();
                    self.notes.wrong(self.weight, self.field);
                }
                Ok(())
            }
            Shape::Null => {
                to.clear();
                self.cursor.skip().map(drop)
            }
            _ => {
                to.clear();
                self.wrong_type()
            }
        }
    }

    pub(crate) fn wrong_type(self) -> Result<(), Malformed> {
        self.notes.wrong(self.weight, self.field);
        self.cursor.skip().map(drop)
    }
}

/// Reads members of known names with `known`, and keeps the others. False where some type was wrong.
pub(crate) fn record<'a>(
    cursor: &mut Cursor<'a>,
    extra: &mut Fields,
    mut known: impl FnMut(&mut Cursor<'a>, &mut Notes, &str) -> Option<Result<(), Malformed>>,
) -> Result<bool, Malformed> {
    match cursor.shape()? {
        Shape::Object => {}
        Shape::Null => return cursor.skip().map(|_| true),
        _ => return cursor.skip().map(|_| false),
    }
    let mut notes = Notes::default();
    cursor.object(|cursor, key| {
        if let Some(read) = known(cursor, &mut notes, &key) {
            return read;
        }
        let value = cursor.skip()?;
        if cursor.keeps() {
            extra.push(key.into_owned(), &cursor.text_of(value));
        }
        Ok(())
    })?;
    Ok(notes.skipped.is_none())
}
