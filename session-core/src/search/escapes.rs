//! Escapes of certain characters in raw JSON.

use crate::json::{BLOCK, block_at, equal_to};
use memchr::memmem;

/// How many different third digits are looked for at once.
const MAX_DIGITS: usize = 6;

/// Finds escapes that may stand for one of some characters, also in a JSON text that is itself a string of JSON.
#[derive(Debug, Clone)]
pub(super) struct Escapes {
    /// The code units of the characters in UTF-16, sorted.
    units: Vec<u16>,
    /// What the third of the four digits can be. `None`: many things.
    digits: Option<Vec<u8>>,
    /// Characters that are candidates themselves.
    chars: Vec<memmem::Finder<'static>>,
}

impl Escapes {
    /// Escapes of these characters.
    pub(super) fn of(chars: impl Iterator<Item = char>) -> Self {
        // A text inside a text may hide its own escape: its backslash, or its letter.
        let mut units: Vec<u16> = chars.chain(['\\', 'u']).flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()).collect();
        units.sort_unstable();
        units.dedup();
        let third = |unit: &u16| char::from_digit(u32::from(unit >> 4 & 0xF), 16).expect("it is a digit");
        let mut digits: Vec<u8> =
            units.iter().map(third).flat_map(|c| [c as u8, c.to_ascii_uppercase() as u8]).collect();
        digits.sort_unstable();
        digits.dedup();
        Escapes { units, digits: Some(digits).filter(|digits| digits.len() <= MAX_DIGITS), chars: Vec::new() }
    }

    /// And these characters as they are.
    pub(super) fn or_chars(mut self, chars: impl Iterator<Item = char>) -> Self {
        let mut chars: Vec<char> = chars.collect();
        chars.sort_unstable();
        chars.dedup();
        self.chars =
            chars.iter().map(|c| memmem::Finder::new(c.encode_utf8(&mut [0; 4]).as_bytes()).into_owned()).collect();
        self
    }

    /// The first place at or behind `from` where one begins.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = bytes.get(from..)?;
        let raw = self.chars.iter().filter_map(|finder| finder.find(rest)).min();
        let upto = raw.map_or(bytes.len(), |raw| from + raw);
        self.escape(&bytes[..upto], from).or(raw.map(|raw| from + raw))
    }

    fn escape(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let mut openers = self.openers(bytes, at)?;
            while openers != 0 {
                let opener = at + openers.trailing_zeros() as usize;
                openers &= openers - 1;
                if self.may_be_one(bytes, opener) {
                    return Some(opener);
                }
            }
            at += BLOCK;
        }
    }

    /// Which bytes of a block begin something like one of the escapes. `None` behind the end.
    #[inline]
    fn openers(&self, bytes: &[u8], at: usize) -> Option<u64> {
        let backslashes = equal_to(&block_at(bytes, at)?, b'\\');
        if backslashes == 0 {
            return Some(0);
        }
        let found = backslashes & shifted(bytes, at + 1, b"u");
        let Some(digits) = self.digits.as_ref().filter(|_| found != 0) else { return Some(found) };
        // Behind a second backslash the digits may be hidden themselves.
        let before = backslashes << 1 | u64::from(at > 0 && bytes[at - 1] == b'\\');
        Some(found & (before | shifted(bytes, at + 4, digits)))
    }

    fn may_be_one(&self, bytes: &[u8], opener: usize) -> bool {
        let Some(digits) = bytes.get(opener + 2..opener + 6) else { return true };
        if digits.contains(&b'\\') {
            return true;
        }
        let unit = str::from_utf8(digits).ok().and_then(|digits| u16::from_str_radix(digits, 16).ok());
        unit.is_some_and(|unit| self.units.binary_search(&unit).is_ok())
    }
}

/// Which bytes of a block that may lie partly behind the end are one of these.
#[inline]
fn shifted(bytes: &[u8], at: usize, any_of: &[u8]) -> u64 {
    let Some(block) = block_at(bytes, at) else { return 0 };
    any_of.iter().fold(0, |found, &byte| found | equal_to(&block, byte))
}
