//! Bytes, titles, run ids and metadata, as the reference recorded them.

use serde_json::Value;
use session_core::{
    Event, Fields, Image, Kind, Message, Meta, MetaFault, ToolCall, first_words_title, normalize_title, parse_time,
    run_id,
};
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

fn rows(name: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// A text of a vector. One that is not valid UTF-8 there cannot be held by a `String`: such rows give `None`.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        other => {
            assert!(other.get("b64").is_some(), "{other}");
            None
        }
    }
}

fn integer(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

fn message(value: &Value) -> Option<Message> {
    let list = |name: &str| value[name].as_array().cloned().unwrap_or_default();
    Some(Message {
        role: text(&value["role"])?.as_str().into(),
        content: text(&value["content"])?.into(),
        reasoning_content: text(&value["reasoning_content"])?.into(),
        name: text(&value["name"])?.into(),
        tool_call_id: text(&value["tool_call_id"])?.into(),
        tool_calls: list("tool_calls").iter().map(tool_call).collect::<Option<_>>()?,
        images: list("images").iter().map(image).collect::<Option<_>>()?,
        extra: Fields::new(),
    })
}

fn tool_call(value: &Value) -> Option<ToolCall> {
    Some(ToolCall {
        id: text(&value["id"])?.into(),
        call_type: text(&value["type"])?.into(),
        name: text(&value["name"])?.into(),
        arguments: text(&value["arguments"])?,
        ..ToolCall::default()
    })
}

fn image(value: &Value) -> Option<Image> {
    Some(Image {
        path: text(&value["path"])?,
        media_type: text(&value["media_type"])?,
        width: integer(&value["width"]),
        height: integer(&value["height"]),
        size: integer(&value["size"]),
        extra: Fields::new(),
    })
}

fn event(value: &Value) -> Option<Event> {
    Some(Event {
        ts: parse_time(&text(&value["ts"])?),
        kind: Kind::from(text(&value["kind"])?.as_str()),
        message: if value["message"].is_object() { Some(Box::new(message(&value["message"])?)) } else { None },
        tool: text(&value["tool"])?,
        ms: integer(&value["ms"]),
        text: text(&value["text"])?,
        model: text(&value["model"])?,
        merge_thinking: value["merge_thinking"].as_bool(),
        tools: value["tools"].as_array().map_or(Some(Vec::new()), |tools| tools.iter().map(text).collect())?,
        dropped: integer(&value["dropped"]),
        ..Event::default()
    })
}

#[test]
fn i17_every_event_is_written_as_the_reference_writes_it() {
    let mut not_text = 0;
    for row in rows("bytes.jsonl") {
        let Some(event) = event(&row["event"]) else {
            not_text += 1;
            continue;
        };
        let mut line = Vec::new();
        event.encode(&mut line);
        // The reference's append puts the current time where the zero time stands; encoding is pure.
        let wanted = row["line"].as_str().expect("every row has a line").replace("<now>", "0001-01-01T00:00:00Z");
        assert_eq!(String::from_utf8(line).expect("JSON is text"), wanted);
    }
    assert_eq!(not_text, 7, "strings that are no text cannot be given to this encoder");
}

#[test]
fn every_line_that_was_written_reads_back_and_is_written_again_alike() {
    for row in rows("bytes.jsonl") {
        let line = row["line"].as_str().expect("every row has a line");
        let items: Vec<_> = session_core::scan_bytes(line.as_bytes()).collect();
        let [session_core::Item::Record(record)] = &items[..] else {
            assert!(line.contains("<now>"), "{line}: {items:?}");
            continue;
        };
        let mut again = Vec::new();
        record.event.encode(&mut again);
        // An escaped U+FFFD is read as the character and written as it is.
        assert_eq!(String::from_utf8(again).expect("JSON is text"), line.replace("\\ufffd", "\u{fffd}"));
    }
}

#[test]
fn every_title_is_the_recorded_one_but_where_a_character_was_cut() {
    for row in rows("title.jsonl") {
        let Some(input) = row["input"].as_str() else { continue };
        let title = match row["fn"].as_str() {
            Some("normalize") => normalize_title(input),
            _ => {
                let words = usize::try_from(integer(&row["n"])).ok().and_then(NonZeroUsize::new);
                first_words_title(input, words)
            }
        };
        match row["output"].as_str() {
            Some(output) => assert_eq!(title, output, "{row}"),
            None => assert!(row["upstream_invalid_utf8"] == true && title.len() <= 80, "{row}: {title}"),
        }
    }
}

#[test]
fn ti03_a_title_is_never_cut_inside_a_character() {
    let family = "👨\u{200d}👩\u{200d}👧";
    for prompt in [
        "木".repeat(90),
        "a".repeat(79) + "é",
        family.repeat(9),
        "🇯🇵".repeat(30),
        "e\u{301}".repeat(60),
        "w".repeat(81),
    ] {
        let title = normalize_title(&prompt);
        assert!(!title.is_empty() && title.len() <= 80, "{prompt}: {title}");
        let rest = prompt.strip_prefix(&title).unwrap_or_else(|| panic!("{prompt}: {title}"));
        assert!(!rest.starts_with(['\u{200d}', '\u{301}']) && !title.ends_with('\u{200d}'), "{prompt}: {title}");
    }
}

#[test]
fn every_run_id_is_the_recorded_one() {
    for row in rows("runid.jsonl") {
        let Some(name) = row["name"].as_str() else { continue };
        assert_eq!(Some(run_id(name).as_str()), row["run_id"].as_str(), "{name:?}");
    }
}

#[test]
fn every_metadata_is_written_as_the_reference_writes_it() {
    let mut checked = 0;
    for row in rows("meta.jsonl") {
        let Some(bytes) = row["bytes"].as_str() else { continue };
        let meta = Meta::parse(bytes.as_bytes()).unwrap_or_else(|fault| panic!("{fault}: {bytes}"));
        let again = String::from_utf8(meta.to_json()).expect("JSON is text");
        assert_eq!(again, bytes.replace("\\ufffd", "\u{fffd}"));
        let value = &row["meta"];
        for (name, text) in [("name", &meta.name), ("title", &meta.title), ("first_prompt", &meta.first_prompt)] {
            if let Some(wanted) = value[name].as_str().filter(|_| row.get("raw").is_none()) {
                assert_eq!(text, wanted);
            }
        }
        checked += 1;
    }
    assert!(checked > 10);
}

#[test]
fn metadata_keeps_what_it_does_not_know() {
    let bytes = b"{\"name\":\"s\",\"tags\":[\"a\"],\"Title\":\"t\",\"x\":{\"pinned\":true},\"cost\":null}";
    let meta = Meta::parse(bytes).expect("it is metadata");
    assert_eq!(
        (meta.title.as_str(), meta.extra.get("tags"), meta.x.get("pinned")),
        ("t", Some("[\"a\"]"), Some("true"))
    );
    let again = Meta::parse(&meta.to_json()).expect("what is written can be read");
    assert_eq!(again, meta);
    for bad in ["", "{", "[]", "{\"name\":5}", "{\"created\":\"yesterday\"}", "{\"cost\":\"1\"}", "{} x", "\0\0"] {
        assert!(Meta::parse(bad.as_bytes()).is_err(), "{bad:?}");
    }
    assert!(matches!(Meta::parse(b"{\"name\":"), Err(MetaFault::NotJson { at: 8, .. })));
    assert_eq!(Meta::parse(b"[]"), Err(MetaFault::NotAnObject));
    assert_eq!(Meta::parse(b"{\"name\":5}"), Err(MetaFault::WrongType { field: "name" }));
    assert_eq!(Meta::parse(b"null"), Ok(Meta::default()));
}
