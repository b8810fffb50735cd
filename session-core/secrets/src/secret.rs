//! A secret that was found, kept from those who print.

use crate::entropy;
use std::fmt;

/// How much of a secret is shown, in characters at most.
const SHOWN: usize = 4;

/// What is too short or too plain to be looked for by itself: it may be a word.
const DISTINCT_BYTES: usize = 12;
const DISTINCT_BITS: f64 = 3.0;

/// A secret. It shows its first characters and how long it is, however it is printed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(Box<[u8]>);

impl Secret {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Secret(bytes.into())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// How long it is, in bytes.
    pub fn byte_len(&self) -> usize {
        self.0.len()
    }

    /// Its first four characters, of a short one fewer: a quarter at most. What is no text in it is U+FFFD.
    pub fn beginning(&self) -> String {
        let text = String::from_utf8_lossy(&self.0);
        text.chars().take(SHOWN.min(text.chars().count() / 4)).collect()
    }

    /// Whether the same bytes elsewhere are this secret too, and not a word that happens to be somebody's password.
    pub(crate) fn is_distinct(&self) -> bool {
        let has = |test: fn(&u8) -> bool| self.0.iter().any(test);
        self.0.len() >= DISTINCT_BYTES
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
            && entropy::bits(&self.0) >= DISTINCT_BITS
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}… ({} bytes)", self.beginning(), self.byte_len())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({:?}… {} bytes)", self.beginning(), self.byte_len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s01_a_secret_is_never_shown_whole() {
        let secret = Secret::new(b"hunter2");
        assert_eq!(secret.to_string(), "h… (7 bytes)");
        assert_eq!(format!("{secret:?}"), "Secret(\"h\"… 7 bytes)");
        assert_eq!(Secret::new(b"abcdefghijklmnopqrst").beginning(), "abcd");
        assert_eq!(Secret::new(b"abc").beginning(), "");
    }
}
