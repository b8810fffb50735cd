//! Object ids and how they are computed.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha1::{Digest as _, Sha1};
use std::fmt;

/// The id of an object in a checkpoint repository: the SHA-1 that git gives it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid([u8; 20]);

impl Oid {
    /// The id with all bits zero, which no object has.
    pub(crate) const ZERO: Oid = Oid([0; 20]);

    /// An id from its 20 bytes.
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Oid(bytes)
    }

    /// The 20 bytes.
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// An id from 40 hexadecimal digits; `None` for anything else.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 40 {
            return None;
        }
        let mut bytes = [0; 20];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            *byte = u8::try_from(high << 4 | low).ok()?;
        }
        Some(Oid(bytes))
    }

    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Oid)
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Oid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Oid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Oid::from_hex(&text).ok_or_else(|| serde::de::Error::custom("an object id is 40 hexadecimal digits"))
    }
}

/// The four kinds of objects, with the numbers that a pack gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Commit = 1,
    Tree = 2,
    Blob = 3,
    Tag = 4,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Commit => "commit",
            Kind::Tree => "tree",
            Kind::Blob => "blob",
            Kind::Tag => "tag",
        }
    }
}

/// The id of an object with this content.
pub(crate) fn hash(kind: Kind, content: &[u8]) -> Oid {
    let mut sha = Sha1::new();
    sha.update(kind.name().as_bytes());
    sha.update(format!(" {}\0", content.len()).as_bytes());
    sha.update(content);
    Oid(sha.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_gits() {
        assert_eq!(hash(Kind::Blob, b"").to_string(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(hash(Kind::Tree, b"").to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    }

    #[test]
    fn hex_reads_back_and_nothing_else_does() {
        let oid = hash(Kind::Blob, b"x");
        assert_eq!(Oid::from_hex(&oid.to_string()), Some(oid));
        for bad in ["", "abc", &"g".repeat(40), &"é".repeat(20), &"0".repeat(41)] {
            assert_eq!(Oid::from_hex(bad), None, "{bad}");
        }
    }
}
