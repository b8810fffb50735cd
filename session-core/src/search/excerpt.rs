//! The part of a text that is shown for a match.

use super::Pattern;
use std::ops::Range;

/// How much of a line is shown at most before the first match, and behind it, in bytes.
const BEFORE: usize = 160;
const BEHIND: usize = 640;
/// How much of a match is shown at most, in bytes.
const OF_MATCH: usize = 1_000;

/// The lines of a text in which a match stands, or the part of a long line around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text. A match that spans lines has its line breaks in it.
    pub text: String,
    /// Where the matches stand in it, as byte ranges in order: the first of the whole text, and those that follow within
    /// the excerpt.
    pub matches: Vec<Range<usize>>,
    /// Whether the line begins before it.
    pub cut_before: bool,
    /// Whether the line, or the match, goes on behind it.
    pub cut_behind: bool,
}

impl Excerpt {
    /// The excerpt for the first match in a text, if there is one.
    pub(super) fn of_first_match(text: &str, pattern: &impl Pattern) -> Option<Self> {
        let first = pattern.find_at(text, 0)?;
        let line_start = text[..first.start].rfind('\n').map_or(0, |at| at + 1);
        let from = text.ceil_char_boundary(line_start.max(first.start.saturating_sub(BEFORE)));
        let shown = text.floor_char_boundary(first.end.min(first.start + OF_MATCH));
        // An empty match behind the last line break belongs to no line that could be shown.
        let line_end = text[shown..].find('\n').map_or(text.len(), |at| shown + at);
        let to = text.floor_char_boundary(line_end.min(shown.saturating_add(BEHIND)));
        let text_end = if text[from..to].ends_with('\r') && to == line_end { to - 1 } else { to };
        let mut excerpt = Excerpt {
            text: text[from..text_end.max(shown)].to_owned(),
            matches: Vec::new(),
            cut_before: from > line_start,
            cut_behind: to < line_end || shown < first.end,
        };
        excerpt.mark(text, from, text_end.max(shown), first, pattern);
        Some(excerpt)
    }

    /// Finds the matches that stand in the excerpt, which is a part of the text.
    fn mark(&mut self, text: &str, from: usize, to: usize, first: Range<usize>, pattern: &impl Pattern) {
        let mut found = Some(first);
        // What stands behind the excerpt must not be searched only to be thrown away, except for the last match, which
        // may reach out of it.
        while let Some(next) = found.filter(|next| next.start < to || self.matches.is_empty()) {
            self.matches.push(next.start - from..next.end.min(to) - from);
            let after = next.end.max(next.start + text[next.start..].chars().next().map_or(1, char::len_utf8));
            found = if after < to { pattern.find_at(&text[..to], after) } else { None };
        }
    }
}
