//! The expressions of the rules, which were written for Go, for the engine that is used here.

use regex::bytes::{Regex, RegexBuilder};

/// What most rules of a provider begin with: letters of a name, as few as will do. They cost a try at every letter of a
/// text, and change nothing about what the secret is.
const FRONT: &str = r"[\w.-]{0,50}?";

/// The bound on a compiled expression, in bytes: some count to 200 in several places.
const SIZE_LIMIT: usize = 64 << 20;

/// An expression without the letters in front, and whether it had them.
pub(super) fn without_front(expression: &str) -> (String, bool) {
    let escaped = escape_braces(expression);
    for flags in ["(?i)", ""] {
        if let Some(rest) = escaped.strip_prefix(flags).and_then(|rest| rest.strip_prefix(FRONT)) {
            return (format!("{flags}{rest}"), true);
        }
    }
    (escaped, false)
}

/// Compiles an expression. As in Go, classes such as `\w` are those of ASCII.
pub(super) fn compile(expression: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(expression).unicode(false).size_limit(SIZE_LIMIT).build()
}

/// Go takes a brace that begins no repetition for itself.
pub(super) fn escape_braces(expression: &str) -> String {
    let mut out = String::with_capacity(expression.len());
    let mut in_class = false;
    let mut rest = expression;
    while let Some(c) = rest.chars().next() {
        let mut len = c.len_utf8();
        match c {
            '\\' => len += rest[len..].chars().next().map_or(0, char::len_utf8),
            '[' => in_class = true,
            ']' => in_class = false,
            '{' if !in_class && !is_repetition(rest) => out.push('\\'),
            _ => {}
        }
        out.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    out
}

fn is_repetition(text: &str) -> bool {
    let Some(end) = text.find('}') else { return false };
    let counts = &text[1..end];
    counts.starts_with(|c: char| c.is_ascii_digit()) && counts.chars().all(|c| c.is_ascii_digit() || c == ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brace_that_begins_no_repetition_stands_for_itself() {
        assert_eq!(escape_braces(r"^\$(?:\d+|{\d+})$"), r"^\$(?:\d+|\{\d+})$");
        assert_eq!(escape_braces(r"a{3}b{4,}c{5,6}[{]\{"), r"a{3}b{4,}c{5,6}[{]\{");
        assert!(compile(&escape_braces(r"{{[^}]+}}")).is_ok_and(|regex| regex.is_match(b"{{ x }}")));
    }

    #[test]
    fn the_letters_in_front_are_left_out() {
        assert_eq!(without_front(r"(?i)[\w.-]{0,50}?(?:key)=(x)"), (r"(?i)(?:key)=(x)".into(), true));
        assert_eq!(without_front(r"\bkey=(x)"), (r"\bkey=(x)".into(), false));
    }
}
