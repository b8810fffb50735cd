//! Exports, read back by others' parsers.

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event as Piece, Options, Parser, Tag};
use session_core::interop::export::{Detail, End, Export, Head, Json, JsonLines, Markdown, OpenAi, Selection};
use session_core::{
    Conversation, Event, Item, Limits, LiveEvents, Message, Meta, Timeline, ToolCall, parse_time, scan_bytes,
};

/// What a history exports to.
fn exported(history: &[u8], exporter: &mut dyn Export, choose: impl Fn(Selection<'_>) -> Selection<'_>) -> String {
    let limits = Limits::default();
    let live = LiveEvents::read(history, limits).expect("a slice can be read");
    let timeline = Timeline::read(history, limits).expect("a slice can be read");
    let mut selection = choose(Selection::new(&live));
    let meta = Meta { name: "oaks".into(), title: "# <b>Oaks</b>".into(), ..Meta::default() };
    let head = Head {
        turns: timeline.turns().to_vec(),
        events: timeline.events(),
        rolled_back: selection.rolled_back(),
        ..Head::of(meta)
    };
    let mut out = Vec::new();
    exporter.begin(&head, &mut out);
    let mut end = End::default();
    for item in scan_bytes(history) {
        match item {
            Item::Record(record) => selection.next(*record.event).iter().for_each(|it| exporter.entry(it, &mut out)),
            Item::Defect(defect) => end.defects.push(defect),
        }
    }
    exporter.end(&end, &mut out);
    String::from_utf8(out).expect("an export is text")
}

fn history(messages: impl IntoIterator<Item = Message>) -> Vec<u8> {
    let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
    let mut history = Vec::new();
    messages.into_iter().for_each(|message| Event::message(ts, message).encode(&mut history));
    history
}

fn call(name: &str, arguments: &str) -> Message {
    let call = ToolCall { id: "c1".into(), name: name.into(), arguments: arguments.into(), ..ToolCall::default() };
    Message { tool_calls: [call].into(), ..Message::assistant("") }
}

/// The blocks of a page at its top: the level of a heading, `quote`, `list`, `text`, or the language and text of code.
fn blocks(page: &str) -> Vec<String> {
    let (mut blocks, mut depth) = (Vec::new(), 0);
    for piece in Parser::new_ext(page, Options::all()) {
        match piece {
            Piece::Html(text) | Piece::InlineHtml(text) => panic!("a tag: {text:?} in {page}"),
            Piece::Start(Tag::Image { dest_url, .. }) => panic!("a picture: {dest_url:?} in {page}"),
            Piece::Start(Tag::Link { dest_url, .. }) => {
                let scheme = dest_url.split_once(':').map(|(scheme, _)| scheme);
                assert!(matches!(scheme, None | Some("http" | "https" | "mailto")), "{dest_url:?} in {page}");
                depth += 1;
            }
            Piece::Start(tag) => {
                if depth == 0 {
                    blocks.push(match &tag {
                        Tag::Heading { level, .. } => level.to_string(),
                        Tag::BlockQuote(_) => "quote".into(),
                        Tag::List(_) => "list".into(),
                        Tag::Paragraph => "text".into(),
                        Tag::CodeBlock(CodeBlockKind::Fenced(language)) => format!("{language}:"),
                        other => panic!("{other:?} in {page}"),
                    });
                }
                depth += 1;
            }
            Piece::Text(text) if depth == 1 => match blocks.last_mut() {
                Some(code) if code.contains(':') => *code += &text,
                _ => {}
            },
            Piece::End(_) => depth -= 1,
            _ => {}
        }
    }
    blocks
}

/// A text as a fenced block holds it.
fn fenced(language: &str, text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{language}:{text}{end}")
}

/// Texts made of what Markdown minds.
fn nasty() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        4 => "[a-z]{1,3}",
        2 => Just("\n".to_owned()),
        1 => "[ \t]{1,5}",
        6 => proptest::sample::select(vec![
            "```", "````", "~~~", "`", "# ", "---\n", "===\n", "> ", "- ", "1. ", "<b>", "</b>", "<!--", "-->", "<?", "<",
            "&lt;", "\\", "![", "[x]", "](", "](https://e.org)", "](javascript:x)", "]:", ")", "|", "|-|-|\n", "\r", "\r\n",
            "\0", "$$", "\n\n", "    ", "<script>", "</blockquote>", "<a:b>", "http://e.org", "[^1]", "[^1]: ", "\u{2028}",
            "+++\n", ":::", "**", "<https://e.org>", "\u{a0}", "{#id}", "[!NOTE]", "&colon;", "&#10;",
        ]).prop_map(str::to_owned),
    ];
    proptest::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

