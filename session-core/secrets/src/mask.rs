//! Replacing a secret by as many asterisks.
//!
//! Every change puts as many bytes in the place of others, so that whatever counts bytes (offsets of lines, positions in
//! a log) stays true.

use crate::view::View;
use std::ops::Range;

/// What stands in the place of each byte of a secret.
const MASK: u8 = b'*';

/// Bytes that take the place of as many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) at: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Edit {
    fn stars(range: &Range<usize>) -> Self {
        Edit { at: range.start, bytes: vec![MASK; range.len()] }
    }

    /// Whether it changes anything.
    pub(crate) fn changes(&self, text: &[u8]) -> bool {
        text[self.at..self.at + self.bytes.len()] != self.bytes
    }

    /// The same, so many bytes further on.
    pub(crate) fn moved(self, by: usize) -> Self {
        Edit { at: self.at + by, ..self }
    }

    pub(crate) fn apply(&self, text: &mut [u8]) {
        text[self.at..self.at + self.bytes.len()].copy_from_slice(&self.bytes);
    }
}

/// Masks a range of a view in the original, but for white space and the escapes of deeper layers: lines stay lines, and
/// JSON stays JSON in every layer.
pub(crate) fn mask(view: &View<'_>, range: &Range<usize>) -> Vec<Edit> {
    let range = whole_characters(&view.text, range);
    let mut edits = Vec::new();
    let mut from = range.start;
    for escape in view.escapes_in(&range) {
        words(view, from..escape.start.max(from), &mut edits);
        from = escape.end.min(range.end);
    }
    words(view, from..range.end, &mut edits);
    edits
}

/// Masks what is between white space.
fn words(view: &View<'_>, range: Range<usize>, edits: &mut Vec<Edit>) {
    let mut at = range.start;
    for word in view.text[range].split_inclusive(u8::is_ascii_whitespace) {
        let len = word.trim_ascii_end().len();
        if len > 0 {
            edits.push(Edit::stars(&view.origin(&(at..at + len))));
        }
        at += word.len();
    }
}

/// Masks single letters of a view by others, each in one byte of the original; where one is an escape there, it and its
/// neighbours become asterisks.
pub(crate) fn letters(view: &View<'_>, changes: &[(usize, u8)]) -> Vec<Edit> {
    let edit = |&(at, byte): &(usize, u8)| {
        let origin = view.origin(&(at..at + 1));
        if origin.len() == 1 { Edit { at: origin.start, bytes: vec![byte] } } else { Edit::stars(&origin) }
    };
    changes.iter().map(edit).collect()
}

/// Whether all of a secret is masked already.
pub(crate) fn is_masked(secret: &[u8]) -> bool {
    secret.iter().all(|&byte| byte == MASK || byte.is_ascii_whitespace())
}

fn whole_characters(text: &[u8], range: &Range<usize>) -> Range<usize> {
    let continues = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    let (mut start, mut end) = (range.start, range.end);
    while start > 0 && continues(start) {
        start -= 1;
    }
    while continues(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str, layer: usize, what: &str) -> String {
        let layers = View::layers(text.as_bytes());
        let view = &layers[layer];
        let at = memchr::memmem::find(&view.text, what.as_bytes()).expect("it is there");
        let mut bytes = text.as_bytes().to_vec();
        mask(view, &(at..at + what.len())).iter().for_each(|edit| edit.apply(&mut bytes));
        String::from_utf8(bytes).expect("whole characters are masked")
    }

    #[test]
    fn white_space_and_deeper_escapes_stay() {
        assert_eq!(masked(r#"a\nsec ret\n"#, 1, "sec ret\n"), r#"a\n*** ***\n"#);
        assert_eq!(masked(r#""se\"cr\\u0041et""#, 1, "se\"cr\\u0041et"), r#""******\\u0041**""#);
        assert_eq!(masked("aéb", 0, "é"), "a**b");
    }
}
