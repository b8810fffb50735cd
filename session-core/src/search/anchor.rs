//! What every match has in the raw bytes of its line, so that the other lines need not be decoded.
//!
//! A text is looked for as it is decoded, and a file holds it as JSON. Most characters can stand in JSON in two ways: as
//! themselves, or as `\u` and four digits; a few in others. An anchor is a run of characters of which only these two are
//! possible, and a line that holds neither the run nor an escape of one of its characters holds no match.

use super::escapes::Escapes;
use super::folded::Folded;
use memchr::memmem;

/// A longer run would not be found faster.
const MAX_RUN: usize = 128;

/// How far before the end of a part of a line something can begin that makes the line a candidate.
pub(super) const REACH: usize = 2 * MAX_RUN;

/// What every match has in the raw bytes of its line.
#[derive(Debug, Clone)]
pub struct Anchor(Option<Run>);

#[derive(Debug, Clone)]
struct Run {
    needle: Needle,
    escapes: Escapes,
}

#[derive(Debug, Clone)]
enum Needle {
    Exact(Box<memmem::Finder<'static>>),
    Folded(Folded),
}

impl Anchor {
    /// Nothing is known: every line may hold a match.
    pub const NONE: Anchor = Anchor(None);

    /// Every match contains this text.
    pub fn exact(text: &str) -> Self {
        let run = longest_run(text, is_plain);
        Anchor((!run.is_empty()).then(|| Run {
            needle: Needle::Exact(Box::new(memmem::Finder::new(run).into_owned())),
            escapes: Escapes::of(run.chars()),
        }))
    }

    /// Every match contains this text, each of its characters in either case.
    pub fn any_case(text: &str) -> Self {
        // Outside of ASCII the two cases of a letter have no byte in common.
        let run = longest_run(text, |c| is_plain(c) && (c.is_ascii() || is_caseless(c)));
        let cases = run.chars().flat_map(|c| [c.to_ascii_lowercase(), c.to_ascii_uppercase()]);
        let others = run.chars().filter_map(other_form);
        Anchor((!run.is_empty()).then(|| Run {
            needle: Needle::Folded(Folded::new(run)),
            escapes: Escapes::of(cases.chain(others)).or_chars(run.chars().filter_map(other_form)),
        }))
    }

    pub(super) fn candidates<'a>(&'a self, bytes: &'a [u8]) -> Candidates<'a> {
        let run = self.0.as_ref().map(|run| (run, run.needle.find(bytes, 0), run.escapes.find(bytes, 0)));
        Candidates { bytes, run }
    }
}

/// The places in some lines at which a match may begin, or something that hides one.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    bytes: &'a [u8],
    /// The run, and the next places of itself and of an escape.
    run: Option<(&'a Run, Option<usize>, Option<usize>)>,
}

impl Candidates<'_> {
    /// The first place at or behind `from`.
    pub(super) fn next_from(&mut self, from: usize) -> Option<usize> {
        let Some((run, needle, escape)) = &mut self.run else { return (from < self.bytes.len()).then_some(from) };
        if needle.is_some_and(|at| at < from) {
            *needle = run.needle.find(self.bytes, from);
        }
        if escape.is_some_and(|at| at < from) {
            *escape = run.escapes.find(self.bytes, from);
        }
        [*needle, *escape].into_iter().flatten().min()
    }
}

impl Needle {
    fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        match self {
            Needle::Exact(finder) => finder.find(bytes.get(from..)?).map(|at| at + from),
            Needle::Folded(folded) => folded.find(bytes, from),
        }
    }
}

/// Whether JSON writes a character as itself or as `\u` and its number, and in no other way; and whether writers usually
/// write it as itself. U+FFFD may stand for anything that is no text.
fn is_plain(c: char) -> bool {
    !c.is_control() && !matches!(c, '"' | '\\' | '/' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{FFFD}')
}

/// Whether a character is its own upper and lower case. No letter has such a one as a case of its own.
fn is_caseless(c: char) -> bool {
    c.to_lowercase().eq([c]) && c.to_uppercase().eq([c])
}

/// The letter outside of ASCII that is another case of this one, if there is one.
fn other_form(c: char) -> Option<char> {
    match c {
        'k' | 'K' => Some('\u{212A}'),
        's' | 'S' => Some('\u{17F}'),
        _ => None,
    }
}

fn longest_run(text: &str, is_part: impl Fn(char) -> bool) -> &str {
    let longest = text.split(|c| !is_part(c)).max_by_key(|run| run.len()).unwrap_or_default();
    &longest[..longest.floor_char_boundary(MAX_RUN)]
}

#[cfg(test)]
mod tests {
    use super::{Anchor, longest_run};

    fn places(anchor: &Anchor, bytes: &str) -> Vec<usize> {
        let mut candidates = anchor.candidates(bytes.as_bytes());
        let mut from = 0;
        std::iter::from_fn(|| {
            let at = candidates.next_from(from)?;
            from = at + 1;
            Some(at)
        })
        .collect()
    }

    #[test]
    fn the_longest_run_that_json_writes_in_one_way_is_taken() {
        let plain = |text| longest_run(text, super::is_plain);
        assert_eq!(plain("a\"oaks\\b"), "oaks");
        assert_eq!(plain("<\n>/&"), "");
        assert_eq!(plain(&"x".repeat(1_000)).len(), 128);
    }

    #[test]
    fn a_run_is_found_as_it_is_and_behind_an_escape_of_any_of_its_characters() {
        let oak = Anchor::exact("oak");
        assert_eq!(places(&oak, r"an oak \u003c o\u0061k \u00e9 OAK \u006F"), [3, 15, 34]);
        let tree = Anchor::exact("树");
        assert_eq!(places(&tree, r"树 \u6811 \u6812 \u68"), [0, 4]);
        let emoji = Anchor::exact("🌳");
        assert_eq!(places(&emoji, r"🌳 \ud83c\udf33 \udf34"), [0, 5, 11]);
    }

    #[test]
    fn any_case_finds_both_cases_and_the_letters_that_are_a_third_one() {
        let oaks = Anchor::any_case("oaks");
        assert_eq!(places(&oaks, "OAKS oAks oa\u{212A}s oak\u{17F}"), [0, 5, 12, 20]);
        assert_eq!(places(&oaks, r"oa\u212As oak\u017f \u0041 \u0042"), [2, 13, 20]);
        assert_eq!(places(&Anchor::any_case("été à 树"), "ÉTÉ À 树"), [8]);
    }

    #[test]
    fn an_escape_inside_an_escaped_text_is_a_candidate_too() {
        let oak = Anchor::exact("oak");
        for hidden in [r"\\u006fak", r"\u005cu006fak", r"\\u006\u0066ak", r"\\\u0075006fak", r"\\u\u0030006fak"] {
            assert!(!places(&oak, hidden).is_empty(), "{hidden}");
        }
        assert!(places(&oak, r"\\u003c \\u001b[0m C:\\users").is_empty());
    }

    #[test]
    fn without_a_run_every_byte_is_a_candidate() {
        assert_eq!(places(&Anchor::exact("\"\n"), "abc"), [0, 1, 2]);
        assert_eq!(places(&Anchor::any_case("éÉ"), "ab"), [0, 1]);
    }
}
