//! The rules: what a secret looks like, and what only looks like one.
//!
//! Most are those of gitleaks 8.30.1, as data; `data/README.md` says which file is whose.

mod allow;
mod dialect;
mod file;

use crate::entropy;
use aho_corasick::AhoCorasick;
use allow::Allow;
use regex::bytes::{Captures, Regex};
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

/// The rules that are built in. They are read by the first who asks; each expression is compiled by the first text that
/// has one of its words.
pub(crate) static BUILT_IN: LazyLock<Rules> =
    LazyLock::new(|| file::read(&[include_str!("../../data/gitleaks.toml"), include_str!("../../data/own.toml")]));

/// All rules, and which may be met in a text.
pub(crate) struct Rules {
    pub(crate) rules: Vec<Rule>,
    /// What is a secret for no rule.
    allow: Allow,
    /// Every word of every rule.
    words: AhoCorasick,
    /// For each word, the rules that look for it.
    rules_of_word: Vec<Vec<usize>>,
}

/// A word of some rules, met in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordHit {
    word: usize,
    pub(crate) start: usize,
}

impl Rules {
    /// The words in a text, overlapping ones too. Without one, no rule finds anything.
    pub(crate) fn words_in(&self, text: &[u8]) -> Vec<WordHit> {
        let hits = self.words.find_overlapping_iter(text);
        hits.map(|hit| WordHit { word: hit.pattern().as_usize(), start: hit.start() }).collect()
    }

    /// Whether there is any.
    pub(crate) fn has_word(&self, text: &[u8]) -> bool {
        self.words.is_match(text)
    }

    pub(crate) fn of_word(&self, hit: WordHit) -> &[usize] {
        &self.rules_of_word[hit.word]
    }

    /// The rules that may find something where these words are, in their order.
    pub(crate) fn of_words(&self, hits: &[WordHit]) -> Vec<&Rule> {
        let mut met = vec![false; self.rules.len()];
        let mut words = vec![false; self.rules_of_word.len()];
        for hit in hits {
            if !std::mem::replace(&mut words[hit.word], true) {
                self.rules_of_word[hit.word].iter().for_each(|&rule| met[rule] = true);
            }
        }
        self.rules.iter().zip(met).filter_map(|(rule, met)| met.then_some(rule)).collect()
    }

    /// Where a rule finds secrets in a text.
    pub(crate) fn find(&self, rule: &Rule, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for captures in rule.regex().captures_iter(text) {
            let Some(secret) = rule.secret(&captures) else { continue };
            let whole = captures.get(0).expect("the whole match is a group").range();
            if self.is_secret(rule, text, &secret, &whole) {
                found.push(secret);
            }
        }
        found
    }

    fn is_secret(&self, rule: &Rule, text: &[u8], secret: &Range<usize>, whole: &Range<usize>) -> bool {
        let bytes = &text[secret.clone()];
        if bytes.is_empty() || (rule.entropy > 0.0 && entropy::bits(bytes) <= rule.entropy) {
            return false;
        }
        let whole = rule.with_front(text, whole);
        let is_allowed = |allow: &Allow| allow.allows(text, secret, &whole);
        !is_allowed(&self.allow) && !rule.allow.iter().any(is_allowed)
    }
}

/// What one kind of secret looks like.
pub(crate) struct Rule {
    /// Its name, as findings tell it.
    id: String,
    /// What it finds, in a sentence.
    description: String,
    /// The expression, as this crate's engine reads it.
    expression: String,
    regex: OnceLock<Regex>,
    /// Whether the expression began with the letters in front of a name, which are looked for only once it has matched.
    has_front: bool,
    /// A secret has more bits of entropy a byte than this.
    entropy: f64,
    /// The group that is the secret; 0 for the first that takes part.
    group: usize,
    allow: Vec<Allow>,
}

/// How many letters a name has in front of the word that a rule knows, at most.
const FRONT: usize = 50;

impl Rule {
    /// Whether it only knows the words around a secret, and not the secret's own form.
    pub(crate) fn is_generic(&self) -> bool {
        self.has_front || matches!(self.id.as_str(), "password-assignment" | "url-password" | "url-query-secret")
    }

    /// Its name and what it finds, as findings carry them.
    pub(crate) fn named(&'static self) -> (&'static str, &'static str) {
        (&self.id, &self.description)
    }

    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| dialect::compile(&self.expression).expect("a test compiles every rule"))
    }

    fn secret(&self, captures: &Captures<'_>) -> Option<Range<usize>> {
        let group = if self.group == 0 { captures.iter().skip(1).flatten().next() } else { captures.get(self.group) };
        group.or_else(|| captures.get(0)).map(|group| group.range())
    }

    /// A match with what the shortened expression leaves out at its start.
    fn with_front(&self, text: &[u8], whole: &Range<usize>) -> Range<usize> {
        let is_name = |&&byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        let front = text[..whole.start].iter().rev().take(FRONT).take_while(is_name).count();
        if self.has_front { whole.start - front..whole.end } else { whole.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles_and_can_be_met() {
        let rules = &*BUILT_IN;
        assert!(rules.rules.len() > 220, "{}", rules.rules.len());
        for (n, rule) in rules.rules.iter().enumerate() {
            assert!(dialect::compile(&rule.expression).is_ok(), "{}: {}", rule.id, rule.expression);
            assert!(rules.rules_of_word.iter().any(|of| of.contains(&n)), "{} has no words", rule.id);
            rule.allow.iter().for_each(|allow| assert!(allow.compile().len() < 100));
        }
        assert!(!rules.allow.compile().is_empty());
    }

    #[test]
    fn names_of_rules_are_given_once() {
        let mut ids: Vec<&str> = BUILT_IN.rules.iter().map(|rule| rule.id.as_str()).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
