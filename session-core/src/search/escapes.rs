//! Escapes of certain characters in raw JSON.

use crate::json::{BLOCK, block_at, equal_to, pairs};
use std::array;

/// Finds what may stand for one of some characters: their escapes, also in a JSON text that is itself a string of JSON;
/// and other characters as they are.
#[derive(Debug, Clone)]
pub(super) struct Escapes {
    /// The code units of the characters in UTF-16, sorted.
    units: Vec<u16>,
    /// What the third of the four digits can be, one bit for each byte of ASCII.
    thirds: u128,
    /// Characters that are found as they are.
    chars: Vec<Char>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Char {
    bytes: [u8; 4],
    len: usize,
}

impl Escapes {
    /// Escapes of these characters.
    pub(super) fn of(chars: impl Iterator<Item = char>) -> Self {
        // A text inside a text may hide its own escape: its backslash, or its letter.
        let mut units: Vec<u16> = chars.chain(['\\', 'u']).flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()).collect();
        units.sort_unstable();
        units.dedup();
        let third = |unit: &u16| b"0123456789abcdef"[usize::from(unit >> 4 & 0xF)];
        let bits = units.iter().map(third).map(|digit| 1 << digit | 1 << digit.to_ascii_uppercase());
        let thirds = bits.fold(1 << b'\\', |all: u128, bit: u128| all | bit);
        Escapes { units, thirds, chars: Vec::new() }
    }

    /// And these characters as they are.
    pub(super) fn or_chars(mut self, chars: impl Iterator<Item = char>) -> Self {
        for c in chars {
            let mut bytes = [0; 4];
            let len = c.encode_utf8(&mut bytes).len();
            let c = Char { bytes, len };
            if !self.chars.contains(&c) {
                self.chars.push(c);
            }
        }
        self
    }

    /// The first place at or behind `from` where one begins.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let mut places = self.places(bytes, at)?;
            while places != 0 {
                let place = at + places.trailing_zeros() as usize;
                places &= places - 1;
                if self.is_one(bytes, place) {
                    return Some(place);
                }
            }
            at += BLOCK;
        }
    }

    /// At which places of a block something like one of them begins. `None` behind the end.
    #[inline]
    fn places(&self, bytes: &[u8], at: usize) -> Option<u64> {
        let rest = bytes.get(at..)?;
        let (whole, block): ([u8; BLOCK + 1], [u8; BLOCK]);
        let escapes = match rest.first_chunk() {
            Some(whole) => pairs(whole, b'\\', b'u'),
            None if rest.is_empty() => return None,
            None => {
                whole = array::from_fn(|n| rest.get(n).copied().unwrap_or(0));
                pairs(&whole, b'\\', b'u')
            }
        };
        if self.chars.is_empty() {
            return Some(escapes);
        }
        block = block_at(bytes, at)?;
        Some(self.chars.iter().fold(escapes, |found, c| found | equal_to(&block, c.bytes[0])))
    }

    #[inline]
    fn is_one(&self, bytes: &[u8], place: usize) -> bool {
        if bytes[place] != b'\\' {
            return self.chars.iter().any(|c| bytes[place..].starts_with(&c.bytes[..c.len]));
        }
        let Some(digits) = bytes[place + 2..].first_chunk::<4>() else { return false };
        // Most escapes are of other characters, and their third digit tells that.
        let is_third = digits[2] < 0x80 && self.thirds >> digits[2] & 1 == 1;
        // Behind a second backslash, the digits may be hidden themselves.
        if !is_third && (place == 0 || bytes[place - 1] != b'\\') {
            return false;
        }
        if digits.contains(&b'\\') {
            return true;
        }
        let unit = str::from_utf8(digits).ok().and_then(|digits| u16::from_str_radix(digits, 16).ok());
        unit.is_some_and(|unit| self.units.binary_search(&unit).is_ok())
    }
}
