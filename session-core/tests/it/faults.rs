//! The faults of `docs/faults.md` that the core can show.

use session_core::{
    Conversation, Count, Event, FORMAT, Item, Kind, Limits, LiveEvents, Message, Outcome, Role, ScanBackwards, count,
    last_messages, scan_bytes,
};
use std::io::Cursor;

const U1: &str =
    r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"plant three oaks"}}"#;
const A1: &str = r#"{"ts":"2026-01-02T03:04:09Z","kind":"message","message":{"role":"assistant","content":"digging","tool_calls":[{"id":"c1","type":"function","function":{"name":"Shell","arguments":"{\"cmd\":\"dig\"}"}}]}}"#;
const T1: &str = r#"{"ts":"2026-01-02T03:04:11Z","kind":"tool_result","message":{"role":"tool","content":"3 holes","name":"Shell","tool_call_id":"c1"},"tool":"Shell","ms":1800}"#;
const NOTICE: &str = r#"{"ts":"2026-01-02T03:04:12Z","kind":"notice","text":"rain"}"#;
const SETTINGS: &str = r#"{"ts":"2026-01-02T03:04:13Z","kind":"settings","model":"small","merge_thinking":false}"#;

fn history(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line, "\n"]).collect::<String>().into_bytes()
}

fn load(history: &[u8]) -> Conversation {
    Conversation::read(history, Limits::default()).expect("a slice has no read errors")
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.content.text().into_owned()).collect()
}

/// Texts of the live messages, and whether they are in doubt.
fn live(lines: &[&str]) -> (Vec<String>, bool) {
    let history = history(lines);
    let conversation = load(&history);
    let backwards = ScanBackwards::new(Cursor::new(&history)).expect("a slice can be sought in");
    let from_the_end = last_messages(backwards, usize::MAX).expect("a slice has no read errors");
    assert_eq!((&from_the_end.messages, from_the_end.uncertain), (&conversation.messages, conversation.uncertain));
    (texts(&conversation.messages), conversation.uncertain)
}

fn only_event(history: &[u8]) -> Event {
    let mut records = scan_bytes(history).filter_map(|item| match item {
        Item::Record(record) => Some(*record.event),
        Item::Defect(_) => None,
    });
    let event = records.next().expect("there is an event");
    assert_eq!(records.next(), None, "there is one only");
    event
}

fn encoded(event: &Event) -> String {
    let mut line = Vec::new();
    event.encode(&mut line);
    String::from_utf8(line).expect("JSON is text")
}

