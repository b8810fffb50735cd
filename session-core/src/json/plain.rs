//! The strings that nothing is wrong with, sixty-four bytes at a time.
//!
//! Whatever this module does not take, the reader of odd strings takes from the start. It alone says what is wrong, so
//! that this one only has to be right about what it accepts.

use super::block::{self, LEN, Marks};

/// How far a string goes without an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// To its closing quotation mark, which stands here.
    Whole(usize),
    /// To the first backslash, which stands here.
    Escape(usize),
}

/// Looks at the string whose first byte after the quotation mark stands at `start`. `None` if it does not end, or if a
/// raw control character comes first.
#[inline]
pub(super) fn head(bytes: &[u8], start: usize) -> Option<Head> {
    let mut at = start;
    loop {
        let block = block_at(bytes, at)?;
        let marks = block::marks(&block);
        let stops = marks.quotes | marks.backslashes;
        if marks.controls & before_first(stops) != 0 {
            return None;
        }
        if stops != 0 {
            let found = at + stops.trailing_zeros() as usize;
            return Some(if bytes[found] == b'"' { Head::Whole(found) } else { Head::Escape(found) });
        }
        at += LEN;
    }
}

/// The closing quotation mark of a string in which every escape is valid and none is half of a surrogate pair, and
/// whether every byte of it is ASCII. Nothing is decoded.
pub(super) fn check(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    let (mut at, mut ascii, mut carried) = (start, true, 0);
    loop {
        let block = block_at(bytes, at)?;
        let marks = block::marks(&block);
        let mut escaped = 0;
        if marks.backslashes | carried != 0 {
            (escaped, carried) = block::after_backslashes(marks.backslashes, carried);
        }
        let ends = marks.quotes & !escaped;
        let inside = before_first(ends);
        if marks.controls & inside != 0
            || (escaped & inside != 0 && !valid(bytes, &block, &marks, at, escaped & inside))
        {
            return None;
        }
        ascii &= marks.high & inside == 0;
        if ends != 0 {
            return Some((at + ends.trailing_zeros() as usize, ascii));
        }
        at += LEN;
    }
}

/// Where a string ends in which nothing is wrong and whose first byte is the first of `bytes`.
pub(crate) fn plain_string_end(bytes: &[u8]) -> Option<usize> {
    let (end, ascii) = check(bytes, 0)?;
    (ascii || str::from_utf8(&bytes[..end]).is_ok()).then_some(end)
}

/// The string in which nothing is wrong and whose first byte is the first of `bytes`, and where it ends.
pub(crate) fn plain_string(bytes: &[u8], scratch: &mut Vec<u8>) -> Option<(String, usize)> {
    let (text, end) = match head(bytes, 0)? {
        Head::Whole(end) => (&bytes[..end], end),
        Head::Escape(at) => {
            let (len, end) = decode(bytes, 0, at, scratch)?;
            (&scratch[..len], end)
        }
    };
    Some((str::from_utf8(text).ok()?.to_owned(), end))
}

/// Whether what follows backslashes makes valid escapes. `escaped` are the bytes behind them.
#[inline]
fn valid(bytes: &[u8], block: &[u8; LEN], marks: &Marks, at: usize, escaped: u64) -> bool {
    // A line break, a quotation mark or a backslash, nearly always.
    let mut others = escaped & !(marks.quotes | marks.backslashes | block::equal_to(block, b'n'));
    while others != 0 {
        let place = others.trailing_zeros() as usize;
        others &= others - 1;
        let good = match block[place] {
            b'u' => unit(bytes, at + place + 1).and_then(char::from_u32).is_some(),
            letter => SHORT[usize::from(letter)] != 0,
        };
        if !good {
            return false;
        }
    }
    true
}

/// The block at `at`, filled up with zeros behind the end. Zeros are control characters:
/// no string that reaches into them is plain.
#[inline]
pub(crate) fn block_at(bytes: &[u8], at: usize) -> Option<[u8; LEN]> {
    let rest = bytes.get(at..)?;
    if let Some(block) = rest.first_chunk() {
        return Some(*block);
    }
    let mut block = [0; LEN];
    block[..rest.len()].copy_from_slice(rest);
    (!rest.is_empty()).then_some(block)
}

/// The positions before the first one of a set; all of them, if it is empty.
#[inline]
fn before_first(set: u64) -> u64 {
    set.wrapping_sub(1) & !set
}

/// The string whose first byte stands at `start` and whose first backslash at `escape`, decoded into the beginning of
/// `text`: how long it is there, and where its closing quotation mark stands. `None` if an escape is not valid or half
/// of a surrogate pair, if the string does not end, or if it holds a raw control character.
pub(super) fn decode(bytes: &[u8], start: usize, escape: usize, text: &mut Vec<u8>) -> Option<(usize, usize)> {
    // No escape is longer than what it stands for, and a block is copied whole even if only its beginning counts.
    let most = bytes.len() - start + LEN;
    if text.len() < most {
        text.resize(most, 0);
    }
    let mut len = escape - start;
    text[..len].copy_from_slice(&bytes[start..escape]);
    let mut at = escape;
    loop {
        let marks = block::marks(&block_at(bytes, at)?);
        let (escaped, _) = block::after_backslashes(marks.backslashes, 0);
        let ends = marks.quotes & !escaped;
        let inside = before_first(ends);
        if marks.controls & inside != 0 {
            return None;
        }
        let mut openers = marks.backslashes & !escaped & inside;
        let mut from = at;
        while openers != 0 {
            let opener = at + openers.trailing_zeros() as usize;
            openers &= openers - 1;
            // The second escape of a pair has been read with the first.
            if opener >= from {
                len += copy(bytes, from, opener, &mut text[len..]);
                let (decoded, next) = decode_escape(bytes, opener, &mut text[len..])?;
                (len, from) = (len + decoded, next);
            }
        }
        if ends != 0 {
            let end = at + ends.trailing_zeros() as usize;
            return Some((len + copy(bytes, from, end, &mut text[len..]), end));
        }
        len += copy(bytes, from, at + LEN, &mut text[len..]);
        // An escape at the end of the block may have taken bytes of the next one.
        at = from.max(at + LEN);
    }
}

