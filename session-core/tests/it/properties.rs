//! What holds for every history, tried on invented ones.

use crate::{codec, directions, oracle, text};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use session_core::{
    Content, Event, Fields, Image, Kind, Message, Meta, Parts, Role, Timestamp, ToolCall, format_time, normalize_title,
    parse_time,
};

pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let factor = session_testing::usually(1, 50);
    ProptestConfig { cases: cases * factor, failure_persistence: None, ..ProptestConfig::default() }
}

/// What matters in a text, and runs that move it over the borders of blocks.
fn text_piece() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&str; 16] = [
        "\\n",
        "\\\\",
        "\\\"",
        "\\",
        "\\u00e9",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\u12",
        "\"",
        "\t",
        "é",
        "木",
        "😀",
        "a",
        "oak",
        "seven saplings stand north of the water; ",
    ];
    prop_oneof![
        proptest::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        (1_usize..40).prop_map(|len| b"x".repeat(len)),
        any::<u8>().prop_map(|byte| [byte].to_vec()),
    ]
}

/// Bytes that are lines more often than chance would have it.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 26] = [
        b"\n",
        b"\n",
        b"\n",
        b"\r\n",
        b"\0\0\0",
        b"\xEF\xBB\xBF",
        b"\xFF",
        b" ",
        b"null",
        b"{\"ts\":\"2026-01-02T03:04:05Z\",",
        b"{\"ts\":\"",
        b"\"kind\":\"message\",",
        b"\"kind\":\"rollback\",\"dropped\":1}",
        b"\"kind\":\"rollback\",\"dropped\":2",
        b"\"kind\":\"rollback\",\"dropped\":\"2\"}",
        b"\"message\":{\"role\":\"user\",\"content\":\"a\"}}",
        b"\"message\":{\"role\":\"assistant\",\"content\":\"\\ud83d\"}}",
        b"\"message\":{\"role\":7}}",
        b"{\"role\":\"user\",\"content\":\"b\"}",
        b"{\"role\":\"tool\",\"content\":[{\"type\":\"text\",\"text\":\"c\"}],\"x\":1}",
        b"{\"kind\":\"notice\",\"text\":\"d\"}",
        b"{\"kind\":\"settings\",\"tools\":[\"e\",null],\"x\":{\"f\":[1]}}",
        b"{\"kind\":\"x.note\",\"x\":{}}",
        b"}",
        b"\"",
        b"[[[",
    ];
    let piece = prop_oneof![
        9 => (0..PIECES.len()).prop_map(|piece| PIECES[piece].to_vec()),
        1 => vec(any::<u8>(), 1..4),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn i13_the_replay_tells_what_a_naive_fold_over_a_list_tells(bytes in vec(any::<u8>(), 0..160)) {
        oracle::check(&bytes);
    }

    #[test]
    fn i14_from_the_end_and_from_the_start_every_history_gives_the_same(
        history in lines(),
        capacity in 1_usize..64,
        max_line_bytes in prop_oneof![0_u64..8, 8_u64..200, Just(1 << 30)],
    ) {
        directions::check(&history, capacity, max_line_bytes);
    }

    #[test]
    fn i15_whatever_a_line_gives_survives_being_written_and_read(line in lines()) {
        for line in line.split(|b| *b == b'\n') {
            codec::check(line);
        }
    }

    #[test]
    fn a_text_is_read_as_a_strict_reader_reads_it(pieces in vec(text_piece(), 0..60)) {
        text::check(&pieces.concat());
    }

    #[test]
    fn i15_every_event_survives_being_written_and_read(event in event()) {
        codec::round_trip(&event);
    }

    #[test]
    fn metadata_survives_being_written_and_read(meta in meta()) {
        prop_assert_eq!(Meta::parse(&meta.to_json()), Ok(meta));
    }

    #[test]
    fn a_time_survives_being_written_and_read(ts in timestamp()) {
        prop_assert_eq!(parse_time(&format_time(&ts)), Some(ts));
    }

    #[test]
    fn a_title_is_one_short_line(raw in "\\PC{0,90}|[ \"'`\na-z木\u{301}]{0,200}") {
        let title = normalize_title(&raw);
        prop_assert!(title.len() <= 80 && !title.contains('\n'));
    }
}