/// Texts of lines that begin, end, or seem to end fenced blocks, and of what must not get out of one.
fn fences() -> impl Strategy<Value = String> {
    let indent = proptest::sample::select(vec!["", "", " ", "   ", "    ", "\t", " \t"]);
    let mark = proptest::sample::select(vec!["```", "````", "~~~", "~~~~"]);
    let behind = proptest::sample::select(vec!["", "", " ", "\t", "\u{a0}", "\u{2003}", "\r", "x"]);
    let line = prop_oneof![
        3 => (indent, mark, behind).prop_map(|(indent, mark, behind)| [indent, mark, behind].concat()),
        1 => proptest::sample::select(vec!["<b>", "oak", "", "![x](y)"]).prop_map(str::to_owned),
    ];
    proptest::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn e02_a_markdown_parser_sees_exactly_our_structure(
        said in prop_oneof![nasty(), fences()], thought in nasty(), tool in nasty(), arguments in nasty(), result in nasty(),
    ) {
        let asks = Message { reasoning_content: thought.clone().into(), ..call(&tool, &arguments) };
        let history = history([Message::user(said.clone()), asks, Message::tool_result("c1", &tool, result.clone())]);
        let page = exported(&history, &mut Markdown::new(), |all| all);
        let is = |block: &str| Block::Is(block.to_owned());
        let mut wanted = vec![is("h1"), is("list"), is("h2"), is("h3")];
        wanted.extend(Block::of_prose(&said));
        wanted.push(is("h3"));
        wanted.extend((!thought.is_empty()).then(|| is("text")));
        wanted.extend(Block::of_prose(&thought));
        wanted.extend([is("text"), Block::Is(fenced("json", &arguments)), is("h3")]);
        wanted.extend((!result.is_empty()).then(|| Block::Is(fenced("text", &result))));
        let blocks = blocks(&page);
        prop_assert_eq!(blocks.len(), wanted.len(), "{:?} in {}", blocks, page);
        for (block, wanted) in blocks.iter().zip(&wanted) {
            prop_assert!(wanted.matches(block), "{:?} is not {:?} in {}", block, wanted, page);
        }
    }
}

/// A block that is to be seen.
#[derive(Debug)]
enum Block {
    Is(String),
    /// What somebody said: quoted, or fenced and then to the letter.
    Prose(String),
}

impl Block {
    fn of_prose(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Block::Prose(text.to_owned()))
    }

    fn matches(&self, block: &str) -> bool {
        match self {
            Block::Is(wanted) => block == wanted,
            Block::Prose(text) => block == "quote" || block == fenced("markdown", text),
        }
    }
}

