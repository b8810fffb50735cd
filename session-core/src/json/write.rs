//! Writing JSON as the reference's engine does: no spaces, and `<`, `>`, `&`, U+2028 and U+2029 escaped.

use super::block::{LEN as BLOCK, needing_escape};
use super::plain::block_at;

/// The first byte of U+2028 and U+2029, and of others.
const SEPARATOR: u8 = 1;

/// What a byte needs: nothing (0), a look at what follows ([`SEPARATOR`]), the six-character form (`u`), or a short
/// escape.
const NEEDS: [u8; 256] = {
    let mut needs = [0; 256];
    let mut b = 0;
    while b < 0x20 {
        needs[b] = b'u';
        b += 1;
    }
    needs[8] = b'b';
    needs[9] = b't';
    needs[10] = b'n';
    needs[12] = b'f';
    needs[13] = b'r';
    needs[b'"' as usize] = b'"';
    needs[b'\\' as usize] = b'\\';
    needs[b'<' as usize] = b'u';
    needs[b'>' as usize] = b'u';
    needs[b'&' as usize] = b'u';
    needs[0xE2] = SEPARATOR;
    needs
};

/// Appends `text` as a JSON string, quotes included, escaped as the reference escapes.
///
/// ```
/// let mut out = Vec::new();
/// session_core::json::push_string(&mut out, "a <b> & \"c\"\n");
/// assert_eq!(out, br#""a \u003cb\u003e \u0026 \"c\"\n""#);
/// ```
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let (mut from, mut at) = (0, 0);
    while let Some(block) = block_at(bytes, at) {
        let mut places = needing_escape(&block) & first(bytes.len() - at);
        while places != 0 {
            let place = at + places.trailing_zeros() as usize;
            places &= places - 1;
            let need = NEEDS[usize::from(bytes[place])];
            if need != SEPARATOR {
                out.extend_from_slice(&bytes[from..place]);
                push_escape(out, bytes[place], need);
                from = place + 1;
            } else if let [0x80, last @ (0xA8 | 0xA9), ..] = bytes[place + 1..] {
                // U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
                out.extend_from_slice(&bytes[from..place]);
                out.extend_from_slice(if last == 0xA8 { b"\\u2028" } else { b"\\u2029" });
                from = place + 3;
            }
        }
        at += BLOCK;
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// The first positions of a block, so many of them.
fn first(count: usize) -> u64 {
    if count < BLOCK { (1 << count) - 1 } else { u64::MAX }
}

fn push_escape(out: &mut Vec<u8>, byte: u8, need: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    if need == b'u' {
        let [high, low] = [byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]);
        out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
    } else {
        out.extend_from_slice(&[b'\\', need]);
    }
}

pub(crate) fn push_integer(out: &mut Vec<u8>, n: i64) {
    out.extend_from_slice(n.to_string().as_bytes());
}

/// Appends an array whose elements `push` writes.
pub(crate) fn push_list<T>(out: &mut Vec<u8>, items: &[T], mut push: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        push(out, item);
    }
    out.push(b']');
}

/// A JSON text on one line: white space between tokens is dropped, everything else stays byte for byte.
///
/// The text must be valid JSON.
pub(crate) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_string = false;
    let mut escaped = false;
    for c in text.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if matches!(c, ' ' | '\t' | '\r' | '\n') {
            continue;
        } else {
            in_string = c == '"';
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        push_string(&mut out, text);
        String::from_utf8(out).expect("text in, text out")
    }

    #[test]
    fn every_character_reads_back_as_itself() {
        for c in (0..=0x0010_FFFF).filter_map(char::from_u32) {
            let text = format!("x{c}y");
            let read: String = serde_json::from_str(&written(&text)).expect("it is a JSON string");
            assert_eq!(read, text);
        }
    }

    #[test]
    fn what_is_escaped_may_stand_anywhere_in_a_block() {
        for len in 0..140 {
            let text = format!("{}\u{2028}<\"\u{2027}{}\u{2029}", "x".repeat(len), "é".repeat(len));
            let read: String = serde_json::from_str(&written(&text)).expect("it is a JSON string");
            assert_eq!(read, text);
            assert_eq!(written(&text).matches('\\').count(), 4, "{text}");
        }
    }

    #[test]
    fn the_five_characters_that_html_minds_are_escaped() {
        assert_eq!(
            written("<>&\u{2028}\u{2029}\u{2027}\u{202a}"),
            "\"\\u003c\\u003e\\u0026\\u2028\\u2029\u{2027}\u{202a}\""
        );
        assert_eq!(
            written("\u{0}\u{8}\u{9}\u{a}\u{b}\u{c}\u{d}\u{1f}\u{7f}"),
            "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\u{7f}\""
        );
    }

    #[test]
    fn compacting_leaves_strings_alone() {
        assert_eq!(compact("{ \"a b\" : [ 1 ,\n \"x \\\" y\" ] }"), r#"{"a b":[1,"x \" y"]}"#);
    }
}
