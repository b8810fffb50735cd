//! Where in sixty-four bytes those stand that matter inside a JSON string.
//!
//! Every x86-64 processor has the instructions for it; others take the same answer from arithmetic on words.

/// How many bytes are looked at together.
pub(crate) const LEN: usize = 64;

/// What a writer escapes beside control characters: what JSON asks for, what HTML minds, and the first byte of U+2028 and
/// U+2029.
const ESCAPED: [u8; 6] = [b'"', b'\\', b'<', b'>', b'&', 0xE2];

/// Sets of positions in a block, one bit a byte, the first byte's lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    /// Quotation marks.
    pub(super) quotes: u64,
    /// Backslashes.
    pub(super) backslashes: u64,
    /// Bytes below 0x20, which may not stand raw inside a string.
    pub(super) controls: u64,
    /// Bytes above 0x7F, parts of characters outside of ASCII.
    pub(super) high: u64,
}

/// Which bytes a backslash escapes, and whether the last one escapes the first byte of the next block.
///
/// A run of backslashes escapes every second byte from its second one on, so what counts is whether a run begins at an
/// even or at an odd place: a subtraction runs through all runs at once and leaves them told apart. The method is that
/// of Langdale and Lemire, *Parsing Gigabytes of JSON per Second* (2019), section 3.1.1, in the shape that needs no
/// addition with carry.
#[inline]
pub(super) fn after_backslashes(backslashes: u64, carried: u64) -> (u64, u64) {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let opening = backslashes & !carried;
    let turned = (opening << 1 | ODD).wrapping_sub(opening) ^ ODD;
    let escaped = turned ^ (backslashes | carried);
    (escaped, (turned & backslashes) >> (u64::BITS - 1))
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use words::{equal_to, pairs};
#[cfg(not(target_arch = "x86_64"))]
pub(super) use words::{marks, needing_escape};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{equal_to, pairs};
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{marks, needing_escape};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{ESCAPED, LEN, Marks};
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8,
    };

    /// How many registers a block takes.
    const PARTS: usize = 4;

    #[inline]
    pub(in super::super) fn marks(block: &[u8; LEN]) -> Marks {
        // SAFETY: SSE2 is part of x86-64, and the function asks for nothing else.
        unsafe { sse2_marks(block) }
    }

    /// The bytes that equal one.
    #[inline]
    pub(crate) fn equal_to(block: &[u8; LEN], byte: u8) -> u64 {
        // SAFETY: SSE2 is part of x86-64, and the function asks for nothing else.
        unsafe { sse2_equal_to(block, byte) }
    }

    /// The bytes that a writer escapes, or that may begin a character that it does.
    #[inline]
    pub(in super::super) fn needing_escape(block: &[u8; LEN]) -> u64 {
        // SAFETY: SSE2 is part of x86-64, and the function asks for nothing else.
        unsafe { sse2_needing_escape(block) }
    }

    /// Where two bytes stand behind each other.
    #[inline]
    pub(crate) fn pairs(block: &[u8; LEN + 1], first: u8, second: u8) -> u64 {
        // SAFETY: SSE2 is part of x86-64, and the function asks for nothing else.
        unsafe { sse2_pairs(block, first, second) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn sse2_marks(block: &[u8; LEN]) -> Marks {
        let parts = parts(block);
        let last_control = _mm_set1_epi8(0x1F);
        Marks {
            quotes: bits(parts.map(|part| equal(part, b'"'))),
            backslashes: bits(parts.map(|part| equal(part, b'\\'))),
            controls: bits(parts.map(|part| _mm_cmpeq_epi8(_mm_min_epu8(part, last_control), part))),
            high: bits(parts),
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn sse2_equal_to(block: &[u8; LEN], byte: u8) -> u64 {
        bits(parts(block).map(|part| equal(part, byte)))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn sse2_needing_escape(block: &[u8; LEN]) -> u64 {
        let last_control = _mm_set1_epi8(0x1F);
        bits(parts(block).map(|part| {
            let control = _mm_cmpeq_epi8(_mm_min_epu8(part, last_control), part);
            ESCAPED.iter().fold(control, |any, &byte| _mm_or_si128(any, equal(part, byte)))
        }))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn sse2_pairs(block: &[u8; LEN + 1], first: u8, second: u8) -> u64 {
        let (Some(here), Some(behind)) = (block.first_chunk(), block.last_chunk()) else { return 0 };
        let ([a, b, c, d], [e, f, g, h]) = (parts(here), parts(behind));
        let both = |one, other| _mm_and_si128(equal(one, first), equal(other, second));
        let found = [both(a, e), both(b, f), both(c, g), both(d, h)];
        let any = found.into_iter().fold(found[0], |any, part| _mm_or_si128(any, part));
        // Nearly always there is none.
        if _mm_movemask_epi8(any) == 0 { 0 } else { bits(found) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn parts(block: &[u8; LEN]) -> [__m128i; PARTS] {
        let (parts, _) = block.as_chunks::<16>();
        [load(&parts[0]), load(&parts[1]), load(&parts[2]), load(&parts[3])]
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn load(part: &[u8; LEN / PARTS]) -> __m128i {
        // SAFETY: sixteen bytes may be read there; the instruction asks for no alignment.
        unsafe { _mm_loadu_si128(part.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn equal(part: __m128i, byte: u8) -> __m128i {
        _mm_cmpeq_epi8(part, _mm_set1_epi8(byte.cast_signed()))
    }

    /// The top bit of each byte.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn bits(parts: [__m128i; PARTS]) -> u64 {
        let [a, b, c, d] = parts.map(|part| u64::from(_mm_movemask_epi8(part).cast_unsigned()));
        a | b << 16 | c << 32 | d << 48
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod words {
    use super::{ESCAPED, LEN, Marks};

    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;

    pub(in super::super) fn marks(block: &[u8; LEN]) -> Marks {
        Marks {
            quotes: each(block, |word| equal(word, b'"')),
            backslashes: each(block, |word| equal(word, b'\\')),
            // The top three bits of a byte below 0x20 are all clear.
            controls: each(block, |word| zero(word & (ONES * 0xE0))),
            high: each(block, |word| word & TOPS),
        }
    }

    /// The bytes that equal one.
    pub(crate) fn equal_to(block: &[u8; LEN], byte: u8) -> u64 {
        each(block, |word| equal(word, byte))
    }

    /// The bytes that a writer escapes, or that may begin a character that it does.
    pub(in super::super) fn needing_escape(block: &[u8; LEN]) -> u64 {
        ESCAPED.iter().fold(marks(block).controls, |any, &byte| any | equal_to(block, byte))
    }

    /// Where two bytes stand behind each other.
    pub(crate) fn pairs(block: &[u8; LEN + 1], first: u8, second: u8) -> u64 {
        let places = |block: Option<&[u8; LEN]>, byte| block.map_or(0, |block| equal_to(block, byte));
        places(block.first_chunk(), first) & places(block.last_chunk(), second)
    }

    /// The bytes of which `test` sets the top bit.
    #[inline]
    fn each(block: &[u8; LEN], test: impl Fn(u64) -> u64) -> u64 {
        let words = block.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
        words.enumerate().fold(0, |bits, (n, word)| bits | gather(test(word)) << (8 * n))
    }

    /// The top bit of each byte that is zero, and no other bit.
    #[inline]
    fn zero(word: u64) -> u64 {
        !(((word & !TOPS) + !TOPS) | word | !TOPS)
    }

    #[inline]
    fn equal(word: u64, byte: u8) -> u64 {
        zero(word ^ (ONES * u64::from(byte)))
    }

    /// The top bits of eight bytes, side by side: the product moves bit 8·i to bit 56 + i.
    #[inline]
    fn gather(tops: u64) -> u64 {
        (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte at every position, beside bytes that differ from it in one bit.
    fn blocks() -> impl Iterator<Item = [u8; LEN]> {
        (0..=u8::MAX).flat_map(|byte| {
            (0..LEN).flat_map(move |at| {
                (0..8).map(move |bit| {
                    let mut block = [byte ^ (1 << bit); LEN];
                    block[at] = byte;
                    block
                })
            })
        })
    }

    fn slow(block: &[u8], test: impl Fn(u8) -> bool) -> u64 {
        block.iter().enumerate().fold(0, |bits, (at, &byte)| bits | u64::from(test(byte)) << at)
    }

    #[test]
    fn both_ways_of_marking_are_right_for_every_byte_at_every_position() {
        for block in blocks() {
            let wanted = Marks {
                quotes: slow(&block, |byte| byte == b'"'),
                backslashes: slow(&block, |byte| byte == b'\\'),
                controls: slow(&block, |byte| byte < 0x20),
                high: slow(&block, |byte| byte > 0x7F),
            };
            assert_eq!((marks(&block), words::marks(&block)), (wanted, wanted), "{block:?}");
            let wanted = slow(&block, |byte| byte < 0x20 || ESCAPED.contains(&byte));
            assert_eq!((needing_escape(&block), words::needing_escape(&block)), (wanted, wanted), "{block:?}");
            let wanted = slow(&block, |byte| byte == b'n');
            assert_eq!((equal_to(&block, b'n'), words::equal_to(&block, b'n')), (wanted, wanted), "{block:?}");
        }
    }

    #[test]
    fn both_ways_find_a_pair_at_every_position_and_none_that_is_not_there() {
        for at in 0..LEN {
            let mut block = [b'u'; LEN + 1];
            block[at] = b'\\';
            assert_eq!((pairs(&block, b'\\', b'u'), words::pairs(&block, b'\\', b'u')), (1 << at, 1 << at));
            block[at + 1] = b'n';
            assert_eq!((pairs(&block, b'\\', b'u'), words::pairs(&block, b'\\', b'u')), (0, 0));
        }
        assert_eq!(pairs(&[b'a'; LEN + 1], b'a', b'a'), u64::MAX);
    }

    #[test]
    fn what_a_backslash_escapes_is_found_for_every_run_across_every_border() {
        // Every set of backslashes in eight bytes, at every distance from the border of a block, before and after it.
        for set in 0..=u8::MAX {
            for shift in 0..=120 {
                let backslashes = u128::from(set) << shift;
                let mut escaped = 0_u128;
                for at in 0..127 {
                    if backslashes >> at & 1 == 1 && escaped >> at & 1 == 0 {
                        escaped |= 2 << at;
                    }
                }
                let (low, carried) = after_backslashes(backslashes as u64, 0);
                let (high, _) = after_backslashes((backslashes >> 64) as u64, carried);
                assert_eq!(u128::from(high) << 64 | u128::from(low), escaped, "{backslashes:b}");
            }
        }
    }
}
