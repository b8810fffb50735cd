//! A list that is empty as a rule.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A growable list that takes one pointer while it is empty, and behaves as a slice.
///
/// Most messages have no calls, no pictures and no unknown members. With a [`Vec`] for each of them, a million short
/// messages would hold more emptiness than text.
///
/// ```
/// use session_core::{Message, ThinVec, ToolCall};
/// let calls: ThinVec<_> = [ToolCall { name: "dig".into(), ..ToolCall::default() }].into();
/// let message = Message { tool_calls: calls, ..Message::assistant("") };
/// assert_eq!(message.tool_calls.len(), 1);
/// assert_eq!(size_of_val(&message.tool_calls), size_of::<usize>());
/// ```
// A vector behind a pointer is the point: the empty one is no allocation at all.
#[derive(Clone)]
pub struct ThinVec<T>(#[expect(clippy::box_collection, reason = "one word for the usual case")] Option<Box<Vec<T>>>);

impl<T> ThinVec<T> {
    /// An empty list.
    pub const fn new() -> Self {
        ThinVec(None)
    }

    /// Appends an element.
    pub fn push(&mut self, element: T) {
        self.0.get_or_insert_default().push(element);
    }

    /// Keeps the elements for which `keep` says so, in their order.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        if let Some(list) = &mut self.0 {
            list.retain(keep);
        }
    }

    /// Removes every element.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

impl<T> Default for ThinVec<T> {
    fn default() -> Self {
        ThinVec::new()
    }
}

impl<T> Deref for ThinVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<T> DerefMut for ThinVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_deref_mut().map_or(&mut [], Vec::as_mut_slice)
    }
}

impl<T: fmt::Debug> fmt::Debug for ThinVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for ThinVec<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for ThinVec<T> {}

impl<T> From<Vec<T>> for ThinVec<T> {
    fn from(list: Vec<T>) -> Self {
        ThinVec((!list.is_empty()).then(|| Box::new(list)))
    }
}

impl<T, const N: usize> From<[T; N]> for ThinVec<T> {
    fn from(elements: [T; N]) -> Self {
        Vec::from(elements).into()
    }
}

impl<T> From<ThinVec<T>> for Vec<T> {
    fn from(list: ThinVec<T>) -> Self {
        list.0.map_or_else(Vec::new, |list| *list)
    }
}

impl<T> FromIterator<T> for ThinVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Vec::from_iter(elements).into()
    }
}

impl<T> Extend<T> for ThinVec<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        elements.into_iter().for_each(|element| self.push(element));
    }
}

impl<T> IntoIterator for ThinVec<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a, T> IntoIterator for &'a ThinVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut ThinVec<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::ThinVec;

    #[test]
    fn a_list_that_was_emptied_equals_one_that_never_held_anything() {
        let mut list = ThinVec::from([1, 2]);
        list.retain(|_| false);
        assert_eq!(list, ThinVec::new());
        assert_eq!(list.len(), 0);
    }

    #[test]
    fn it_gives_back_what_it_took_in_order() {
        let mut list: ThinVec<u8> = (1..4).collect();
        list.extend([4]);
        for number in &mut list {
            *number *= 2;
        }
        assert_eq!(Vec::from(list.clone()), [2, 4, 6, 8]);
        assert_eq!(list.into_iter().collect::<Vec<_>>(), [2, 4, 6, 8]);
    }

    #[test]
    fn a_list_that_was_cleared_is_empty_and_can_be_filled_again() {
        let mut list = ThinVec::from(["oak", "birch"]);
        list.clear();
        assert_eq!(list, ThinVec::new());
        list.push("alder");
        assert_eq!(list, ThinVec::from(["alder"]));
    }

    #[test]
    fn it_is_shown_as_the_list_that_it_is() {
        assert_eq!(format!("{:?}", ThinVec::from(["oak", "birch"])), r#"["oak", "birch"]"#);
        assert_eq!(format!("{:?}", ThinVec::<&str>::new()), "[]");
    }
}
