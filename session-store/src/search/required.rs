//! What every match of a regular expression contains.

use regex_syntax::hir::{Hir, HirKind};

/// The longest text that every match contains, so far as it can be told easily; empty, if none is.
pub(super) fn required(pattern: &str) -> String {
    let parsed = regex_syntax::ParserBuilder::new().multi_line(true).build().parse(pattern);
    parsed.map(|hir| longest(&hir)).unwrap_or_default()
}

fn longest(hir: &Hir) -> String {
    match hir.kind() {
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).unwrap_or_default(),
        HirKind::Capture(capture) => longest(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => longest(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().map(longest).max_by_key(String::len).unwrap_or_default(),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) | HirKind::Alternation(_) => {
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::required;

    #[test]
    fn the_longest_text_that_no_match_can_be_without_is_told() {
        for (pattern, wanted) in [
            ("oaks", "oaks"),
            (r"^fn\s+(plant|water)_row\(", "_row("),
            ("(?:saplings)+ [0-9]+", "saplings"),
            ("(saplings)? oak", " oak"),
            ("oak|birch", ""),
            ("(?i)oak", ""),
            (".*", ""),
            ("é{2,}", "é"),
        ] {
            assert_eq!(required(pattern), wanted, "{pattern}");
        }
    }
}
