//! Which defects a line has, and what is kept of it.

use crate::codec;
use session_core::{
    Content, Conversation, Defect, Item, Kind, Limits, Outcome, Parts, Scan, ScanBackwards, last_messages, parse_time,
    scan_bytes,
};
use std::io::{self, Cursor};

/// The history as one word an item: the code of a defect and its outcome, or the kind and the offset of an event.
fn told(history: &[u8]) -> Vec<String> {
    let word = |item: Item| match item {
        Item::Record(record) => format!("{} @{}", record.event.kind, record.place.offset),
        Item::Defect(defect) => format!("{} {:?} @{}", defect.fault.code(), defect.outcome, defect.place.offset),
    };
    scan_bytes(history).map(word).collect()
}

#[test]
fn each_fault_has_a_code_for_machines_and_a_sentence_for_people() {
    const GLUED: &[u8] =
        b"{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"a\"}{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"b\"}\n";
    let rows: [(&[u8], &str, &str); 12] = [
        (b"{\"kind\":rain}\n", "not-json", "not JSON: expected a value, 8 bytes in"),
        (b"[\"rain\"]\n", "not-an-object", "JSON, but not an object"),
        (b"{\"kind\":\"not", "torn", "torn: the file ends inside it"),
        (b"{\"kind\":\"notice\"}", "unterminated", "whole, but without its newline"),
        (b"{\"kind\":\"notice\",\"ms\":true}\n", "wrong-type", "ms has the wrong type"),
        (b"{\"text\":\"\\ud83d\"}\n", "lone-surrogate", "half of a surrogate pair, read as U+FFFD"),
        (b"{\"text\":\"\xFF\"}\n", "invalid-utf8", "bytes that are not UTF-8, read as U+FFFD"),
        (b"\xEF\xBB\xBF{\"kind\":\"notice\"}\n", "byte-order-mark", "a byte order mark before it"),
        (b"{\"kind\":\"notice\"}\r\n", "carriage-return", "ends in a carriage return"),
        (b"\0{\"kind\":\"notice\"}\0\0\n", "nul-padding", "surrounded by NUL bytes"),
        (GLUED, "glued", "several events on one line"),
        (&[b'a'; 91], "too-long", "longer than 90 bytes"),
    ];
    let limits = Limits { max_line_bytes: 90 };
    let only = |items: &mut dyn Iterator<Item = io::Result<Item>>| {
        let defects: Vec<Defect> = items
            .filter_map(|item| match item.expect("a slice has no read errors") {
                Item::Defect(defect) => Some(defect),
                Item::Record(_) => None,
            })
            .collect();
        let [defect] = &defects[..] else { panic!("one defect: {defects:?}") };
        defect.clone()
    };
    for (line, code, says) in rows {
        let history = [&b"{}\n"[..], line].concat();
        let forwards = only(&mut Scan::with_limits(&history[..], limits));
        let at = forwards.place.offset;
        assert_eq!((forwards.fault.code(), forwards.fault.to_string().as_str()), (code, says));
        assert_eq!(forwards.to_string(), format!("line 2, byte {at}: {says}"));
        let backwards = ScanBackwards::with_limits(Cursor::new(&history), limits).expect("a slice can be sought in");
        assert_eq!(only(&mut { backwards }).to_string(), format!("byte {at}: {says}"), "nobody knows the line");
    }
}

#[test]
fn a_line_that_the_file_ends_inside_is_torn_wherever_it_was_cut() {
    let line = br#"{"kind":"notice","text":"two  words \t and more"  }"#;
    for cut in 1..line.len() {
        assert_eq!(told(&line[..cut]), ["torn Skipped @0"], "cut after {cut} bytes");
    }
    assert_eq!(told(line), ["unterminated Repaired @0", "notice @0"]);
    for end in [&b" "[..], b"\t \t", b"\0\0"] {
        let padded = [&line[..], end].concat();
        let fault = if end[0] == 0 { "nul-padding" } else { "unterminated" };
        assert_eq!(told(&padded), [format!("{fault} Repaired @0"), "notice @0".into()]);
        assert_eq!(told(&[&line[..20], end].concat()), ["torn Skipped @0"]);
    }
}

#[test]
fn a_line_of_padding_is_named_after_what_is_there() {
    assert_eq!(told(b"\0\0\0\n"), ["nul-padding Repaired @0"]);
    assert_eq!(told(b"\xEF\xBB\xBF\n"), ["byte-order-mark Repaired @0"]);
    assert_eq!(told(b" \t \r\n\xC2\xA0\n\nnull\n"), Vec::<String>::new());
}

#[test]
fn a_rollback_that_is_no_json_is_a_skipped_rollback_once_its_kind_can_be_read() {
    let line = br#"{"ts":"2026-01-02T03:04:05Z","kind":"rollback","dropped":2}"#;
    let known_from = br#"{"ts":"2026-01-02T03:04:05Z","kind":"rollback""#.len();
    for cut in 1..line.len() {
        let broken = [&line[..cut], b"\n"].concat();
        let wanted = if cut < known_from { Outcome::Skipped } else { Outcome::SkippedRollback };
        let outcomes: Vec<_> = scan_bytes(&broken)
            .map(|item| match item {
                Item::Defect(defect) => defect.outcome,
                Item::Record(record) => panic!("half a line is no event: {record:?}"),
            })
            .collect();
        assert_eq!(outcomes, [wanted], "cut after {cut} bytes");
    }
}

