//! Bytes that are no text.

/// The text of bytes that are not all UTF-8: each byte that cannot be part of a character becomes one U+FFFD, as in the
/// reference (three for an encoded surrogate).
pub(super) fn replace_invalid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}
