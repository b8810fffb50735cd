//! Searching a history finds what decoding every event finds, however it was written.

mod arguments;
mod reading;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use session_core::search::{Anchor, Coverage, Hit, Pattern, Scope, Search, Seen, TextKind};
use session_core::{Content, Item, Limits, scan_bytes};
use session_testing::{Histories, Shape};
use std::io::Cursor;
use std::ops::{ControlFlow, Range};

/// A text that is looked for.
struct Wanted {
    regex: regex::Regex,
    anchor: Anchor,
}

impl Pattern for Wanted {
    fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>> {
        self.regex.find_at(text, from).map(|found| found.range())
    }

    fn anchor(&self) -> &Anchor {
        &self.anchor
    }
}

fn exact(text: &str) -> Wanted {
    let regex = regex::Regex::new(&regex::escape(text)).expect("it was escaped");
    Wanted { regex, anchor: Anchor::exact(text) }
}

fn any_case(text: &str) -> Wanted {
    let regex = regex::Regex::new(&format!("(?i){}", regex::escape(text))).expect("it was escaped");
    Wanted { regex, anchor: Anchor::any_case(text) }
}

/// The same without an anchor: every line is decoded.
fn slow(wanted: Wanted) -> Wanted {
    Wanted { anchor: Anchor::NONE, ..wanted }
}

fn search(history: &[u8], wanted: Wanted, scope: Scope) -> (Vec<Hit>, Coverage) {
    let mut hits = Vec::new();
    let mut search = Search::new(wanted, scope, Limits::default());
    let coverage = search.read(Cursor::new(history), &mut |seen| {
        if let Seen::Hit(hit) = seen {
            hits.push(hit);
        }
        ControlFlow::Continue(())
    });
    (hits, coverage.expect("memory has no read errors"))
}

fn found(history: &[u8], wanted: Wanted) -> Vec<(u64, TextKind, String)> {
    let (hits, _) = search(history, wanted, Scope::default());
    hits.into_iter().map(|hit| (hit.event, hit.kind, hit.excerpt.text)).collect()
}

fn user(content: &str) -> String {
    format!("{{\"kind\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{content}\"}}}}\n")
}

#[test]
fn a_text_is_found_however_json_writes_it() {
    let history = [
        user(r"plant \u0074hree o\u0061ks"),
        user(r"say \u0022oaks\u0022 and \/ and \u003coaks\u003e"),
        user(r"\u00e9t\u00E9 \ud83c\udf33 \u5317"),
        user("été 🌳 北"),
    ]
    .concat();
    let events = |text: &str| -> Vec<u64> {
        found(history.as_bytes(), exact(text)).into_iter().map(|(event, ..)| event).collect()
    };
    assert_eq!(events("three oaks"), [1]);
    assert_eq!(events("\"oaks\""), [2]);
    assert_eq!(events("and / and <oaks>"), [2]);
    assert_eq!((events("été"), events("🌳"), events("北")), (vec![3, 4], vec![3, 4], vec![3, 4]));
    assert!(events("Oaks").is_empty());
}

#[test]
fn the_parts_of_a_content_are_texts_of_their_own() {
    let parts = r#"[{"type":"text","text":"three oa"},{"type":"text","text":"ks and o\u0061ks"},{"type":"image","text":"oaks"}]"#;
    let history = format!("{{\"message\":{{\"role\":\"user\",\"content\":{parts}}}}}\n");
    assert_eq!(found(history.as_bytes(), exact("oaks")), [(1, TextKind::User, "ks and oaks".to_owned())]);
}

#[test]
fn events_are_numbered_as_they_are_listed_whatever_stands_between_them() {
    let event = user("an oak").trim_end().to_owned();
    let glued = r#"{"ts":"2026-01-02T03:04:05Z","kind":"notice","text":"oak"}{"ts":"2026-01-02T03:04:05Z","kind":"notice","text":"oak tree"}"#;
    let history = format!(
        "{event}\n\nnull\nno json\n{glued}\r\n{{\"kind\":\"rollback\",\"dropped\":1}}\n\0\0{event}\n{{\"ts\":\"20"
    );
    let (hits, coverage) = search(history.as_bytes(), exact("oak"), Scope::default());
    let numbers: Vec<_> = hits.iter().map(|hit| (hit.event, hit.place.line, hit.place.offset)).collect();
    let listed: Vec<_> = records(history.as_bytes()).map(|(number, record)| (number, record.place)).collect();
    assert_eq!(numbers.iter().map(|(event, ..)| *event).collect::<Vec<_>>(), [1, 2, 3, 5]);
    for (event, line, offset) in numbers {
        let (_, place) = listed.iter().find(|(number, _)| *number == event).expect("it is listed");
        assert_eq!((place.line, place.offset), (line, offset));
    }
    assert_eq!((coverage.unread, coverage.bytes), (0, history.len() as u64), "no line without an oak is told of");
}

