//! The grammar of numbers.

/// The end of the number that starts at `at`, or the place where it breaks the grammar.
pub(super) fn end(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = at;
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    match bytes.get(at) {
        Some(b'0') => at += 1,
        Some(b'1'..=b'9') => at += digits(at),
        _ => return Err(at),
    }
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        match digits(at) {
            0 => return Err(at),
            n => at += n,
        }
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        match digits(at) {
            0 => return Err(at),
            n => at += n,
        }
    }
    Ok(at)
}

/// The value of a number's text if it is written as an integer and fits. `1.0` and `1e0` are no integers here, as in
/// the reference.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
