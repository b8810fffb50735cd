//! Content is hostile: what a model or a tool wrote must not steer the terminal that shows it.

use std::borrow::Cow;

/// How much of the layout of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Newlines and tabs stand.
    Lines,
    /// The text must stay on one line, in one field: newlines and tabs are shown as escapes too.
    OneLine,
}

/// The text with control characters, escape sequences and characters that reorder text shown as escapes.
pub(crate) fn escaped(text: &str, layout: Layout) -> Cow<'_, str> {
    let harmless = |c: char| is_harmless(c, layout);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if harmless(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if u32::from(c) < 0x100 => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

/// Lines of JSON that say the same, with escapes of JSON in their strings. Outside of strings JSON has none of these
/// characters; of what is no JSON, such as a damaged line, they are shown all the same.
pub(crate) fn json(lines: &str) -> Cow<'_, str> {
    if lines.chars().all(|c| is_harmless(c, Layout::Lines)) {
        return Cow::Borrowed(lines);
    }
    let mut out = String::with_capacity(lines.len() + 16);
    for c in lines.chars() {
        if is_harmless(c, Layout::Lines) {
            out.push(c);
        } else {
            // None of them lies beyond what four digits can name.
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
    }
    Cow::Owned(out)
}

fn is_harmless(c: char, layout: Layout) -> bool {
    match c {
        '\n' | '\t' => layout == Layout::Lines,
        c => !c.is_control() && !reorders(c),
    }
}

/// Marks, embeddings, overrides and isolates of bidirectional text, and the line separators of Unicode.
fn reorders(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_the_same_without_what_steers_a_terminal() {
        let line = serde_json::to_string("a\u{1b}[31m\u{7f}\u{9b}\u{202e}\u{feff}é").expect("a string is JSON");
        let shown = json(&line);
        assert_eq!(shown, r#""a\u001b[31m\u007f\u009b\u202e\ufeffé""#);
        assert_eq!(
            serde_json::from_str::<String>(&shown).expect("JSON"),
            serde_json::from_str::<String>(&line).expect("JSON")
        );
        assert!(matches!(json("{\"a\":\t1}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_steers_a_terminal_is_shown_instead() {
        assert_eq!(escaped("\u{1b}[31mred\u{7}\u{202e}\u{9b}", Layout::Lines), "\\x1b[31mred\\x07\\u{202e}\\x9b");
        assert_eq!(escaped("a\r\nb\tc", Layout::Lines), "a\\r\nb\tc");
        assert_eq!(escaped("a\r\nb\tc", Layout::OneLine), "a\\r\\nb\\tc");
        assert!(matches!(escaped("日本 é 👩\u{200d}👧", Layout::OneLine), Cow::Borrowed(_)));
    }
}
