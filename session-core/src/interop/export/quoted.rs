//! Putting foreign text into Markdown so that it stays what it is: it can neither end what it stands in, nor become a
//! heading of ours, a tag, a picture, or a link to anything but a page.

use std::borrow::Cow;

/// The shortest fence.
const FENCE: usize = 3;

/// White space in a line, as far as Markdown knows it.
const BLANK: [char; 2] = [' ', '\t'];

/// Appends a fenced block whose fence no run inside can close. `language` is ours. A carriage return, which not every
/// reader takes for the end of a line, is one here.
pub(super) fn push_fenced(out: &mut String, language: &str, text: &str) {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let fence = "`".repeat(FENCE.max(longest_run(&text, '`') + 1));
    out.push_str(&fence);
    out.push_str(language);
    out.push('\n');
    out.push_str(&text);
    if !text.is_empty() && !text.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&fence);
    out.push('\n');
}

/// Appends what somebody said: as a quotation, in which its own Markdown counts, or, where that could do harm, fenced.
pub(super) fn push_prose(out: &mut String, text: &str) {
    if !is_tame(text) {
        return push_fenced(out, "markdown", text);
    }
    for line in text.trim_matches('\n').split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        out.push_str(if line.is_empty() { ">" } else { "> " });
        out.push_str(line);
        out.push('\n');
    }
}

/// A text in the middle of a line: as code, on one line.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text);
    if text.trim().is_empty() {
        return "(none)".to_owned();
    }
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    // A space at both ends is taken off again, so that a backtick there is not taken for a part of the marks.
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A text in the middle of a line, every mark in it escaped.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).trim().chars() {
        // A colon or an at-sign begins what some readers make a link of.
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '$' | '#' | ':' | '@' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The text with each run of white space and control characters as one space.
fn one_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(breaks) {
        return Cow::Borrowed(text);
    }
    text.split(breaks).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ").into()
}

fn longest_run(text: &str, mark: char) -> usize {
    text.split(|c| c != mark).map(str::len).max().unwrap_or(0)
}

/// Whether the text can stand in a quotation. It is held to be wild as soon as it may hold what is not wanted; inside a
/// fenced block of its own nothing is.
fn is_tame(text: &str) -> bool {
    let mut fence: Option<(char, usize)> = None;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.contains(|c: char| c.is_control() && c != '\t') {
            return false;
        }
        let inner = line.trim_start_matches(' ');
        let indent = line.len() - inner.len();
        match fence {
            Some(opened) if indent < 4 && closes(inner, opened) => fence = None,
            // How far a tab indents depends on what the text stands in.
            Some(opened) if inner.starts_with('\t') && closes(inner.trim_start_matches(BLANK), opened) => return false,
            Some(_) => {}
            // A fence inside a list or deeper is judged as text, with all that stands in it.
            None if indent == 0 => match opening(inner) {
                Some(opened) => fence = Some(opened),
                None if !is_tame_line(line) => return false,
                None => {}
            },
            None if !is_tame_line(line) => return false,
            None => {}
        }
    }
    !text.trim().is_empty()
}

/// The mark and the length of a fence that a line opens.
fn opening(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = line.chars().take_while(|c| *c == mark).count();
    // With a backtick behind it, it is code in a line.
    (run >= FENCE && !(mark == '`' && line[run..].contains('`'))).then_some((mark, run))
}

/// Whether a line ends a fenced block, its indentation aside.
fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let behind = line.trim_start_matches(mark);
    // Other white space is text.
    line.len() - behind.len() >= length && behind.trim_matches(BLANK).is_empty()
}

/// No tag, picture, definition or link but to a page, and no fence that [`is_tame`] does not follow.
fn is_tame_line(line: &str) -> bool {
    let tag = |(at, _): (usize, &str)| {
        line[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
    };
    let link = |(at, _): (usize, &str)| !is_page(line[at + 2..].trim_start_matches([' ', '\t', '<']));
    !(line.match_indices('<').any(tag)
        || line.contains("![")
        || line.contains("]:")
        || line.contains("```")
        || line.contains("~~~")
        || line.match_indices("](").any(link))
}

/// Whether a link leads to a page, to a place in this one, or to a file beside it.
fn is_page(target: &str) -> bool {
    // A scheme may be hidden behind an escape or an entity: a name without any sign has none.
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name = target.trim_start_matches(is_name);
    let is_file = name.len() < target.len() && name.starts_with(['/', ')', '#']);
    is_file || ["https://", "http://", "mailto:", "#"].iter().any(|start| target.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(text: &str) -> String {
        let mut out = String::new();
        push_prose(&mut out, text);
        out
    }

    #[test]
    fn what_was_said_is_quoted() {
        assert_eq!(prose("# Oaks\n\nif a < b:\r\n- *one*\n"), "> # Oaks\n>\n> if a < b:\n> - *one*\n");
        assert_eq!(prose("```html\n<b>![x]\n```"), "> ```html\n> <b>![x]\n> ```\n");
        let links = "[page](https://example.org) [file](src/oak.rs#L3)";
        assert_eq!(prose(links), format!("> {links}\n"));
    }

    #[test]
    fn e02_what_could_do_harm_is_fenced() {
        for text in [
            "<script>",
            "a </blockquote>",
            "![pixel](http://example.org)",
            "[x](javascript:alert)",
            "[x]( <javascript:alert>)",
            "[x](javascript&colon;alert)",
            "[x](\njavascript:alert)",
            "[x](//example.org)",
            "[x]: javascript:alert",
            "- ```\n  <b>",
            "a\rb",
            "```\noak\n```\u{a0}\n```\n<b>\n```\n```",
            "```\noak\n\t```\n<b>\n```",
            "",
        ] {
            assert!(prose(text).contains("```markdown\n"), "{text:?}: {}", prose(text));
        }
        assert_eq!(prose("<b>\n````\n"), "`````markdown\n<b>\n````\n`````\n");
    }

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(code("a\n# b`c"), "``a # b`c``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code(""), "(none)");
        assert_eq!(plain("# <b> [x](y)\n# oaks: a_b"), "\\# \\<b\\> \\[x\\](y) \\# oaks\\: a\\_b");
    }
}