const TAKEN_BACK: &[u8] = br#"{"kind":"message","message":{"role":"user","content":"plant"}}
{"kind":"message","message":{"role":"assistant","content":"wrong"}}
{"kind":"rollback","dropped":1}
{"kind":"message","message":{"role":"assistant","content":"digging"}}
{"kind":"message","message":{"role":"user","con
"#;

#[test]
fn e04_no_format_shows_what_was_taken_back_unless_asked() {
    let exporter = |name| -> Box<dyn Export> {
        match name {
            "md" => Box::new(Markdown::new()),
            "json" => Box::new(Json::new()),
            "jsonl" => Box::new(JsonLines),
            _ => Box::new(OpenAi::new()),
        }
    };
    for name in ["md", "json", "jsonl", "openai"] {
        let resolved = exported(TAKEN_BACK, &mut *exporter(name), |all| all);
        assert!(resolved.contains("digging") && !resolved.contains("wrong"), "{name}: {resolved}");
        let raw = exported(TAKEN_BACK, &mut *exporter(name), |all| all.raw(true));
        assert_eq!(raw.contains("wrong"), name != "openai", "{name}: {raw}");
    }
    let page = exported(TAKEN_BACK, &mut Markdown::new(), |all| all);
    assert!(page.contains("- Left out: 1 message that was taken back"), "{page}");
}

#[test]
fn e04_lines_of_a_resolved_export_are_a_history_with_the_same_conversation() {
    let resolved = exported(TAKEN_BACK, &mut JsonLines, |all| all);
    let read = |history: &[u8]| Conversation::read(history, Limits::default()).expect("a slice can be read").messages;
    assert_eq!(read(resolved.as_bytes()), read(TAKEN_BACK));
    // A reader that takes every line for a message reads the same.
    let naive: Vec<serde_json::Value> =
        resolved.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(naive.iter().filter(|line| line["message"].is_object()).count(), 2);
}

#[test]
fn a_document_says_what_is_missing_and_only_at_its_end_that_it_is_whole() {
    let document = exported(TAKEN_BACK, &mut Json::new(), |all| all.range(2..=9));
    let value: serde_json::Value = serde_json::from_str(&document).expect("it is JSON");
    assert_eq!(value["schema"], "session/transcript.v1");
    assert_eq!(value["left_out"], serde_json::json!({ "rolled_back": 1 }));
    assert_eq!(value["complete"], false);
    assert_eq!(value["diagnostics"][0]["line"], 5);
    assert_eq!(value["events"][0]["number"], 4);
    assert_eq!(value["events"][0]["event"]["message"]["content"], "digging");
    assert!(document.ends_with("\"complete\":false}\n"), "{document}");
    assert_eq!(value["diagnostics"][0]["text"], "line 5, byte 233: not JSON: ends inside a string, 47 bytes in");
    let whole = exported(&history([Message::user("plant")]), &mut Json::new(), |all| all);
    assert!(whole.ends_with("\"complete\":true}\n"), "{whole}");
}

#[test]
fn a_call_without_a_result_gets_one_for_an_endpoint() {
    let body = exported(&history([call("Shell", "{}"), Message::user("stop")]), &mut OpenAi::new(), |all| all);
    let value: serde_json::Value = serde_json::from_str(&body).expect("it is JSON");
    let roles: Vec<_> = value["messages"].as_array().into_iter().flatten().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["assistant", "tool", "user"]);
    assert_eq!(value["messages"][1]["content"], session_core::MISSING_RESULT);
}

#[test]
fn prompts_alone_are_what_a_person_wrote() {
    let history = history([Message::user("plant"), Message::assistant("digging"), Message::user("and a birch")]);
    let lines = exported(&history, &mut JsonLines, |all| all.detail(Detail::Prompts));
    assert_eq!(lines.lines().count(), 2, "{lines}");
}

#[test]
fn what_could_be_a_tag_or_a_picture_is_fenced_wherever_its_line_begins() {
    for wild in ["<b>x</b>", "  <b>x</b>", "   ![x](y)", "- a\n  <script>", "a\n [x]: y", "~~~\nx\n~~~\n   <i>"] {
        let page = exported(&history([Message::user(wild)]), &mut Markdown::new(), |all| all);
        assert!(page.contains("markdown\n"), "{wild:?}: {page}");
    }
    let page = exported(&history([Message::user("  an oak\n- a **birch**")]), &mut Markdown::new(), |all| all);
    assert!(page.contains("> - a **birch**"), "{page}");
}

#[test]
fn what_is_said_beside_a_call_is_in_the_body_for_an_endpoint() {
    let says = Message { tool_calls: call("Dig", "{}").tool_calls, ..Message::assistant("digging") };
    let body = exported(&history([says]), &mut OpenAi::new(), |all| all);
    let value: serde_json::Value = serde_json::from_str(&body).expect("it is JSON");
    assert_eq!(value["messages"][0]["content"], "digging");
    assert_eq!(value["messages"][0]["tool_calls"][0]["function"]["name"], "Dig");
}
