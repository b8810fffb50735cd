//! Strings: escapes, surrogates, and bytes that are no text.

use super::cursor::{Cursor, Lossy, Malformed};
use super::invalid::replace_invalid;
use super::plain::{self, Head};
use memchr::memchr2;
use std::borrow::Cow;

impl<'a> Cursor<'a> {
    /// A string, where [`Cursor::shape`] said so. What is no text in it becomes U+FFFD and is noted.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        match self.plain_string() {
            Some(text) => Ok(text),
            None => self.odd_string(),
        }
    }

    /// A string with nothing wrong in it, as nearly all are; `None`, and nothing is consumed, where something is.
    fn plain_string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at + 1;
        let (text, end) = if !self.keep {
            let (end, ascii) = plain::check(self.bytes, start)?;
            if !ascii {
                str::from_utf8(&self.bytes[start..end]).ok()?;
            }
            (Cow::Borrowed(""), end)
        } else {
            match plain::head(self.bytes, start)? {
                Head::Whole(end) => (Cow::Borrowed(str::from_utf8(&self.bytes[start..end]).ok()?), end),
                Head::Escape(at) => {
                    let (len, end) = plain::decode(self.bytes, start, at, &mut self.decoded)?;
                    (Cow::Owned(str::from_utf8(&self.decoded[..len]).ok()?.to_owned()), end)
                }
            }
        };
        self.at = end + 1;
        Some(text)
    }

    /// A string run by run, with an eye for everything that can be wrong.
    pub(super) fn odd_string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let from = self.at;
            let Some(run) = memchr2(b'"', b'\\', &self.bytes[from..]) else {
                self.at = self.bytes.len();
                return Err(self.wrong("ends inside a string"));
            };
            let to = from + run;
            if let Some(control) = self.bytes[from..to].iter().position(|&b| b < 0x20) {
                return Err(Malformed { at: from + control, what: "a raw control character inside a string" });
            }
            self.push_run(&mut text, from, to);
            self.at = to;
            if self.bytes[to] == b'"' {
                self.at += 1;
                return Ok(Cow::Owned(text));
            }
            self.escape(&mut text)?;
        }
    }

    /// A run without escapes goes to the end of `text`.
    fn push_run(&mut self, text: &mut String, from: usize, to: usize) {
        let run = &self.bytes[from..to];
        match str::from_utf8(run) {
            Ok(run) if self.keep => text.push_str(run),
            Ok(_) => {}
            Err(_) => {
                self.lossy.get_or_insert(Lossy::Utf8);
                if self.keep {
                    text.push_str(&replace_invalid(run));
                }
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), Malformed> {
        let c = match self.bytes.get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => self.unicode()?,
            Some(_) => return Err(self.wrong("an escape that JSON does not have")),
            None => {
                self.at = self.bytes.len();
                return Err(self.wrong("ends inside an escape"));
            }
        };
        self.at += 2;
        if self.keep {
            text.push(c);
        }
        Ok(())
    }

    /// `\uXXXX` at the cursor, with its partner if it has one. Leaves the cursor two bytes before the end of what it took.
    fn unicode(&mut self) -> Result<char, Malformed> {
        let first = self.hex(self.at)?;
        if let Some(c) = char::from_u32(first) {
            self.at += 4;
            return Ok(c);
        }
        // A surrogate: it counts only as the first of a pair. A second escape that is no partner stands for itself.
        let partner = match self.bytes.get(self.at + 6..self.at + 8) {
            Some(b"\\u") => Some(self.hex(self.at + 6)?),
            _ => None,
        };
        self.at += 4;
        match partner {
            Some(low @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
                self.at += 6;
                let code = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
                Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            _ => {
                self.lossy.get_or_insert(Lossy::Surrogate);
                Ok(char::REPLACEMENT_CHARACTER)
            }
        }
    }

    fn hex(&self, escape: usize) -> Result<u32, Malformed> {
        let mut code = 0;
        for at in escape + 2..escape + 6 {
            let digit = self.bytes.get(at).and_then(|&b| char::from(b).to_digit(16));
            let digit = digit.ok_or(Malformed { at, what: "expected four hex digits after \\u" })?;
            code = code * 16 + digit;
        }
        Ok(code)
    }
}

/// A JSON text with the escape of U+FFFD in place of each half of a surrogate pair, for readers that refuse one.
///
/// The text must be valid JSON.
pub(crate) fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        // An escape of one letter is two bytes long, one of a code unit six, a pair of them twelve.
        let unit = |at: usize| {
            let digits = rest.get(at..at + 6)?.strip_prefix("\\u")?;
            u32::from_str_radix(digits, 16).ok()
        };
        let (len, lone) = match unit(at) {
            None => (2, false),
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => (12, false),
            Some(0xD800..=0xDFFF) => (6, true),
            Some(_) => (6, false),
        };
        let (before, after) = rest.split_at(at + len);
        out.push_str(if lone { &before[..at] } else { before });
        out.push_str(if lone { "\\ufffd" } else { "" });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, Option<Lossy>) {
        let mut cursor = Cursor::new(bytes);
        let text = cursor.string().expect("the cases are strings").into_owned();
        cursor.end().expect("the cases are nothing but a string");
        (text, cursor.lossy)
    }

    #[test]
    fn surrogates_pair_up_or_are_replaced_one_by_one() {
        assert_eq!(read(br#""\ud83d\ude00""#), ("😀".into(), None));
        assert_eq!(read(br#""\ud83d\ud83d\ude00""#), ("\u{fffd}😀".into(), Some(Lossy::Surrogate)));
        assert_eq!(read(br#""\ude00\ud83d""#), ("\u{fffd}\u{fffd}".into(), Some(Lossy::Surrogate)));
        assert_eq!(read(br#""\ud83dA""#), ("\u{fffd}A".into(), Some(Lossy::Surrogate)));
        assert_eq!(read(br#""\ufffd""#), ("\u{fffd}".into(), None));
    }

    #[test]
    fn only_lone_surrogates_are_replaced_in_a_text() {
        for (text, wanted) in [
            (r#"["\ud83d\ude00","\\ud83d"]"#, r#"["\ud83d\ude00","\\ud83d"]"#),
            (r#""\ud83d\ud83d\uDE00\n""#, r#""\ufffd\ud83d\uDE00\n""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""é\ud83dé\\""#, r#""é\ufffdé\\""#),
            (r#""\u0061\ud83d\u006f\u5317""#, r#""\u0061\ufffd\u006f\u5317""#),
        ] {
            assert_eq!(without_lone_surrogates(text), wanted);
        }
    }

    #[test]
    fn each_byte_that_is_no_text_becomes_one_mark() {
        assert_eq!(read(b"\"caf\xc3\""), ("caf\u{fffd}".into(), Some(Lossy::Utf8)));
        assert_eq!(read(b"\"\xed\xa0\xbd\""), ("\u{fffd}\u{fffd}\u{fffd}".into(), Some(Lossy::Utf8)));
        assert_eq!(read(b"\"\\n\xff\\n\""), ("\n\u{fffd}\n".into(), Some(Lossy::Utf8)));
    }

    #[test]
    fn a_string_that_is_not_kept_is_checked_all_the_same() {
        let mut cursor = Cursor::new(br#""a\ud800b""#).without_bodies();
        assert_eq!(cursor.string(), Ok(Cow::Owned(String::new())));
        assert_eq!(cursor.lossy, Some(Lossy::Surrogate));
        assert!(Cursor::new(br#""a\x""#).without_bodies().string().is_err());
        assert!(Cursor::new(b"\"a\x01\"").without_bodies().string().is_err());
    }
}
