//! The digest that a manifest names.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// The SHA-256 of what it was given.
#[derive(Debug, Clone)]
pub(super) struct Digest(Sha256);

impl Digest {
    pub(super) fn new() -> Self {
        Digest(Sha256::new())
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// In hexadecimal digits.
    pub(super) fn hex(self) -> String {
        let mut text = String::new();
        for byte in self.0.finalize() {
            write!(text, "{byte:02x}").expect("a text takes everything");
        }
        text
    }
}
