//! Text of any length: a long one shows its beginning and its end, and the rest on demand.

use super::ansi::Styled;
use super::words::counted;
use maud::{Markup, html};

/// A text up to this length is shown whole.
const WHOLE: Bound = Bound { lines: 40, bytes: 6_000 };
/// What is shown of the beginning of a longer one.
const HEAD: Bound = Bound { lines: 16, bytes: 2_400 };
/// What is shown of its end.
const TAIL: Bound = Bound { lines: 6, bytes: 900 };

#[derive(Clone, Copy)]
struct Bound {
    lines: usize,
    bytes: usize,
}

/// A text as it stands, its white space kept. All of it is on the page; no script is needed to see it.
pub(super) fn text(styled: &Styled, class: &str) -> Markup {
    let whole = styled.text().trim_end_matches('\n');
    let end = whole.len();
    if head(whole, WHOLE) == end {
        return html! { pre class=(class) dir="auto" { (styled.markup(0..end)) } };
    }
    let from = head(whole, HEAD);
    let upto = tail(whole, TAIL).max(from);
    let hidden = &whole[from..upto];
    let size = match hidden.lines().count() as u64 {
        ..2 => counted(hidden.chars().count() as u64, "character more", "characters more"),
        lines => counted(lines, "line more", "lines more"),
    };
    // A line break that a fold takes the place of would be seen as an empty line.
    let shown_from = from - usize::from(whole[..from].ends_with('\n'));
    html! {
        pre class=(class) dir="auto" { (styled.markup(0..shown_from)) }
        details class="more" {
            summary { (size) }
            pre class=(class) dir="auto" { (styled.markup(from..upto)) }
        }
        @if upto < end { pre class=(class) dir="auto" { (styled.markup(upto..end)) } }
    }
}

/// Where the beginning ends: behind so many lines, or so many bytes.
fn head(text: &str, bound: Bound) -> usize {
    let lines = text.match_indices('\n').nth(bound.lines - 1).map_or(text.len(), |(at, _)| at + 1);
    if lines <= bound.bytes { lines } else { text.floor_char_boundary(bound.bytes) }
}

/// Where the end begins.
fn tail(text: &str, bound: Bound) -> usize {
    let lines = text.rmatch_indices('\n').nth(bound.lines - 1).map_or(0, |(at, _)| at + 1);
    let bytes = text.len().saturating_sub(bound.bytes);
    if lines >= bytes { lines } else { text.ceil_char_boundary(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(shown: &str) -> usize {
        text(&Styled::of(shown), "x").into_string().matches("<pre").count()
    }

    #[test]
    fn long_texts_are_folded_by_lines_and_by_length() {
        assert_eq!([parts("a\nb"), parts(&"a\n".repeat(40)), parts(&"a\n".repeat(41))], [1, 1, 3]);
        assert_eq!([parts(&"a".repeat(6_000)), parts(&"é".repeat(6_000))], [1, 3]);
    }

    #[test]
    fn nothing_is_lost_in_a_fold() {
        for shown in ["a\n".repeat(100), "éa".repeat(9_000), format!("{}\n{}", "x\n".repeat(17), "y".repeat(9_000))] {
            let page = text(&Styled::of(&shown), "x").into_string();
            let pieces = page.split("<pre class=\"x\" dir=\"auto\">").skip(1);
            let pieces: Vec<_> = pieces.filter_map(|piece| Some(piece.split_once("</pre>")?.0)).collect();
            assert_eq!(pieces.concat().replace('\n', ""), shown.replace('\n', ""));
        }
    }
}
