//! Texts that are encoded in base64.

use std::ops::Range;

/// The shortest run that is looked at: what it encodes has 15 bytes.
const SHORTEST: usize = 20;

/// The longest run that is decoded. What is larger is a picture or an archive.
const LONGEST: usize = 1 << 20;

/// How many decoded bytes tell whether it is text.
const SAMPLE: usize = 48;

/// A run of a text that encodes another text.
pub(crate) struct Encoded {
    pub(crate) at: Range<usize>,
    pub(crate) decoded: Vec<u8>,
    is_for_urls: bool,
}

impl Encoded {
    /// The encoded letters that change when the decoded text becomes `changed`, which is as long: each place, and what
    /// stands there then.
    pub(crate) fn changes(&self, text: &[u8], changed: &[u8]) -> Vec<(usize, u8)> {
        let again = encode(changed, self.is_for_urls);
        let pairs = text[self.at.clone()].iter().zip(again).enumerate();
        pairs.filter(|(_, (old, new))| *old != new).map(|(n, (_, new))| (self.at.start + n, new)).collect()
    }
}

/// The runs of a text that encode text.
pub(crate) fn encoded(text: &[u8]) -> Vec<Encoded> {
    runs(text).filter_map(|at| decode_text(text, at)).collect()
}

fn runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text[at..].iter().position(|&byte| value(byte).is_some())?;
            let len = text[at..].iter().take_while(|&&byte| value(byte).is_some()).count();
            let run = at..at + len;
            at += len;
            if (SHORTEST..=LONGEST).contains(&len) {
                return Some(run);
            }
        }
    })
}

fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

fn decode_text(text: &[u8], at: Range<usize>) -> Option<Encoded> {
    let run = &text[at.clone()];
    let is_for_urls = run.iter().any(|byte| matches!(byte, b'-' | b'_'));
    if is_for_urls && run.iter().any(|byte| matches!(byte, b'+' | b'/')) {
        return None;
    }
    let sample = decode(&run[..run.len().min(SAMPLE / 3 * 4)]);
    if !is_text(&sample) {
        return None;
    }
    // Letters that encode no whole byte are left as they are.
    let decoded = if run.len() * 3 / 4 <= sample.len() { sample } else { decode(run) };
    let len = encode(&decoded, is_for_urls).len();
    Some(Encoded { at: at.start..at.start + len, decoded, is_for_urls })
}

/// Whether bytes are ASCII without control characters but those of white space.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t'))
}

fn decode(run: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(run.len() * 3 / 4);
    for letters in run.chunks(4) {
        let mut bits = 0_u32;
        letters.iter().for_each(|&letter| bits = bits << 6 | u32::from(value(letter).unwrap_or(0)));
        let bytes = (bits << (6 * (4 - letters.len()))).to_be_bytes();
        out.extend_from_slice(&bytes[1..letters.len()]);
    }
    out
}

fn encode(bytes: &[u8], is_for_urls: bool) -> Vec<u8> {
    let mut letters = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if is_for_urls {
        letters[62..].copy_from_slice(b"-_");
    }
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut bits = [0; 4];
        bits[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(bits);
        let sextet = |n: usize| usize::from((bits >> (18 - 6 * n)) as u8 & 63);
        out.extend((0..=group.len()).map(|n| letters[sextet(n)]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_again() {
        for len in 0..40 {
            let bytes: Vec<u8> = (0..len).map(|n| b' ' + n * 2).collect();
            for is_for_urls in [false, true] {
                assert_eq!(decode(&encode(&bytes, is_for_urls)), bytes);
            }
        }
        assert_eq!(encode(b"three oaks", false), b"dGhyZWUgb2Frcw");
    }

    #[test]
    fn only_runs_that_encode_text_are_told() {
        let text = format!("x {} y iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB z", "dGhyZWUgb2FrcyBhbmQgYSBiaXJjaA");
        let found = encoded(text.as_bytes());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].decoded, b"three oaks and a birch");
        let changes = found[0].changes(text.as_bytes(), b"three **** and a birch");
        let mut changed = text.clone().into_bytes();
        changes.into_iter().for_each(|(at, byte)| changed[at] = byte);
        assert_eq!(encoded(&changed)[0].decoded, b"three **** and a birch");
        assert_eq!(changed.len(), text.len());
    }
}