fn records(history: &[u8]) -> impl Iterator<Item = (u64, session_core::Record)> + '_ {
    let records = scan_bytes(history).filter_map(|item| match item {
        Item::Record(record) => Some(record),
        Item::Defect(_) => None,
    });
    (1..).zip(records)
}

#[test]
fn a_repaired_event_is_searched_as_it_is_read() {
    let mut history = user(r"half \ud83c of an oak").into_bytes();
    history.extend(b"{\"kind\":\"notice\",\"text\":\"bytes \xFF\xFE of an oak\"}\n");
    let wanted = [
        (1, TextKind::User, "half \u{FFFD} of an oak".into()),
        (2, TextKind::Notice, "bytes \u{FFFD}\u{FFFD} of an oak".into()),
    ];
    assert_eq!(found(&history, exact("oak")), wanted);
    assert_eq!(found(&history, exact("\u{FFFD} of")), wanted);
}

#[test]
fn only_the_texts_that_are_asked_for_are_searched() {
    let history = concat!(
        r#"{"message":{"role":"system","content":"oak"}}"#,
        "\n",
        r#"{"message":{"role":"user","content":"oak"}}"#,
        "\n",
        r#"{"message":{"role":"assistant","content":"oak","reasoning":"oak","tool_calls":[{"function":{"name":"edit","arguments":"oak"}},{"function":{"name":"shell","arguments":"oak"}}]}}"#,
        "\n",
        r#"{"kind":"tool_result","tool":"Shell","message":{"role":"tool","content":"oak","name":"shell"}}"#,
        "\n",
        r#"{"kind":"notice","text":"oak"}"#,
        "\n",
    );
    let kinds = |scope: Scope| -> Vec<_> {
        let (hits, _) = search(history.as_bytes(), exact("oak"), scope);
        hits.into_iter().map(|hit| (hit.event, hit.kind.as_str(), hit.tool.unwrap_or_default())).collect()
    };
    let none = String::new;
    for (kind, wanted) in [
        (TextKind::System, vec![(1, "system", none())]),
        (TextKind::User, vec![(2, "user", none())]),
        (TextKind::Assistant, vec![(3, "assistant", none())]),
        (TextKind::Reasoning, vec![(3, "reasoning", none())]),
        (TextKind::Args, vec![(3, "args", "edit".into()), (3, "args", "shell".into())]),
        (TextKind::Tool, vec![(4, "tool", "Shell".into())]),
        (TextKind::Notice, vec![(5, "notice", none())]),
    ] {
        assert_eq!(kinds(Scope::of(&[kind])), wanted);
    }
    let shell = kinds(Scope::default().of_tool("SHELL"));
    assert_eq!(shell, [(3, "args", "shell".into()), (4, "tool", "Shell".into())]);
    assert_eq!(kinds(Scope::default()).len(), 8);
}

#[test]
fn an_excerpt_is_the_line_of_the_match_or_the_part_of_a_long_one_around_it() {
    let history = user(r"first\n  an oak and an oak\r\nlast");
    let (hits, _) = search(history.as_bytes(), exact("oak"), Scope::default());
    let excerpt = &hits[0].excerpt;
    assert_eq!((excerpt.text.as_str(), &excerpt.matches[..]), ("  an oak and an oak", &[5..8, 16..19][..]));
    assert!(!excerpt.cut_before && !excerpt.cut_behind);

    let history = user(&format!("{}oak{}", "é".repeat(5_000), "樹".repeat(5_000)));
    let (hits, _) = search(history.as_bytes(), exact("oak"), Scope::default());
    let excerpt = &hits[0].excerpt;
    assert!(excerpt.cut_before && excerpt.cut_behind && excerpt.text.len() < 1_000, "{}", excerpt.text);
    assert_eq!(&excerpt.text[excerpt.matches[0].clone()], "oak");

    let everything = Wanted { regex: regex::Regex::new("(?s).+").expect("it is one"), anchor: Anchor::NONE };
    let (hits, _) = search(history.as_bytes(), everything, Scope::default());
    assert!(hits[0].excerpt.cut_behind && hits[0].excerpt.text.len() < 2_000);
}

