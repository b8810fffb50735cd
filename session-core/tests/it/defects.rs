//! Which defects a line has, and what is kept of it.

use session_core::{Item, Kind, Outcome, scan_bytes};

/// The history as one word an item: the code of a defect and its outcome, or the kind and the offset of an event.
fn told(history: &[u8]) -> Vec<String> {
    let word = |item: Item| match item {
        Item::Record(record) => format!("{} @{}", record.event.kind, record.place.offset),
        Item::Defect(defect) => format!("{} {:?} @{}", defect.fault.code(), defect.outcome, defect.place.offset),
    };
    scan_bytes(history).map(word).collect()
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
