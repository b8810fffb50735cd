//! Titles: one short line for a list of sessions.

use unicode_segmentation::UnicodeSegmentation as _;

/// The longest title, in bytes of UTF-8.
#[doc(alias = "MaxTitleChars")]
pub const MAX_TITLE_BYTES: usize = 80;

/// How many words of the first prompt make a title when nothing better is known.
#[doc(alias = "TitleFallbackWords")]
pub const TITLE_WORDS: usize = 5;

/// Brings a raw title into the form that is stored: the first line that is not blank, without quotes or backticks
/// around it, white space collapsed, at most [`MAX_TITLE_BYTES`] bytes, cut at a word or else between graphemes.
/// Empty when nothing remains.
///
/// ```
/// assert_eq!(session_core::normalize_title("\n  \"Port   the parser\"\nand more"), "Port the parser");
/// ```
#[doc(alias = "NormalizeTitle")]
pub fn normalize_title(raw: &str) -> String {
    let first = raw.split('\n').map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let bare = first.trim_matches(QUOTES);
    let words: Vec<&str> = bare.split_whitespace().collect();
    let title = words.join(" ");
    cut(&title).trim_matches(QUOTES).to_owned()
}

/// A title from the first `words` words of a prompt, or from [`TITLE_WORDS`] of them. Empty for an empty prompt.
///
/// ```
/// assert_eq!(session_core::first_words_title("move the history reader to a parser", None), "move the history reader to");
/// ```
#[doc(alias = "FirstWordsTitle")]
pub fn first_words_title(prompt: &str, words: Option<std::num::NonZeroUsize>) -> String {
    let count = words.map_or(TITLE_WORDS, std::num::NonZeroUsize::get);
    let words: Vec<&str> = prompt.split_whitespace().take(count).collect();
    normalize_title(&words.join(" "))
}

/// The title of a fork of a session that has this one: `Oaks (fork)`, and of a fork of that `Oaks (fork 2)`. What is too
/// long is cut before the bracket.
///
/// ```
/// assert_eq!(session_core::fork_title("Oaks"), "Oaks (fork)");
/// assert_eq!(session_core::fork_title("Oaks (fork)"), "Oaks (fork 2)");
/// ```
pub fn fork_title(title: &str) -> String {
    let numbered = title.strip_suffix(')').and_then(|title| {
        let (base, number) = title.rsplit_once(" (fork")?;
        if number.is_empty() { Some((base, 1)) } else { Some((base, number.strip_prefix(' ')?.parse::<u32>().ok()?)) }
    });
    let (base, suffix) = match numbered {
        Some((base, number)) => (base, format!(" (fork {})", number.saturating_add(1))),
        None => (title, " (fork)".to_owned()),
    };
    format!("{}{suffix}", cut_to(base, MAX_TITLE_BYTES - suffix.len()))
}

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// At most the allowed bytes; at the last space if there is one.
fn cut(title: &str) -> &str {
    cut_to(title, MAX_TITLE_BYTES)
}

fn cut_to(title: &str, max_bytes: usize) -> &str {
    if title.len() <= max_bytes {
        return title;
    }
    let end =
        title.grapheme_indices(true).map(|(at, grapheme)| at + grapheme.len()).take_while(|end| *end <= max_bytes);
    let head = &title[..end.last().unwrap_or(0)];
    head.rfind(' ').map_or(head, |space| &head[..space])
}
