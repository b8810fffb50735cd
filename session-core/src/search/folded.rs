//! Finding a text whatever the case of its ASCII letters.

use crate::json::{BLOCK, block_at, equal_to};

/// Bytes of texts, code and JSON from the common to the rare ones, so far as they are worth telling apart.
const COMMON: &[u8] = b" etaoinsrlcdupmhfgbyw_v.-0,k12xj3456789qz:;='()";

/// A text that is found whatever the case of its ASCII letters.
#[derive(Debug, Clone)]
pub(super) struct Folded {
    text: Box<[u8]>,
    /// The two of its bytes that are the rarest.
    rare: [Byte; 2],
}

/// One byte of the text.
#[derive(Debug, Clone, Copy)]
struct Byte {
    at: usize,
    lower: u8,
    upper: u8,
}

impl Folded {
    /// # Panics
    /// If the text is empty.
    pub(super) fn new(text: &str) -> Self {
        let text = text.as_bytes();
        let mut by_rarity: Vec<usize> = (0..text.len()).collect();
        by_rarity.sort_by_key(|&at| std::cmp::Reverse(rarity(text[at])));
        let byte = |at: usize| Byte { at, lower: text[at].to_ascii_lowercase(), upper: text[at].to_ascii_uppercase() };
        let first = byte(by_rarity[0]);
        let other = by_rarity.iter().map(|&at| byte(at)).find(|other| other.lower != first.lower);
        Folded { text: text.into(), rare: [first, other.unwrap_or(first)] }
    }

    /// The first place at or behind `from`.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            block_at(bytes, at)?;
            let mut found = self.rare[0].places(bytes, at);
            if found != 0 {
                found &= self.rare[1].places(bytes, at);
            }
            while found != 0 {
                let start = at + found.trailing_zeros() as usize;
                found &= found - 1;
                let text = bytes.get(start..start + self.text.len());
                if text.is_some_and(|text| text.eq_ignore_ascii_case(&self.text)) {
                    return Some(start);
                }
            }
            at += BLOCK;
        }
    }
}

impl Byte {
    /// At which places of a block the text can begin, so far as this byte says.
    #[inline]
    fn places(self, bytes: &[u8], at: usize) -> u64 {
        let Some(block) = block_at(bytes, at + self.at) else { return 0 };
        equal_to(&block, self.lower) | equal_to(&block, self.upper)
    }
}

fn rarity(byte: u8) -> usize {
    COMMON.iter().position(|&common| common == byte.to_ascii_lowercase()).unwrap_or(COMMON.len())
}

#[cfg(test)]
mod tests {
    use super::Folded;

    #[test]
    fn a_text_is_found_at_every_place_in_any_case() {
        for text in ["a", "oak", "saplings and more", "aaaa", "x树y"] {
            let folded = Folded::new(text);
            for before in 0..140 {
                let bytes = format!("{}{}{}", ".".repeat(before), text.to_ascii_uppercase(), "-".repeat(9));
                assert_eq!(folded.find(bytes.as_bytes(), 0), Some(before), "{text} behind {before}");
                assert_eq!(folded.find(bytes.as_bytes(), before + 1), (text == "aaaa").then_some(0).and(None));
                let cut = &bytes.as_bytes()[..before + text.len() - 1];
                assert_eq!(folded.find(cut, 0), None, "{text} cut behind {before}");
            }
        }
    }
}