/// Copies the bytes up to `to` and says how many: as a rule it copies more, of which only they count, because a copy of
/// a fixed length is the faster one.
#[inline]
fn copy(bytes: &[u8], from: usize, to: usize, text: &mut [u8]) -> usize {
    const SHORT_RUN: usize = LEN / 2;
    let Some(len) = to.checked_sub(from) else { return 0 };
    match (bytes[from..].first_chunk::<SHORT_RUN>(), text.first_chunk_mut::<SHORT_RUN>()) {
        (Some(run), Some(text)) if len <= SHORT_RUN => *text = *run,
        _ => text[..len].copy_from_slice(&bytes[from..to]),
    }
    len
}

/// Decodes the escape at `at`: how many bytes it gives, and where it ends.
#[inline]
fn decode_escape(bytes: &[u8], at: usize, text: &mut [u8]) -> Option<(usize, usize)> {
    match SHORT[usize::from(*bytes.get(at + 1)?)] {
        0 => decode_long_escape(bytes, at, text),
        short => {
            text[0] = short;
            Some((1, at + 2))
        }
    }
}

fn decode_long_escape(bytes: &[u8], at: usize, text: &mut [u8]) -> Option<(usize, usize)> {
    if bytes.get(at + 1) != Some(&b'u') {
        return None;
    }
    let first = unit(bytes, at + 2)?;
    let (code, end) = match first {
        0xD800..0xDC00 => match (bytes.get(at + 6..at + 8)?, unit(bytes, at + 8)?) {
            (b"\\u", second @ 0xDC00..0xE000) => (0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), at + 12),
            _ => return None,
        },
        _ => (first, at + 6),
    };
    Some((char::from_u32(code)?.encode_utf8(text).len(), end))
}

/// What a letter after a backslash stands for; 0 where it makes no escape of two bytes.
const SHORT: [u8; 256] = {
    let mut short = [0; 256];
    short[b'"' as usize] = b'"';
    short[b'\\' as usize] = b'\\';
    short[b'/' as usize] = b'/';
    short[b'b' as usize] = 8;
    short[b'f' as usize] = 12;
    short[b'n' as usize] = b'\n';
    short[b'r' as usize] = b'\r';
    short[b't' as usize] = b'\t';
    short
};

/// The code unit that four hex digits name.
#[inline]
fn unit(bytes: &[u8], digits: usize) -> Option<u32> {
    let digits: &[u8; 4] = bytes.get(digits..)?.first_chunk()?;
    let [a, b, c, d] = digits.map(|digit| u32::from(HEX[usize::from(digit)]));
    (a | b | c | d < 16).then_some(a << 12 | b << 8 | c << 4 | d)
}

/// The value of a hex digit, 16 for any other byte.
const HEX: [u8; 256] = {
    let mut values = [16; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value] as usize] = value as u8;
        values[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
        let mut text = Vec::new();
        match head(bytes, 0)? {
            Head::Whole(end) => Some((bytes[..end].to_vec(), end)),
            Head::Escape(at) => {
                let (len, end) = decode(bytes, 0, at, &mut text)?;
                text.truncate(len);
                Some((text, end))
            }
        }
    }

    #[test]
    fn a_string_ends_at_the_first_quotation_mark_that_is_not_escaped() {
        for len in 0..135 {
            let text = format!("{}\\\\\" and more", "a".repeat(len));
            assert_eq!(check(text.as_bytes(), 0), Some((len + 2, true)), "{text}");
            assert_eq!(decoded(text.as_bytes()), Some((format!("{}\\", "a".repeat(len)).into(), len + 2)), "{text}");
            let cut = &text.as_bytes()[..len + 2];
            assert_eq!((check(cut, 0), decoded(cut)), (None, None), "{text}");
        }
    }

    #[test]
    fn what_is_odd_is_left_to_the_other_reader() {
        for odd in [r#"\x""#, r#"\u12g4""#, r#"\ud800""#, r#"\udc00""#, r#"\ud83d\u0041""#, "a\tb\"", "\\", "\\u00\""] {
            for len in 0..135 {
                let odd = format!("{}{odd}", "a".repeat(len));
                assert_eq!((check(odd.as_bytes(), 0), decoded(odd.as_bytes())), (None, None), "{odd}");
            }
        }
    }

    #[test]
    fn escapes_become_what_they_stand_for_wherever_they_stand() {
        let raw = r#"\"\\\/\b\f\n\r\t \u0041\u00e9\u20ac\ud83d\ude00 é"#;
        for len in 0..135 {
            let filler = "a".repeat(len);
            let text = format!("{filler}{raw}{filler}\"");
            let wanted = format!("{filler}\"\\/\u{8}\u{c}\n\r\t Aé€😀 é{filler}");
            assert_eq!(decoded(text.as_bytes()), Some((wanted.into(), text.len() - 1)), "{text}");
        }
        assert_eq!(check(r#"\n\u00e9é""#.as_bytes(), 0), Some((10, false)));
    }
}
