//! The calls of a session in the making: which ids are taken, and which calls wait for their results.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A call: its entry in the draft, and its place in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) entry: usize,
    pub(super) slot: usize,
}

/// All calls so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    ids: BTreeSet<String>,
    /// Those without a result by the id in the file, the oldest first.
    open: BTreeMap<String, VecDeque<Place>>,
    /// The id in the file, the tool and the place of each, in their order, for results that name no call.
    in_order: VecDeque<(String, String, Place)>,
}

impl Calls {
    /// The id that a call gets: its own, or, where it has none or another call has it, one made of it.
    pub(super) fn unique(&mut self, original: &str) -> String {
        let (stem, joint) = if original.is_empty() { ("call", "-") } else { (original, "#") };
        let mut id = if original.is_empty() { "call-1".to_owned() } else { original.to_owned() };
        let mut number = 1_u64;
        while !self.ids.insert(id.clone()) {
            number += 1;
            id = format!("{stem}{joint}{number}");
        }
        id
    }

    /// A call waits for its result from here on.
    pub(super) fn open(&mut self, original: &str, tool: &str, place: Place) {
        self.open.entry(original.to_owned()).or_default().push_back(place);
        self.in_order.push_back((original.to_owned(), tool.to_owned(), place));
    }

    /// The call that a result with this id answers: of the newest message that has open ones of the id, the first.
    pub(super) fn answer(&mut self, id: &str) -> Option<Place> {
        let places = self.open.get_mut(id)?;
        let nearest = places.back()?.entry;
        let at = places.iter().position(|place| place.entry == nearest)?;
        places.remove(at)
    }

    /// The call that a result without an id answers, with the id in the file: the oldest open one of the tool, or of all
    /// tools where it names none.
    pub(super) fn answer_in_order(&mut self, tool: &str) -> Option<(String, Place)> {
        self.in_order.retain(|(id, _, place)| self.open.get(id).is_some_and(|open| open.contains(place)));
        let found = self.in_order.iter().find(|(_, of, _)| tool.is_empty() || of == tool);
        let (id, _, place) = found.cloned()?;
        self.open.entry(id.clone()).or_default().retain(|open| *open != place);
        Some((id, place))
    }

    /// What comes for these calls later answers nothing.
    pub(super) fn forget(&mut self, is_gone: impl Fn(&Place) -> bool) {
        for places in self.open.values_mut() {
            places.retain(|place| !is_gone(place));
        }
    }
}