#[test]
fn h02_reading_goes_on_past_a_bad_line_and_names_it() {
    let conversation = load(&history(&[U1, r#"{"ts":"#, A1, T1]));
    assert_eq!(texts(&conversation.messages), ["plant three oaks", "digging", "3 holes"]);
    assert!(!conversation.is_complete());
    let told: Vec<String> = conversation.defects.iter().map(ToString::to_string).collect();
    let offset = U1.len() + 1;
    assert_eq!(told, [format!("line 2, byte {offset}: not JSON: ends where a value should be, 6 bytes in")]);
}

#[test]
fn h03_an_unknown_kind_field_or_role_is_carried_and_no_defect() {
    let weather = r#"{"ts":"2026-01-02T03:04:06Z","kind":"weather","text":"rain","wind":{"knots":[12,1.50e1]}}"#;
    let marked = r#"{"ts":"2026-01-02T03:04:07Z","kind":"message","message":{"role":"moderator","content":"calm","mood":"é"},"seq":7}"#;
    let history = history(&[U1, weather, marked]);
    let conversation = load(&history);
    assert_eq!(texts(&conversation.messages), ["plant three oaks", "calm"]);
    assert_eq!(conversation.messages[1].role, Role::from("moderator"));
    assert!(conversation.is_complete() && conversation.defects.is_empty());
    let again: String = scan_bytes(&history)
        .map(|item| match item {
            Item::Record(record) => encoded(&record.event),
            Item::Defect(defect) => panic!("{defect}"),
        })
        .collect();
    assert_eq!(again.into_bytes(), history, "they survive being written, byte for byte");
}

#[test]
fn h03_a_first_line_of_a_newer_format_says_so_and_reads_on() {
    for (format, wanted) in [
        ("\"format\":1", Some(1)),
        ("\"format\":2", Some(2)),
        ("\"format\":\"2.0\"", Some(u64::MAX)),
        ("\"format\":1.5", Some(u64::MAX)),
        ("\"format\":{\"major\":3}", Some(u64::MAX)),
        ("\"name\":\"demo\"", Some(FORMAT)),
    ] {
        let header = format!(r#"{{"ts":"2026-01-02T03:04:04Z","kind":"x.session","x":{{{format}}}}}"#);
        assert_eq!(only_event(&history(&[&header])).format(), wanted, "{format}");
        assert_eq!(live(&[&header, U1]), (vec!["plant three oaks".to_owned()], false));
    }
    assert_eq!(only_event(&history(&[U1])).format(), None);
}

#[test]
fn h07_a_sequence_number_is_evidence_and_no_condition() {
    let line = |seq: &str, text: &str| {
        format!(
            r#"{{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{{"role":"user","content":"{text}"}}{seq}}}"#
        )
    };
    let lines = [line(",\"seq\":1", "a"), line(",\"seq\":1", "b"), line(",\"seq\":9", "c"), line("", "d")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(live(&lines), (["a", "b", "c", "d"].map(String::from).to_vec(), false));
    let event = only_event(&history(&lines[2..3]));
    assert_eq!(event.extra.get("seq"), Some("9"));
    assert_eq!(encoded(&event), lines[2].to_owned() + "\n");
}

#[test]
fn h12_half_a_surrogate_pair_is_read_as_a_mark_and_its_bytes_stay_in_reach() {
    let line = |content: &[u8]| {
        let start = br#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":""#;
        [&start[..], content, br#""},"note":"\udc00"}"#, b"\n"].concat()
    };
    for (content, wanted) in [
        (&br"a\ud83db"[..], "a\u{fffd}b"),
        (br"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (br"\ude00\udc00", "\u{fffd}\u{fffd}"),
        (br"\ud83d\ud83d\ude00", "\u{fffd}\u{1F600}"),
        (b"\xED\xA0\xBD", "\u{fffd}\u{fffd}\u{fffd}"),
        (br"\ud83d\ude00", "\u{1F600}"),
    ] {
        let history = line(content);
        let items: Vec<Item> = scan_bytes(&history).collect();
        let [Item::Defect(defect), Item::Record(record)] = &items[..] else { panic!("{items:?}") };
        assert_eq!(defect.outcome, Outcome::Repaired);
        let message = record.event.message.as_ref().expect("it has one");
        assert_eq!(message.content.text(), wanted);
        assert_eq!(record.event.extra.get("note"), Some(r#""\udc00""#), "an unknown member keeps its text");
        let raw = usize::try_from(record.place.offset).expect("it is small")
            ..usize::try_from(record.len).expect("it is small");
        assert_eq!(&history[raw], &history[..history.len() - 1], "the place is that of the file's own bytes");
        assert!(load(&history).is_complete());
    }
    let title = br#"{"kind":"x.title","x":{"title":"Oaks \ud83d","by":"user"}}"#;
    let event = only_event(title);
    assert!(event.extension().is_some(), "{event:?}");
}

#[test]
fn h14_a_byte_that_is_no_text_damages_its_line_only() {
    let mut bytes = history(&[U1, A1, T1]);
    let at = bytes.windows(5).position(|five| five == b"holes").expect("it is there");
    bytes[at] = 0xFF;
    bytes.extend_from_slice(&history(&[NOTICE, U1]));
    let conversation = load(&bytes);
    assert_eq!(texts(&conversation.messages), ["plant three oaks", "digging", "3 \u{fffd}oles", "plant three oaks"]);
    assert!(conversation.is_complete(), "it is repaired, not skipped");
    let told: Vec<_> = conversation.defects.iter().map(|defect| (defect.fault.code(), defect.place.line)).collect();
    assert_eq!(told, [("invalid-utf8", Some(3))]);
}

fn rollback(dropped: &str) -> String {
    format!(r#"{{"ts":"2026-01-02T03:04:14Z","kind":"rollback","dropped":{dropped}}}"#)
}

#[test]
fn h16_a_rollback_counts_messages_and_nothing_else() {
    let b = r#"{"ts":"2026-01-02T03:04:15Z","kind":"message","message":{"role":"user","content":"B"}}"#;
    let certain = |texts: &[&str]| (texts.iter().map(ToString::to_string).collect::<Vec<_>>(), false);
    assert_eq!(live(&[U1, A1, T1, NOTICE, SETTINGS, &rollback("2"), b]), certain(&["plant three oaks", "B"]));
    for no_effect in ["0", "-1", "null", "-9223372036854775808"] {
        assert_eq!(live(&[U1, A1, &rollback(no_effect)]), certain(&["plant three oaks", "digging"]), "{no_effect}");
    }
    for all in ["2", "3", "99", "9223372036854775807"] {
        assert_eq!(live(&[U1, A1, &rollback(all), b]), certain(&["B"]), "{all}");
    }
    assert_eq!(live(&[U1, A1, T1, &rollback("1"), &rollback("1")]), certain(&["plant three oaks"]));
    assert_eq!(live(&[U1, &rollback("9"), A1, &rollback("1"), b]), certain(&["B"]), "nothing is owed from before");
}

#[test]
fn h16_a_rollback_that_cannot_be_read_leaves_what_is_live_uncertain() {
    for bad in ["\"2\"", "2.0", "2e0", "true", "[2]", "9223372036854775808"] {
        let (texts, uncertain) = live(&[U1, A1, &rollback(bad)]);
        assert_eq!((texts.len(), uncertain), (2, true), "{bad}");
    }
    let torn = rollback("2");
    let (texts, uncertain) = live(&[U1, A1, &torn[..torn.len() - 4]]);
    assert_eq!((texts.len(), uncertain), (2, true));
}

#[test]
fn h16_a_rollback_across_a_skipped_line_is_uncertain_and_one_short_of_it_is_not() {
    let bad = r#"{"ts":"2026-01-02T03:04:10Z","kind":"message","message":{"ro"#;
    for (dropped, left, uncertain) in [("1", 2, false), ("2", 1, true), ("3", 0, true), ("0", 3, false)] {
        let lines = [U1, A1, bad, T1, &rollback(dropped)];
        assert_eq!(live(&lines).0.len(), left, "a skipped line never counts: {dropped}");
        assert_eq!(live(&lines).1, uncertain, "{dropped}");
        let history = history(&lines);
        let counted = count(&history[..], Limits::default()).expect("a slice has no read errors");
        let wanted = Count { messages: left as u64, events: 4, skipped: 1, repaired: 0, uncertain };
        assert_eq!(counted, wanted);
        let live = LiveEvents::read(&history[..], Limits::default()).expect("a slice has no read errors");
        assert_eq!(live.uncertain, uncertain);
    }
    assert!(live(&[U1, A1, bad, &rollback("1")]).1, "right behind it, one is too many");
}

#[test]
fn h21_the_order_is_that_of_the_file_whatever_the_times_say() {
    let at = |time: &str, text: &str| {
        format!(r#"{{"ts":"{time}","kind":"message","message":{{"role":"user","content":"{text}"}}}}"#)
    };
    let lines = [
        at("2026-01-02T03:14:05Z", "a"),
        at("2026-01-02T03:04:05Z", "b"),
        at("2026-01-02T03:04:05Z", "c"),
        at("2099-01-01T00:00:00+14:00", "d"),
        at("2026-01-02T03:04:04Z", "e"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(live(&lines).0, ["a", "b", "c", "d", "e"]);
    let result_first = live(&[U1, T1, NOTICE, A1]).0;
    assert_eq!(result_first, ["plant three oaks", "3 holes", "digging"]);
}

#[test]
fn h23_a_history_without_messages_is_an_empty_conversation() {
    let header = r#"{"ts":"2026-01-02T03:04:04Z","kind":"x.session","x":{"format":1}}"#;
    for lines in [&[][..], &[""], &["", " \t", "null"], &[header], &[header, NOTICE, SETTINGS]] {
        let history = history(lines);
        assert_eq!(load(&history), Conversation::default(), "{lines:?}");
        let counted = count(&history[..], Limits::default()).expect("a slice has no read errors");
        assert_eq!((counted.messages, counted.skipped), (0, 0));
    }
    assert_eq!(load(b""), Conversation::default());
    assert_eq!(Kind::default(), Kind::Other(String::new()));
}

#[test]
fn a_line_without_a_kind_is_a_message_where_it_has_a_role_and_only_there() {
    for (line, is_message) in [
        (r#"{"role":"user"}"#, true),
        (r#"{"content":"plant","role":"user"}"#, true),
        (r#"{"content":"plant"}"#, false),
        (r#"{"weather":1}"#, false),
        ("{}", false),
    ] {
        let items: Vec<Item> = scan_bytes(line.as_bytes()).collect();
        let found = items.iter().find_map(|item| match item {
            Item::Record(record) => Some(record.event.message.is_some()),
            Item::Defect(_) => None,
        });
        assert_eq!(found, Some(is_message), "{line}: {items:?}");
    }
}
