//! Texts that are encoded in base64.

use std::ops::Range;

/// The shortest run that is looked at: what it encodes has 15 bytes.
const SHORTEST: usize = 20;

/// The longest run that is decoded. What is larger is a picture or an archive.
const LONGEST: usize = 1 << 20;

/// How many decoded bytes tell whether it is text.
const SAMPLE: usize = 48;

/// The shortest line that goes on in the next one: `base64` breaks at 76 letters, PEM at 64.
const SHORTEST_WRAPPED: usize = 60;

/// A run of a text that encodes another text, over one line or several.
pub(crate) struct Encoded {
    pub(crate) at: Range<usize>,
    pub(crate) decoded: Vec<u8>,
    lines: Vec<Range<usize>>,
    is_for_urls: bool,
}

impl Encoded {
    /// The encoded letters that change when the decoded text becomes `changed`, which is as long: each place, and what
    /// stands there then.
    pub(crate) fn changes(&self, text: &[u8], changed: &[u8]) -> Vec<(usize, u8)> {
        let again = encode(changed, self.is_for_urls);
        let places = self.lines.iter().cloned().flatten();
        places.zip(again).filter(|(at, new)| text[*at] != *new).collect()
    }
}

/// The runs of a text that encode text.
pub(crate) fn encoded(text: &[u8]) -> Vec<Encoded> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].iter().position(|&byte| value(byte).is_some()) {
        let first = run_at(text, at + start);
        at = first.end;
        // Asked of the first line alone, so that no line is looked at again for each one before it.
        if begins_a_text(&text[first.clone()]) {
            let lines = lines_from(text, first);
            at = lines.last().map_or(at, |line| line.end);
            found.extend(decode_lines(text, lines));
        }
    }
    found
}

/// The letters from a place on.
fn run_at(text: &[u8], at: usize) -> Range<usize> {
    at..at + text[at..].iter().take_while(|&&byte| value(byte).is_some()).count()
}

/// Whether letters encode bytes that are text at their beginning.
fn begins_a_text(run: &[u8]) -> bool {
    (SHORTEST..=LONGEST).contains(&run.len())
        && alphabet(run) != Some(Alphabet::Mixed)
        && is_text(&decode(&run[..run.len().min(SAMPLE / 3 * 4)]))
}

/// A run and the lines that go on with it: all as long as the first but the last, which may be shorter.
fn lines_from(text: &[u8], first: Range<usize>) -> Vec<Range<usize>> {
    let len = first.len();
    let mut used = alphabet(&text[first.clone()]);
    let mut lines = vec![first];
    while len >= SHORTEST_WRAPPED
        && len.is_multiple_of(4)
        && let Some(line) = lines.last().filter(|line| line.len() == len)
        && let Some(start) = next_line(text, line.end)
    {
        let next = run_at(text, start);
        let uses = alphabet(&text[next.clone()]);
        let is_other = used.is_some() && uses.is_some() && used != uses;
        if next.is_empty() || next.len() > len || (lines.len() + 1) * len > LONGEST || is_other {
            break;
        }
        used = used.or(uses);
        lines.push(next);
    }
    lines
}

/// Where the line behind a place begins, if nothing but a newline and an indentation is in between.
fn next_line(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    let behind = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")?;
    let indent = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    Some(text.len() - behind.len() + indent)
}

/// Which letters stand for the last two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Usual,
    ForUrls,
    Mixed,
}

/// The alphabet of letters; `None` where none of them tells.
fn alphabet(run: &[u8]) -> Option<Alphabet> {
    let has = |letters: [u8; 2]| run.iter().any(|byte| letters.contains(byte));
    match (has(*b"+/"), has(*b"-_")) {
        (true, true) => Some(Alphabet::Mixed),
        (true, false) => Some(Alphabet::Usual),
        (false, true) => Some(Alphabet::ForUrls),
        (false, false) => None,
    }
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

fn decode_lines(text: &[u8], lines: Vec<Range<usize>>) -> Option<Encoded> {
    let run: Vec<u8> = lines.iter().flat_map(|line| &text[line.clone()]).copied().collect();
    let is_for_urls = alphabet(&run) == Some(Alphabet::ForUrls);
    let decoded = decode(&run);
    // Letters that encode no whole byte are left as they are.
    let last = lines.iter().cloned().flatten().nth(encode(&decoded, is_for_urls).len().checked_sub(1)?)?;
    Some(Encoded { at: lines[0].start..last + 1, decoded, lines, is_for_urls })
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

    #[test]
    fn a_text_is_broken_into_lines_of_one_length_but_the_last() {
        let broken = |len: usize, newline: &str| {
            let letters = encode(&b"three oaks and a birch, ".repeat(8), false);
            let lines = letters.chunks(len).map(|line| String::from_utf8(line.to_vec()).expect("letters"));
            lines.collect::<Vec<_>>().join(newline)
        };
        let texts = |text: &str| encoded(text.as_bytes()).iter().map(|found| found.decoded.len()).collect::<Vec<_>>();
        for newline in ["\n", "\r\n", "\n  "] {
            assert_eq!(texts(&broken(76, newline)), [192]);
            assert_eq!(texts(&broken(64, newline)), [192]);
        }
        assert_eq!(texts(&broken(76, "\n\n")), [57, 57, 57, 21]);
        assert_eq!(texts(&broken(76, " ")), [57, 57, 57, 21]);
        assert_eq!(texts(&broken(40, "\n")), [30; 6], "too short to be broken");
        let number = "0123456789abcdef".repeat(4);
        assert_eq!(texts(&format!("{number}\n{}", broken(64, "\n"))), [192], "what stands before it is no part of it");
    }
}
