//! What looks like a secret and is none: examples, placeholders, names.

use super::dialect;
use aho_corasick::AhoCorasick;
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::OnceLock;

/// What an allowlist looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Target {
    #[default]
    Secret,
    Match,
    Line,
}

/// One allowlist.
pub(super) struct Allow {
    pub(super) target: Target,
    pub(super) expressions: Vec<String>,
    pub(super) regexes: OnceLock<Vec<Regex>>,
    /// Words that no secret has in it, whatever their case.
    pub(super) words: Option<AhoCorasick>,
}

impl Allow {
    /// Whether a secret, found by a match in a text, is none.
    pub(super) fn allows(&self, text: &[u8], secret: &Range<usize>, whole: &Range<usize>) -> bool {
        let bytes = &text[secret.clone()];
        let looked_at = match self.target {
            Target::Secret => bytes,
            Target::Match => &text[whole.clone()],
            Target::Line => line_of(text, whole),
        };
        self.words.as_ref().is_some_and(|words| words.is_match(bytes))
            || self.compile().iter().any(|regex| regex.is_match(looked_at))
    }

    pub(super) fn compile(&self) -> &[Regex] {
        self.regexes.get_or_init(|| {
            let compiled = self.expressions.iter().map(|expression| dialect::compile(expression));
            compiled.collect::<Result<_, _>>().expect("a test compiles every allowlist")
        })
    }
}

/// The lines that a match touches.
fn line_of<'a>(text: &'a [u8], whole: &Range<usize>) -> &'a [u8] {
    let start = memchr::memrchr(b'\n', &text[..whole.start]).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', &text[whole.end..]).map_or(text.len(), |at| whole.end + at);
    &text[start..end]
}
