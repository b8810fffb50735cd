//! A hit of a search on one line.

use crate::output::Out;
use crate::output::escape::{Layout, escaped};
use anstyle::{AnsiColor, Style};
use session_core::search::{Excerpt, Hit};
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const NAME: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const MATCH: Style = AnsiColor::Red.on_default().bold();
/// So many cells are for the text, however narrow the terminal is.
const LEAST: usize = 20;

/// The excerpt with a mark where its line goes on.
pub(crate) fn elided(excerpt: &Excerpt) -> String {
    let mark = |is_cut| if is_cut { "…" } else { "" };
    format!("{}{}{}", mark(excerpt.cut_before), excerpt.text, mark(excerpt.cut_behind))
}

/// `name:#event:role: …hit…` for a person, cut to the width of the terminal around the first match.
pub(crate) fn line(out: &Out, width: Option<u16>, session: &str, hit: &Hit, live: Option<bool>) -> String {
    let session = escaped(session, Layout::OneLine);
    let tool = hit.tool.as_deref().filter(|tool| !tool.is_empty()).map(|tool| format!("({tool})")).unwrap_or_default();
    let gone = if live == Some(false) { " (rolled back)" } else { "" };
    let place = format!(":#{}:{}{tool}{gone}: ", hit.event, hit.kind.as_str());
    let place = escaped(&place, Layout::OneLine);
    let head = session.width() + place.width();
    let cells = width.map(|width| usize::from(width).saturating_sub(head).max(LEAST));
    let text = fitted(&pieces(&hit.excerpt), cells);
    let plain = if live == Some(false) { DIM } else { Style::new() };
    let style = |(text, is_match): &(String, bool)| out.styled(if *is_match { MATCH } else { plain }, text);
    let text: String = text.iter().map(style).collect();
    format!("{}{}{text}\n", out.styled(NAME, &session), out.styled(DIM, &place))
}

/// The excerpt without the space around it, escaped, cut where matches begin and end.
fn pieces(excerpt: &Excerpt) -> Vec<(Cow<'_, str>, bool)> {
    let text = &excerpt.text;
    let mut pieces = Vec::new();
    let mut push = |from: usize, to: usize, is_match| {
        if from < to {
            pieces.push((escaped(&text[from..to], Layout::OneLine), is_match));
        }
    };
    let first = excerpt.matches.first().map_or(text.len(), |found| found.start);
    let mut at = if excerpt.cut_before { 0 } else { (text.len() - text.trim_start().len()).min(first) };
    for found in &excerpt.matches {
        push(at, found.start, false);
        push(found.start, found.end, true);
        at = found.end;
    }
    let end = if excerpt.cut_behind { text.len() } else { text.trim_end().len().max(at) };
    push(at, end, false);
    if excerpt.cut_before {
        pieces.insert(0, (Cow::Borrowed("…"), false));
    }
    if excerpt.cut_behind {
        pieces.push((Cow::Borrowed("…"), false));
    }
    pieces
}

/// The pieces cut to so many cells: as much of the first match as there is room for, with a third of the room before it.
fn fitted(pieces: &[(Cow<'_, str>, bool)], cells: Option<usize>) -> Vec<(String, bool)> {
    let all: usize = pieces.iter().map(|(text, _)| text.width()).sum();
    let Some(cells) = cells.filter(|cells| all > *cells) else {
        return pieces.iter().map(|(text, is_match)| (text.clone().into_owned(), *is_match)).collect();
    };
    let chars: Vec<(char, bool)> =
        pieces.iter().flat_map(|(text, is_match)| text.chars().map(move |c| (c, *is_match))).collect();
    let width = |at: usize| chars[at].0.width().unwrap_or(0);
    let first = chars.iter().position(|(_, is_match)| *is_match).unwrap_or(0);
    let (mut from, mut room) = (first, cells / 3);
    while from > 0 && width(from - 1) <= room {
        from -= 1;
        room -= width(from);
    }
    let mut room = cells - usize::from(from > 0);
    let mut to = from;
    // The last cell is for the mark, unless nothing is left behind it.
    while to < chars.len() && width(to) + usize::from(to + 1 < chars.len()) <= room {
        room -= width(to);
        to += 1;
    }
    let mut shown: Vec<(String, bool)> = Vec::new();
    let mut push = |c: char, is_match: bool| match shown.last_mut() {
        Some((text, last)) if *last == is_match => text.push(c),
        _ => shown.push((c.to_string(), is_match)),
    };
    if from > 0 {
        push('…', false);
    }
    chars[from..to].iter().for_each(|(c, is_match)| push(*c, *is_match));
    if to < chars.len() {
        push('…', false);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, found: std::ops::Range<usize>, cells: Option<usize>) -> String {
        let excerpt = Excerpt { text: text.to_owned(), matches: vec![found], cut_before: false, cut_behind: false };
        let pieces = fitted(&pieces(&excerpt), cells);
        pieces.iter().map(|(text, is_match)| if *is_match { format!("[{text}]") } else { text.clone() }).collect()
    }

    #[test]
    fn a_match_is_marked_and_the_space_around_the_line_is_left_out() {
        assert_eq!(shown("\t  an oak\u{7} ", 6..9, None), "an [oak]\\x07");
        assert_eq!(shown("  oak  ", 1..3, None), "[ o]ak");
    }

    #[test]
    fn a_cut_line_fits_and_shows_the_match() {
        let text = format!("{}oak{}", "樹".repeat(100), "x".repeat(100));
        for cells in 20..60 {
            let shown = shown(&text, 300..303, Some(cells));
            assert!(shown.contains("[oak]"), "{shown}");
            assert!(shown.width() - 2 <= cells, "{cells}: {shown}");
            assert!(shown.width() >= cells - 1, "{cells}: {shown}");
        }
    }
}
