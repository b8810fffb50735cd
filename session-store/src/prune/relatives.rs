//! Who comes from whom: what stays keeps those that it comes from, and the other members of its chain.
//!
//! Each session is looked at a bounded number of times, so that a store of many thousands is planned in one go.

use super::reasons::Protection;
use crate::SessionInfo;
use session_core::SessionName;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A session and where it leads, as its metadata says it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links<'a> {
    name: &'a str,
    parent: Option<&'a str>,
    successor: Option<&'a str>,
}

impl<'a> From<&'a SessionInfo> for Links<'a> {
    fn from(info: &'a SessionInfo) -> Self {
        Links { name: &info.name, parent: info.parent.as_deref(), successor: info.succeeded_by.as_deref() }
    }
}

/// The sessions of a list and the links between them, by their numbers in the list.
pub(super) struct Relatives<'a> {
    sessions: Vec<Links<'a>>,
    by_name: HashMap<&'a str, usize>,
    /// Those that a session succeeds, as they say themselves.
    succeeded: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Relatives<'a> {
    pub(super) fn of(sessions: impl IntoIterator<Item = impl Into<Links<'a>>>) -> Self {
        let sessions: Vec<Links<'_>> = sessions.into_iter().map(Into::into).collect();
        let mut by_name = HashMap::new();
        let mut succeeded: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, links) in sessions.iter().enumerate() {
            by_name.entry(links.name).or_insert(number);
            if let Some(successor) = links.successor {
                succeeded.entry(successor).or_default().push(number);
            }
        }
        Relatives { sessions, by_name, succeeded }
    }

    /// What keeps those of `going` that must stay because others do, until nobody is added. Of several that keep one,
    /// the first of the list is named.
    pub(super) fn protections(&self, mut going: BTreeSet<usize>) -> BTreeMap<usize, Protection> {
        let mut protections = BTreeMap::new();
        let mut staying: BTreeSet<usize> = (0..self.sessions.len()).filter(|number| !going.contains(number)).collect();
        while !staying.is_empty() {
            let mut news = BTreeSet::new();
            for holder in staying {
                for (held, protection) in self.held_by(holder) {
                    if going.remove(&held) {
                        protections.insert(held, protection);
                        news.insert(held);
                    }
                }
            }
            staying = news;
        }
        protections
    }

    /// Those that a session keeps while it stays.
    fn held_by(&self, holder: usize) -> Vec<(usize, Protection)> {
        let Links { name, parent, successor } = self.sessions[holder];
        let successor = successor.and_then(|name| self.by_name.get(name));
        let chain = self.succeeded.get(name).into_iter().flatten().chain(successor);
        let base = parent.and_then(|name| self.by_name.get(name));
        let Ok(name) = SessionName::new(name) else { return Vec::new() };
        let chain = chain.map(|number| (*number, Protection::Chain { with: name.clone() }));
        let base = base.map(|number| (*number, Protection::ForkBase { fork: name.clone() }));
        chain.chain(base).collect()
    }

    /// How many sessions one comes from. Links that lead back count once.
    pub(super) fn depth(&self, number: usize) -> usize {
        let (mut depth, mut at) = (0, number);
        while let Some(parent) = self.sessions[at].parent.and_then(|name| self.by_name.get(name)) {
            depth += 1;
            if depth > self.sessions.len() {
                break;
            }
            at = *parent;
        }
        depth
    }
}

#[cfg(test)]
mod tests {
    use super::{Links, Relatives};

    /// A chain in which each session goes on as the next and is its parent.
    fn chain(names: &[String]) -> Relatives<'_> {
        let name = |number: usize| names.get(number).map(String::as_str);
        Relatives::of((0..names.len()).map(|number| Links {
            name: &names[number],
            parent: number.checked_sub(1).and_then(name),
            successor: name(number + 1),
        }))
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("s{number}")).collect()
    }

    #[test]
    fn one_that_stays_keeps_its_whole_chain_from_the_nearest_on() {
        let names = names(5);
        let protections = chain(&names).protections((1..5).collect());
        let with: Vec<String> = protections.values().map(|protection| format!("{protection:?}")).collect();
        assert_eq!(protections.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4]);
        for (number, with) in with.iter().enumerate() {
            assert!(with.starts_with("Chain") && with.contains(&format!("\"s{number}\"")), "{number}: {with}");
        }
    }

    #[test]
    fn a_chain_of_twenty_thousand_goes_if_all_of_it_does() {
        let names = names(20_000);
        let chain = chain(&names);
        assert!(chain.protections((0..20_000).collect()).is_empty());
        assert_eq!(chain.protections((0..19_999).collect()).len(), 19_999);
        assert_eq!(chain.depth(19_999), 19_999);
    }

    #[test]
    fn links_that_lead_back_end() {
        let links = |name, other| Links { name, parent: Some(other), successor: Some(other) };
        let circle = Relatives::of([links("a", "b"), links("b", "a")]);
        assert_eq!(circle.depth(0), 3);
        assert_eq!(circle.protections([0].into()).len(), 1);
    }
}