/// The history with some characters of its strings written as escapes, and now and then damage.
fn rewritten(history: &[u8], mut bits: u64, damage: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let text = String::from_utf8(history.to_vec()).expect("it was made up as text");
    let (mut in_string, mut kept) = (false, 0);
    for c in text.chars() {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let roll = bits >> 40;
        if kept == 0 && in_string && !matches!(c, '"' | '\\') && roll.is_multiple_of(9) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let escape = if roll.is_multiple_of(2) { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
                out.extend_from_slice(escape.as_bytes());
            }
            continue;
        }
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        // What an escape is made of stays.
        match c {
            'u' if kept == 1 => kept = 4,
            _ if kept > 0 => kept -= 1,
            '\\' => kept = 1,
            '"' => in_string = !in_string,
            _ => {}
        }
        if damage && roll.is_multiple_of(601) {
            out.extend_from_slice([&b"\n"[..], b"\xFF", b"\0", b"{\"ts\":\"", b"\\ud800"][(roll % 5) as usize]);
        }
    }
    out
}

fn agrees(history: &[u8], wanted: impl Fn() -> Wanted) -> Result<(), TestCaseError> {
    let (quick, _) = search(history, wanted(), Scope::default());
    let (all, _) = search(history, slow(wanted()), Scope::default());
    prop_assert_eq!(quick, all);
    Ok(())
}

const TEXTS: [&str; 14] = [
    "oak",
    "ks",
    "saplings",
    "sKy",
    "row.name",
    "contains(\"wild\")",
    "\"C:\\trees",
    "\u{1b}[31m",
    "北边",
    "🌳",
    "é",
    "214",
    "\n",
    "=> Result<(),",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_by_its_anchor_is_what_decoding_every_event_finds(seed: u64, bits: u64, damage: bool, at in 0..TEXTS.len()) {
        let history = rewritten(&Histories::of_bytes(seed, Shape::Real, 60_000), bits, damage);
        agrees(&history, || exact(TEXTS[at]))?;
        agrees(&history, || any_case(TEXTS[at]))?;
    }

    #[test]
    fn every_substring_of_a_text_is_found(seed: u64, bits: u64, pick: prop::sample::Index, len in 1_usize..12) {
        let plain = Histories::of_bytes(seed, Shape::Real, 20_000);
        let history = rewritten(&plain, bits, false);
        let texts: Vec<(u64, String)> = records(&history).filter_map(|(number, record)| match record.event.message?.content {
            Content::Text(text) if !text.is_empty() => Some((number, text)),
            _ => None,
        }).collect();
        prop_assume!(!texts.is_empty());
        let (number, text) = &texts[pick.index(texts.len())];
        let from = pick.index(text.chars().count());
        let part: String = text.chars().skip(from).take(len).collect();
        prop_assert!(found(&history, exact(&part)).iter().any(|(event, ..)| event == number));
        let upper: String = part.chars().map(|c| if c.is_ascii() { c.to_ascii_uppercase() } else { c }).collect();
        prop_assert!(found(&history, any_case(&upper)).iter().any(|(event, ..)| event == number));
        agrees(&history, || any_case(&part))?;
    }
}

#[test]
fn a_character_that_is_its_own_upper_and_lower_case_is_no_case_of_another() {
    let is_caseless = |c: &char| c.to_lowercase().eq([*c]) && c.to_uppercase().eq([*c]);
    let (caseless, cased): (Vec<char>, Vec<char>) = ('\0'..=char::MAX).partition(is_caseless);
    let cased: String = cased.into_iter().filter(|c| c.is_alphanumeric() || !c.is_ascii()).collect();
    let any_of_them = regex::RegexBuilder::new(&format!("(?i)[{}]", regex::escape(&cased)));
    let any_of_them = { any_of_them }.size_limit(1 << 26).build().expect("a class");
    let caseless: String = caseless.into_iter().collect();
    assert_eq!(any_of_them.find(&caseless).map(|found| found.as_str()), None);
}