/// More bytes than the first block that is read from the end.
#[test]
fn i14_histories_longer_than_a_block_are_read_from_the_end_alike() {
    let line = |n: usize| format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "x".repeat(n));
    for size in [16 << 10, 48 << 10, 112 << 10, 2 << 20] {
        let history = [line(10), line(size - 60), line(10)].concat();
        for extra in 0..70 {
            // The newlines pass over the borders of the blocks.
            let history = [&history[..], &line(extra)].concat();
            if size < 1 << 20 || extra % 23 == 0 {
                directions::check(history.as_bytes(), 8 << 10, 1 << 20);
            }
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "\\PC{0,8}", "[\u{0}-\u{1f}<>&\"\\\\\u{2028}\u{2029}é😀]{0,8}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Members that have no name in this version. Names of the format are capitals here and get a mark.
fn fields() -> impl Strategy<Value = Fields> {
    vec((text(), value()), 0..3).prop_map(|members| {
        let mut fields = Fields::new();
        for (name, value) in members {
            fields.set(&format!("?{name}"), &value);
        }
        fields
    })
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    let seconds = -62_135_500_000_i64..253_402_200_000;
    (seconds, 0_u32..1_000_000_000, -1439_i32..1440).prop_map(|(seconds, nanos, minutes)| {
        let offset = chrono::FixedOffset::east_opt(minutes * 60).expect("it is less than a day");
        chrono::DateTime::from_timestamp(seconds, nanos).expect("it is in range").with_timezone(&offset)
    })
}

fn message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just("user"), Just("assistant"), Just("tool"), Just("system"), Just("moderator"), Just("")];
    let parts = vec(value(), 0..3).prop_map(|parts| {
        let text = Value::from(parts).to_string();
        Content::Parts(Parts::new(&text).expect("it is a list"))
    });
    let content = prop_oneof![text().prop_map(Content::Text), parts];
    let call = (text(), text(), text(), text(), fields(), fields()).prop_map(
        |(id, call_type, name, arguments, extra, function_extra)| ToolCall {
            id: id.into(),
            call_type: call_type.into(),
            name: name.into(),
            arguments,
            extra,
            function_extra,
        },
    );
    let image = (text(), text(), any::<i64>(), any::<i64>(), any::<i64>(), fields()).prop_map(
        |(path, media_type, width, height, size, extra)| Image { path, media_type, width, height, size, extra },
    );
    let texts = (text(), text(), text());
    (role, content, texts, vec(call, 0..3), vec(image, 0..2), fields()).prop_map(
        |(role, content, (reasoning_content, name, tool_call_id), tool_calls, images, extra)| Message {
            role: Role::from(role),
            content,
            reasoning_content: reasoning_content.into(),
            name: name.into(),
            tool_calls: tool_calls.into(),
            tool_call_id: tool_call_id.into(),
            images: images.into(),
            extra,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![
        (0..Kind::KNOWN.len()).prop_map(|n| Kind::KNOWN[n].clone()),
        text().prop_map(|kind| Kind::from(kind.as_str())),
    ];
    let texts = (text(), text(), text());
    let numbers = (any::<i64>(), any::<i64>(), any::<Option<bool>>());
    let message = proptest::option::of(message().prop_map(Box::new));
    (proptest::option::of(timestamp()), kind, message, texts, numbers, vec(text(), 0..3), fields(), fields()).prop_map(
        |(ts, kind, message, (tool, text, model), (ms, dropped, merge_thinking), tools, extra, x)| Event {
            ts,
            kind,
            message,
            tool,
            ms,
            text,
            model,
            merge_thinking,
            tools,
            dropped,
            extra,
            x,
        },
    )
}

fn meta() -> impl Strategy<Value = Meta> {
    let texts = (text(), text(), text(), text(), text());
    let times = (proptest::option::of(timestamp()), proptest::option::of(timestamp()));
    let cost = any::<f64>().prop_map(|cost| if cost.is_finite() { cost } else { 0.0 });
    (texts, (text(), text(), text()), times, cost, fields(), fields()).prop_map(
        |(
            (name, workspace, model, first_prompt, title),
            (summary, parent, successor),
            (created, updated),
            cost,
            extra,
            x,
        )| Meta {
            name,
            created,
            updated,
            workspace,
            model,
            first_prompt,
            title,
            cost,
            summary,
            parent,
            succeeded_by: successor,
            extra,
            x,
        },
    )
}
