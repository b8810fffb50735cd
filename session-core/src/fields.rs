//! Members of an object that this version has no name for.

use crate::{ThinVec, json};

/// Unknown members of a JSON object, in file order, each value as its own JSON text.
///
/// They are carried from reading to writing untouched, so that a history or a `meta.json` that a newer program wrote
/// does not lose what only that program understands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fields(ThinVec<(Box<str>, Box<str>)>);

impl Fields {
    /// No members.
    pub const fn new() -> Self {
        Fields(ThinVec::new())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The JSON text of a member; of several with that name the last, as JSON readers take it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| **key == *name).map(|(_, text)| &**text)
    }

    /// The member as a JSON value, half a surrogate pair in it read as U+FFFD. `None` if it is missing, or nested
    /// more than 127 deep, or holds a number beyond the range of an `f64`: then [`Fields::get`] still has its text.
    pub fn value(&self, name: &str) -> Option<serde_json::Value> {
        self.get(name).and_then(value_of)
    }

    /// Sets a member, replacing those with its name.
    pub fn set(&mut self, name: &str, value: &serde_json::Value) {
        self.set_text(name, value.to_string().into());
    }

    /// Takes a member over from another object, its text untouched, replacing those with its name. A member that is not
    /// there changes nothing.
    pub fn take_over(&mut self, name: &str, from: &Fields) {
        if let Some(text) = from.get(name) {
            self.set_text(name, text.into());
        }
    }

    /// Removes a member.
    pub fn remove(&mut self, name: &str) {
        self.retain(|key| key != name);
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|(key, _)| keep(key));
    }

    /// Name and JSON text of each member, in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, text)| (&**key, &**text))
    }

    fn set_text(&mut self, name: &str, text: Box<str>) {
        self.remove(name);
        self.0.push((name.into(), text));
    }

    /// A member as it was read; the text is valid JSON without a raw newline.
    pub(crate) fn push(&mut self, name: impl Into<Box<str>>, text: &str) {
        let text = if text.contains(['\n', '\r']) { json::compact(text).into() } else { text.into() };
        self.0.push((name.into(), text));
    }

    /// Appends `"name":value` for each member, a comma before each but where `out` ends in an opening brace.
    pub(crate) fn push_members(&self, out: &mut Vec<u8>) {
        for (key, text) in &self.0 {
            if out.last() != Some(&b'{') {
                out.push(b',');
            }
            json::push_string(out, key);
            out.push(b':');
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// The value of a member's text, as far as `serde_json` can hold it.
pub(crate) fn value_of(text: &str) -> Option<serde_json::Value> {
    let again = |_| serde_json::from_str(&json::without_lone_surrogates(text));
    serde_json::from_str(text).or_else(again).ok()
}
