//! The tolerant decoder accepts the JSON that `serde_json` accepts, and reads the same strings from it.

use crate::properties::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use session_core::{Fault, Item, scan_bytes};

/// Whether a line is JSON for the decoder, whatever it makes of its members.
fn accepts(line: &str) -> bool {
    let refused = |item: Item| match item {
        Item::Record(_) => false,
        Item::Defect(defect) => match defect.fault {
            Fault::NotJson { .. } => true,
            Fault::WrongType { .. } | Fault::LoneSurrogate | Fault::NotAnObject => false,
            other => panic!("the lines here have no such fault: {other:?}"),
        },
    };
    !scan_bytes(format!("{line}\n").as_bytes()).any(refused)
}

fn agree(line: &str) {
    let wanted = serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
    assert_eq!(accepts(line), wanted, "{line:?}");
}

/// A JSON text with every kind of token and of white space.
fn json() -> impl Strategy<Value = String> {
    let space = || prop_oneof![9 => Just(""), 1 => Just(" "), 1 => Just("\t\r ")];
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?",
        string(),
    ];
    leaf.prop_recursive(6, 40, 5, move |inner| {
        let spaced =
            (space(), inner.clone(), space()).prop_map(|(before, value, after)| before.to_owned() + &value + after);
        let member = (space(), string(), space(), spaced.clone())
            .prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
        prop_oneof![
            vec(spaced, 0..5).prop_map(|values| format!("[{}]", values.join(","))),
            vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// A string as JSON writes it, without half a surrogate pair.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z é木😀]{1,3}",
        "\\\\[\"\\\\/bfnrt]",
        "\\\\u00[0-9a-fA-F]{2}",
        "\\\\u[1-9a-c][0-9a-fA-F]{3}",
        "\\\\ud83d\\\\uDE0[0-9]",
    ];
    vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// What a slip of the pen puts in: one character that matters to JSON.
fn slips() -> impl Strategy<Value = Vec<(usize, Option<char>, bool)>> {
    let character = proptest::sample::select("{}[]\",:\\/0123.eE+-ntfub \t\r\u{1}\u{0}aé".chars().collect::<Vec<_>>());
    vec((any::<usize>(), proptest::option::of(character), any::<bool>()), 0..4)
}

fn slipped(text: &str, slips: &[(usize, Option<char>, bool)]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (at, character, replaces) in slips {
        let at = at % (characters.len() + 1);
        if *replaces && at < characters.len() {
            characters.remove(at);
        }
        if let Some(character) = character {
            characters.insert(at, *character);
        }
    }
    characters.into_iter().collect()
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn the_decoder_accepts_what_serde_json_accepts(text in json(), slips in slips()) {
        // The member's braces keep the text from the ends of the line, where more than JSON's white space is passed over.
        agree(&format!("{{\"u\":{}}}", slipped(&text, &slips)));
        agree(&format!("{{\"kind\":\"message\",\"message\":{{\"role\":\"user\",\"u\":{}}}}}", slipped(&text, &slips)));
    }

    #[test]
    fn the_decoder_reads_the_strings_that_serde_json_reads(text in string()) {
        let line = format!("{{\"kind\":\"notice\",\"text\":{text},\"u\":{text}}}\n");
        let items: Vec<_> = scan_bytes(line.as_bytes()).collect();
        let [Item::Record(record)] = &items[..] else { panic!("one event: {items:?}") };
        let wanted: String = serde_json::from_str(&text).expect("it is a string");
        prop_assert_eq!(&record.event.text, &wanted);
        prop_assert_eq!(record.event.extra.get("u"), Some(&text[..]));
        prop_assert_eq!(record.event.extra.value("u"), Some(serde_json::Value::from(wanted)));
    }
}

#[test]
fn a_member_that_a_value_cannot_hold_still_has_its_text() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for (text, holds) in
        [(nested(127), true), (nested(128), false), ("1e999".into(), false), ("\"\\ud83d\"".into(), true)]
    {
        let items: Vec<_> = scan_bytes(format!("{{\"kind\":\"notice\",\"u\":{text}}}\n").as_bytes()).collect();
        let Some(Item::Record(record)) = items.last() else { panic!("one event: {items:?}") };
        assert_eq!(record.event.extra.get("u"), Some(&text[..]));
        assert_eq!(record.event.extra.value("u").is_some(), holds, "{text}");
    }
}
