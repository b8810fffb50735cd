//! The calls of a session in the making: which ids are taken, and which calls wait for their results.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A call: its entry in the draft, and its place in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) entry: usize,
    pub(super) slot: usize,
}

/// All calls so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    ids: BTreeSet<String>,
    /// The last number that was given to a copy of an id.
    numbers: BTreeMap<String, u64>,
    /// Those without a result by the id in the file. Places grow as calls come.
    open: BTreeMap<String, BTreeSet<Place>>,
    /// The id in the file and the place of each, in their order, for results that name no call: of one tool, and of all
    /// under the empty name. One that has its result is taken out when it comes to the front.
    in_order: BTreeMap<String, VecDeque<(String, Place)>>,
}

impl Calls {
    /// The id that a call gets: its own, or, where it has none or another call has it, one made of it.
    pub(super) fn unique(&mut self, original: &str) -> String {
        let (stem, joint) = if original.is_empty() { ("call", "-") } else { (original, "#") };
        let mut id = if original.is_empty() { "call-1".to_owned() } else { original.to_owned() };
        if self.ids.insert(id.clone()) {
            return id;
        }
        let number = self.numbers.entry(original.to_owned()).or_insert(1);
        while !self.ids.insert(id.clone()) {
            *number += 1;
            id = format!("{stem}{joint}{number}");
        }
        id
    }

    /// A call waits for its result from here on.
    pub(super) fn open(&mut self, original: &str, tool: &str, place: Place) {
        self.open.entry(original.to_owned()).or_default().insert(place);
        for name in [""].into_iter().chain((!tool.is_empty()).then_some(tool)) {
            self.in_order.entry(name.to_owned()).or_default().push_back((original.to_owned(), place));
        }
    }

    /// The call that a result with this id answers: of the newest message that has open ones of the id, the first.
    pub(super) fn answer(&mut self, id: &str) -> Option<Place> {
        let places = self.open.get_mut(id)?;
        let entry = places.last()?.entry;
        let first = *places.range(Place { entry, slot: 0 }..).next()?;
        places.take(&first)
    }

    /// The call that a result without an id answers, with the id in the file: the oldest open one of the tool, or of all
    /// tools where it names none.
    pub(super) fn answer_in_order(&mut self, tool: &str) -> Option<(String, Place)> {
        let waiting = self.in_order.get_mut(tool)?;
        while let Some((id, place)) = waiting.pop_front() {
            if self.open.get_mut(&id).is_some_and(|open| open.remove(&place)) {
                return Some((id, place));
            }
        }
        None
    }

    /// What comes for these calls later answers nothing.
    pub(super) fn forget(&mut self, is_gone: impl Fn(&Place) -> bool) {
        for places in self.open.values_mut() {
            places.retain(|place| !is_gone(place));
        }
    }
}
