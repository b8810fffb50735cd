//! The reader of plain strings gives what the reader of odd ones gives, wherever it gives anything.

use super::cursor::{Cursor, Lossy, Malformed};

/// What a reader gives for the string at `at`: its text, where it ends, what was replaced.
type Reading = Result<(String, usize, Option<Lossy>), Malformed>;

fn reading(bytes: &[u8], at: usize, keep: bool, odd: bool) -> Reading {
    let mut cursor = Cursor::new(bytes);
    (cursor.at, cursor.keep) = (at, keep);
    let text = if odd { cursor.odd_string() } else { cursor.string() }?.into_owned();
    Ok((text, cursor.at, cursor.lossy))
}

/// Reads at every quotation mark, those inside of strings included.
fn compare(bytes: &[u8]) {
    for at in memchr::memchr_iter(b'"', bytes) {
        for keep in [true, false] {
            let readings = [false, true].map(|odd| reading(bytes, at, keep, odd));
            assert_eq!(readings[0], readings[1], "at {at} of {:?}", String::from_utf8_lossy(bytes));
        }
    }
}

/// The golden files in which strings are the matter.
const CORPUS: [&[u8]; 11] = [
    include_bytes!("../../tests/data/golden/bytes.jsonl"),
    include_bytes!("../../tests/data/golden/meta.jsonl"),
    include_bytes!("../../tests/data/golden/title.jsonl"),
    include_bytes!("../../tests/data/golden/events/escapes.history.jsonl"),
    include_bytes!("../../tests/data/golden/events/invalid_utf8.history.jsonl"),
    include_bytes!("../../tests/data/golden/events/lone_surrogates.history.jsonl"),
    include_bytes!("../../tests/data/golden/events/key_escaped.history.jsonl"),
    include_bytes!("../../tests/data/golden/events/deep_unknown.history.jsonl"),
    include_bytes!("../../tests/data/golden/errors/binary.history.jsonl"),
    include_bytes!("../../tests/data/golden/errors/cut_inside_escape.history.jsonl"),
    include_bytes!("../../tests/data/golden/errors/garbage_middle.history.jsonl"),
];

#[test]
fn on_the_golden_lines_both_readers_agree() {
    let lines = CORPUS.iter().flat_map(|file| file.split(|&byte| byte == b'\n'));
    lines.for_each(compare);
}

#[test]
fn on_every_cut_and_every_changed_byte_of_a_line_both_readers_agree() {
    // Every escape, a pair, a lone half, text outside of ASCII, and a run of backslashes over the border of a block.
    let line = br#"{"content":"a \"b\" \\\\\\\\\\\\ \/\b\f\n\r\t \u0041\ud83d\ude00 \udc00 caf\u00e9 caf\xc3\xa9 "}"#;
    let mut line = line.to_vec();
    line.extend("caf\u{e9} \u{1F600}\" and what follows".as_bytes());
    for cut in 0..=line.len() {
        compare(&line[..cut]);
    }
    for at in 0..line.len() {
        let mut changed = line.clone();
        for byte in 0..=u8::MAX {
            changed[at] = byte;
            compare(&changed);
        }
    }
}

#[test]
fn on_made_up_histories_both_readers_agree() {
    let history = session_testing::Histories::of_bytes(11, session_testing::Shape::Real, 400_000);
    history.split(|&byte| byte == b'\n').for_each(compare);
}
