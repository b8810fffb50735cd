//! One escape of JSON, wherever it stands.

/// The character that an escape at the start of a text stands for, and how many bytes the escape has. `None` where there is
/// none, and for half of a surrogate pair alone. An escaped apostrophe, as other languages write it, is taken too.
///
/// ```
/// assert_eq!(session_core::json::escape(br"\u0026D"), Some(('&', 6)));
/// assert_eq!(session_core::json::escape(br"\ud83c\udf33 and more"), Some(('🌳', 12)));
/// assert_eq!(session_core::json::escape(br"\dir"), None);
/// ```
pub fn escape(text: &[u8]) -> Option<(char, usize)> {
    let [b'\\', letter, ..] = text else { return None };
    let c = match letter {
        b'"' => '"',
        b'\'' => '\'',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(text),
        _ => return None,
    };
    Some((c, 2))
}

fn unicode(text: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?))
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 6));
    }
    let second = unit(6).filter(|second| first < 0xDC00 && (0xDC00..0xE000).contains(second))?;
    char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).map(|c| (c, 12))
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn what_is_no_whole_escape_stands_for_nothing() {
        for text in [
            &b""[..],
            b"\\",
            b"n",
            br"\x41",
            br"\u00",
            br"\u00zz",
            br"\u+041",
            br"\ud83c",
            br"\ud83c\u0041",
            br"\udf33",
        ] {
            assert_eq!(escape(text), None, "{}", String::from_utf8_lossy(text));
        }
    }
}