#[test]
fn a_bare_message_keeps_every_member_that_has_no_name_here() {
    let line = br#"{"role":"user","content":"a","x":5,"mood":"calm","text":"side"}"#;
    let items: Vec<_> = scan_bytes(&[line, &b"\n"[..]].concat()).collect();
    let [Item::Record(record)] = &items[..] else { panic!("one event: {items:?}") };
    assert_eq!(record.event.kind, Kind::default());
    let mut again = Vec::new();
    record.event.encode(&mut again);
    assert_eq!(
        String::from_utf8(again).expect("JSON is text"),
        concat!(
            r#"{"ts":"0001-01-01T00:00:00Z","kind":"message","#,
            r#""message":{"role":"user","content":"a","mood":"calm"},"text":"side","x":5}"#,
            "\n"
        )
    );
}

#[test]
fn the_zero_time_of_the_reference_is_no_time() {
    for (text, known) in [
        ("0001-01-01T00:00:00Z", false),
        ("0001-01-01T00:00:00+00:00", false),
        ("0001-01-01T00:00:00.000000001Z", true),
        ("0001-01-01T00:00:00+01:00", true),
    ] {
        let items: Vec<_> = scan_bytes(format!("{{\"ts\":\"{text}\",\"kind\":\"notice\"}}\n").as_bytes()).collect();
        let [Item::Record(record)] = &items[..] else { panic!("one event: {items:?}") };
        assert_eq!(record.event.ts.is_some(), known, "{text}");
    }
}

#[test]
fn a_time_that_is_null_is_as_good_as_missing_and_one_that_is_none_is_told() {
    const SPRING: &str = "2026-03-20T14:46:00Z";
    let spring = r#""ts":"2026-03-20T14:46:00Z""#;
    let event = "notice @0";
    let wrong = "wrong-type Repaired @0";
    for (times, ts, wanted) in [
        (r#""ts":null"#.to_owned(), None, &[event][..]),
        (format!(r#"{spring},"ts":null"#), Some(SPRING), &[event]),
        (format!(r#""ts":null,{spring}"#), Some(SPRING), &[event]),
        (r#""ts":1767323045"#.to_owned(), None, &[wrong, event]),
        (r#""ts":"in spring""#.to_owned(), None, &[wrong, event]),
        (format!(r#"{spring},"ts":"in spring""#), None, &[wrong, event]),
        (format!(r#"{spring},"ts":{{}}"#), Some(SPRING), &[wrong, event]),
    ] {
        let line = format!("{{{times},\"kind\":\"notice\"}}\n");
        assert_eq!(told(line.as_bytes()), wanted, "{line}");
        let read = scan_bytes(line.as_bytes()).find_map(|item| match item {
            Item::Record(record) => Some(record.event.ts),
            Item::Defect(_) => None,
        });
        assert_eq!(read, Some(ts.and_then(parse_time)), "{line}");
    }
}

#[test]
fn a_file_full_of_damage_is_counted_and_not_all_held() {
    let message = "{\"role\":\"user\",\"content\":\"a\"}\n";
    let bad_lines = Conversation::MAX_DEFECTS + 7;
    let history = format!("{message}{}{message}", "?\n".repeat(bad_lines));
    let conversation = Conversation::read(history.as_bytes(), Limits::default()).expect("a slice has no read errors");
    assert_eq!((conversation.messages.len(), conversation.skipped, conversation.repaired), (2, bad_lines as u64, 0));
    assert_eq!(conversation.defects.len(), Conversation::MAX_DEFECTS);
    assert_eq!(conversation.defects[0].place.line, Some(2), "forwards, the first ones are held");
    assert!(!conversation.is_complete());

    let backwards = ScanBackwards::new(Cursor::new(&history)).expect("a slice can be sought in");
    let from_the_end = last_messages(backwards, 9).expect("a slice has no read errors");
    assert_eq!((from_the_end.messages, from_the_end.skipped), (conversation.messages, bad_lines as u64));
    assert_eq!(from_the_end.defects.len(), Conversation::MAX_DEFECTS);
    let last = from_the_end.defects.last().expect("there are some").place.offset;
    assert_eq!(last, (history.len() - message.len() - 2) as u64, "backwards, the last ones are held");
}

#[test]
fn parts_are_a_list_on_one_line_whoever_makes_them() {
    for text in ["", "a", "{}", "[", "[1,]", "[] []", "null"] {
        assert_eq!(Parts::new(text), None, "{text}");
    }
    let parts = Parts::new("[\n {\"type\" : \"text\",\r\n\"text\":\"a b\"}\n]").expect("it is a list");
    assert_eq!(parts.as_json(), r#"[{"type":"text","text":"a b"}]"#);
    assert_eq!(Content::Parts(parts).text(), "a b");
}

/// Found by the fuzzer.
#[test]
fn half_a_pair_in_a_member_without_a_name_is_kept_and_told_each_time() {
    let line = br#"{"ts":"2026-01-02T03:04:05Z","kind":"notice","mood":"\ud83dx"}"#;
    let wanted = ["lone-surrogate Repaired @0", "notice @0"];
    assert_eq!(told(&[line, &b"\n"[..]].concat()), wanted);
    codec::check(line);
}
