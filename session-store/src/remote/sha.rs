//! The SHA-256 of something, as names and documents write it.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write as _};
use std::io::{self, Read};
use std::str::FromStr;

/// A SHA-256: 64 hexadecimal digits in small letters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Sha([u8; 32]);

impl Sha {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Sha(Sha256::digest(bytes).into())
    }

    /// Of all that a reader gives.
    pub(super) fn of_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut sum = Sum::default();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(sum.end()),
                read => sum.add(&buffer[..read]),
            }
        }
    }
}

/// A SHA-256 that is being computed.
#[derive(Default)]
pub(super) struct Sum(Sha256);

impl Sum {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn end(self) -> Sha {
        Sha(self.0.finalize().into())
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha({self})")
    }
}

impl FromStr for Sha {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "not 64 small hexadecimal digits";
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(WRONG);
        }
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(WRONG),
        };
        let mut sha = [0; 32];
        for (byte, pair) in sha.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Sha(sha))
    }
}

impl Serialize for Sha {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// A text for names, that nobody else has made: 16 hexadecimal digits.
pub(super) fn random_token() -> String {
    let mut text = String::with_capacity(16);
    write!(text, "{:016x}", rand::random::<u64>()).expect("writing to a string cannot fail");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let sha = Sha::of(b"abc");
        assert_eq!(sha.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha.to_string().parse(), Ok(sha));
        assert_eq!(Sha::of_reader(&b"abc"[..]).expect("a slice can be read"), sha);
        for wrong in ["", "ba78", &"g".repeat(64), &"A".repeat(64), &"a".repeat(65)] {
            assert!(wrong.parse::<Sha>().is_err(), "{wrong}");
        }
    }
}
