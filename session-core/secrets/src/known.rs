//! Secrets that were found elsewhere: what stands without its context is still the secret.

use crate::{Found, Secret};
use aho_corasick::{AhoCorasick, MatchKind};
use std::collections::HashMap;
use std::ops::Range;

/// How many different secrets are remembered.
const AT_MOST: usize = 10_000;

/// Secrets to look for by their own bytes.
#[derive(Debug, Clone, Default)]
pub struct Known {
    secrets: HashMap<Secret, (&'static str, &'static str)>,
}

impl Known {
    /// None.
    pub fn new() -> Self {
        Known::default()
    }

    /// Remembers what was found. A secret that may be an ordinary word (a short password) is not remembered, nor is one
    /// more than 10,000.
    pub fn remember(&mut self, found: &[Found]) {
        for found in found {
            if found.secret.is_distinct() && self.secrets.len() < AT_MOST {
                self.secrets.entry(found.secret.clone()).or_insert((found.rule, found.description));
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.secrets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }
}

/// The same, ready to be looked for.
pub(crate) struct Literals {
    automaton: AhoCorasick,
    rules: Vec<(&'static str, &'static str)>,
}

impl Literals {
    pub(crate) fn new(known: &Known) -> Option<Self> {
        let built = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(known.secrets.keys().map(Secret::bytes))
            .expect("the number of secrets is bounded");
        (!known.is_empty()).then(|| Literals { automaton: built, rules: known.secrets.values().copied().collect() })
    }

    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        self.automaton.is_match(text)
    }

    /// Where they stand in a text, not as a part of something longer, and by which rule they were found first.
    pub(crate) fn find(&self, text: &[u8]) -> Vec<(Range<usize>, (&'static str, &'static str))> {
        let is_word = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        let stands_alone = |range: &Range<usize>| !is_word(range.start.checked_sub(1)) && !is_word(Some(range.end));
        let hits = self.automaton.find_iter(text).map(|hit| (hit.range(), self.rules[hit.pattern().as_usize()]));
        hits.filter(|(range, _)| stands_alone(range)).collect()
    }
}
