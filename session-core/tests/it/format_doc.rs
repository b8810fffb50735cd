//! The examples of `docs/format.md`, read as the page says.

use session_core::{
    Conversation, Item, Limits, LiveEvents, Meta, Outcome, ScanBackwards, format_time, last_model, last_report,
    scan_bytes,
};
use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

/// A fenced block: the line at which it begins, its words, and its lines.
struct Block<'a> {
    line: usize,
    info: &'a str,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((n, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let text = inside.map(|line| line.to_owned() + "\n").collect();
        blocks.push(Block { line: n + 1, info, text });
    }
    blocks
}

/// The bytes that an example stands for.
fn bytes(text: &str) -> Vec<u8> {
    let (text, torn) = text.strip_suffix("⟨end⟩\n").map_or((text, false), |text| (text, true));
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('⟨') {
        bytes.extend_from_slice(before.as_bytes());
        let (digits, after) = after.split_once('⟩').expect("a bracket that opens is closed");
        bytes.extend(digits.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect("it holds hexadecimal bytes")));
        rest = after;
    }
    bytes.extend_from_slice(rest.as_bytes());
    assert!(torn || bytes.ends_with(b"\n"));
    bytes
}

fn history_outcome(history: &[u8]) -> String {
    let live = LiveEvents::read(history, Limits::default()).expect("a slice has no read errors");
    let mut events = live.events.iter();
    let mut told = String::new();
    for item in scan_bytes(history) {
        match item {
            Item::Record(record) => {
                let kind = if record.event.kind.is_none() { "(no kind)" } else { record.event.kind.as_str() };
                let state = match events.next().expect("there is one for each event") {
                    None => "",
                    Some(true) => ", live",
                    Some(false) => ", rolled back",
                };
                tell(&mut told, format_args!("{} {kind}{state}\n", record.place.line.unwrap_or_default()));
            }
            Item::Defect(defect) => {
                let outcome = match defect.outcome {
                    Outcome::Repaired => "repaired",
                    Outcome::Skipped => "skipped",
                    Outcome::SkippedRollback => "skipped rollback",
                };
                let line = defect.place.line.unwrap_or_default();
                tell(&mut told, format_args!("{line} defect {}, {outcome}\n", defect.fault.code()));
            }
        }
    }
    let conversation = Conversation::read(history, Limits::default()).expect("a slice has no read errors");
    let texts: Vec<_> = conversation.messages.iter().map(|message| message.content.text()).collect();
    // No line of the page ends in a blank.
    told += format!("live: {}", texts.join(" | ")).trim_end();
    told += if conversation.uncertain { "\nuncertain\n" } else { "\n" };
    let backwards = || ScanBackwards::new(Cursor::new(history)).expect("a slice can be sought in");
    if let Some(model) = last_model(backwards()).expect("a slice has no read errors") {
        tell(&mut told, format_args!("model: {model}\n"));
    }
    if let Some(last) = last_report(backwards()).expect("a slice has no read errors") {
        let json = String::from_utf8(last.report.to_json()).expect("JSON is text");
        tell(&mut told, format_args!("report{}: {json}\n", if last.current { ", current" } else { "" }));
    }
    told
}

fn tell(told: &mut String, text: std::fmt::Arguments<'_>) {
    told.write_fmt(text).expect("writing to a string cannot fail");
}

fn meta_outcome(bytes: &[u8]) -> String {
    let meta = match Meta::parse(bytes) {
        Ok(meta) => meta,
        Err(fault) => return format!("no metadata: {fault}\n"),
    };
    let time = |ts: &Option<_>| ts.as_ref().map(format_time).unwrap_or_default();
    let cost = if meta.cost == 0.0 { String::new() } else { meta.cost.to_string() };
    let members = [
        ("name", meta.name.clone()),
        ("created", time(&meta.created)),
        ("updated", time(&meta.updated)),
        ("workspace", meta.workspace.clone()),
        ("model", meta.model.clone()),
        ("first_prompt", meta.first_prompt.clone()),
        ("title", meta.title.clone()),
        ("cost", cost),
        ("summary", meta.summary.clone()),
        ("parent", meta.parent.clone()),
        ("succeeded_by", meta.succeeded_by.clone()),
    ];
    let mut told = String::new();
    for (name, text) in members.iter().filter(|(_, text)| !text.is_empty()) {
        tell(&mut told, format_args!("{name}: {text}\n"));
    }
    meta.extra.iter().for_each(|(name, _)| tell(&mut told, format_args!("kept: {name}\n")));
    meta.x.iter().for_each(|(name, _)| tell(&mut told, format_args!("kept: x.{name}\n")));
    told
}

fn written(history: &[u8]) -> Vec<u8> {
    let mut again = Vec::new();
    for item in scan_bytes(history) {
        match item {
            Item::Record(record) => record.event.encode(&mut again),
            Item::Defect(defect) => panic!("an exact example has no defect: {defect}"),
        }
    }
    again
}

#[test]
fn every_example_of_the_format_is_read_as_the_page_says() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/format.md");
    let page = fs::read_to_string(path).expect("the page is beside the crate");
    let blocks = blocks(&page);
    let mut run = 0;
    for (n, block) in blocks.iter().enumerate() {
        let example = bytes(&block.text);
        let outcome = match block.info {
            "jsonl history" | "jsonl history exact" => history_outcome(&example),
            "json meta" | "json meta exact" => meta_outcome(&example),
            "json" => {
                let valid: Result<serde_json::Value, _> = serde_json::from_slice(&example);
                assert!(valid.is_ok(), "format.md:{}: {valid:?}", block.line);
                continue;
            }
            "outcome" | "sh" => continue,
            other => panic!("format.md:{}: what is a block of `{other}`?", block.line),
        };
        match block.info {
            "jsonl history exact" => assert_eq!(written(&example), example, "format.md:{}", block.line),
            "json meta exact" => {
                let again = Meta::parse(&example).expect("it is metadata").to_json();
                assert_eq!(again, example, "format.md:{}", block.line);
            }
            _ => {}
        }
        let told = blocks.get(n + 1).filter(|next| next.info == "outcome");
        let told = told.unwrap_or_else(|| panic!("format.md:{}: an example has no outcome", block.line));
        assert_eq!(outcome, told.text, "format.md:{}", block.line);
        run += 1;
    }
    assert!(run >= 10, "the page has examples");
}
