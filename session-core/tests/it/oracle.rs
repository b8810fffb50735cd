//! A replay that is too simple to be wrong, and invented histories for it.
//!
//! A history is invented from bytes, two a line, so that the property tests and the fuzzer share it. This file uses
//! nothing but the library, and is compiled into both.

use session_core::{
    Conversation, Counter, Limits, LiveEvents, ReplayBackwards, ScanBackwards, count, last_messages, last_model,
    last_report,
};
use std::io::Cursor;

/// What a line means to the replay. A message is known by its number, which is also its text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A message joins; the line as it is written.
    Adds { number: usize, speaks: Speaks, line: String },
    /// Messages leave.
    Drops { count: u64, line: String },
    /// A settings event names a model.
    Model { model: &'static str, line: String },
    /// Nothing happens.
    Nothing { is_event: bool, line: String },
    /// The line cannot be read.
    Skipped { is_rollback: bool, line: String },
}

/// As far as the last report cares.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Speaks {
    Report { call: &'static str },
    Answer { call: &'static str },
    Anything,
}

const CALLS: [&str; 3] = ["c0", "c1", "c2"];
const MODELS: [&str; 4] = ["", "small", "large", "other"];

/// The lines that `bytes` stand for.
fn steps(bytes: &[u8]) -> Vec<Step> {
    let pairs = bytes.chunks_exact(2).map(|pair| (pair[0], usize::from(pair[1])));
    pairs.enumerate().map(|(number, (what, arg))| step(number, what, arg)).collect()
}

fn step(number: usize, what: u8, arg: usize) -> Step {
    let adds = |speaks: Speaks, line: String| Step::Adds { number, speaks, line };
    let nothing = |line: &str| Step::Nothing { is_event: true, line: line.to_owned() };
    let call = CALLS[arg % 3];
    match what % 20 {
        0 => adds(
            Speaks::Anything,
            format!(
                r#"{{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{{"role":"user","content":"{number}"}}}}"#
            ),
        ),
        1 => adds(
            Speaks::Anything,
            format!(r#"{{"KIND":"message","message":{{"content":"{number}","role":"assistant"}}}}"#),
        ),
        2 => adds(
            Speaks::Answer { call },
            format!(
                r#"{{"kind":"tool_result","message":{{"role":"tool","content":"{number}","tool_call_id":"{call}"}},"ms":1}}"#
            ),
        ),
        3 => adds(Speaks::Anything, format!(r#"{{"role":"user","content":"{number}"}}"#)),
        4 => adds(
            Speaks::Anything,
            format!(r#"{{"kind":"weather","message":{{"role":"moderator","content":"{number}"}}}}"#),
        ),
        5 => adds(
            Speaks::Anything,
            format!(r#"{{"kind":"notice","ts":17,"message":{{"role":"system","content":"{number}"}}}}"#),
        ),
        6 => adds(Speaks::Report { call }, report(number, call, r#"{\"headline\":\"done\"}"#)),
        7 => adds(Speaks::Anything, report(number, call, r#"{\"headline\":"#)),
        8 => {
            let model = MODELS[arg % 4];
            Step::Model { model, line: format!(r#"{{"kind":"settings","model":"{model}","merge_thinking":true}}"#) }
        }
        9 => nothing(r#"{"kind":"notice","text":"a notice"}"#),
        10 => nothing(r#"{"kind":"x.note","x":{"topic":"a note"}}"#),
        11 => nothing(r#"{"kind":"rollback","dropped":0}"#),
        12 => nothing(r#"{"kind":"rollback","dropped":-3,"message":{"role":"user","content":"not added"}}"#),
        13 => Step::Nothing { is_event: false, line: ["", " \t", "null", "\u{a0}"][arg % 4].to_owned() },
        14 => Step::Drops {
            count: (arg % 6) as u64 + 1,
            line: format!(
                r#"{{"kind":"rollback","dropped":{},"message":{{"role":"user","content":"not added"}}}}"#,
                arg % 6 + 1
            ),
        },
        15 => Step::Drops { count: 1, line: r#"{"kind":"rollback","dropped":1}"#.to_owned() },
        16 if arg.is_multiple_of(4) => {
            Step::Drops { count: i64::MAX as u64, line: format!(r#"{{"kind":"rollback","dropped":{}}}"#, i64::MAX) }
        }
        16 => Step::Drops { count: 2, line: r#"{"dropped":2,"kind":"rollback"}"#.to_owned() },
        17 => Step::Skipped { is_rollback: true, line: r#"{"kind":"rollback","dropped":"2"}"#.to_owned() },
        18 => Step::Skipped { is_rollback: false, line: r#"{"kind":"message","message":{"role":7}}"#.to_owned() },
        _ => Step::Skipped { is_rollback: false, line: r#"{"kind":"mess"#.to_owned() },
    }
}

fn report(number: usize, call: &str, arguments: &str) -> String {
    format!(
        r#"{{"kind":"message","message":{{"role":"assistant","content":"{number}","tool_calls":[{{"id":"{call}","type":"function","function":{{"name":"Report","arguments":"{arguments}"}}}}]}}}}"#
    )
}

/// What is known about an invented history without reading it.
#[derive(Debug, Default)]
struct Truth {
    history: Vec<u8>,
    live: Vec<usize>,
    /// For each event, the number of its message.
    events: Vec<Option<usize>>,
    uncertain: bool,
    skipped: u64,
    model: Option<&'static str>,
    /// Whether the last report is current.
    report: Option<bool>,
}

/// What stands in the conversation: a message, or the place of a line that could not be read.
enum Held {
    Message(usize, Speaks),
    Gap,
}

fn truth(steps: &[Step]) -> Truth {
    let mut truth = Truth::default();
    let mut held: Vec<Held> = Vec::new();
    for step in steps {
        let line = match step {
            Step::Adds { number, speaks, line } => {
                held.push(Held::Message(*number, speaks.clone()));
                truth.events.push(Some(*number));
                line
            }
            Step::Drops { count, line } => {
                truth.uncertain |= !drop_last(&mut held, *count);
                truth.events.push(None);
                line
            }
            Step::Model { model, line } => {
                truth.model = Some(*model).filter(|model| !model.is_empty()).or(truth.model);
                truth.events.push(None);
                line
            }
            Step::Nothing { is_event, line } => {
                truth.events.extend(is_event.then_some(None));
                line
            }
            Step::Skipped { is_rollback, line } => {
                truth.skipped += 1;
                truth.uncertain |= is_rollback;
                held.push(Held::Gap);
                line
            }
        };
        truth.history.extend_from_slice(line.as_bytes());
        truth.history.push(b'\n');
    }
    let mut messages: Vec<(usize, Speaks)> = Vec::new();
    for held in held {
        if let Held::Message(number, speaks) = held {
            messages.push((number, speaks));
        }
    }
    truth.report = current(&messages);
    truth.live = messages.into_iter().map(|(number, _)| number).collect();
    truth
}

/// Takes messages from the end, one by one. False if one of them might have been a line that could not be read.
fn drop_last(held: &mut Vec<Held>, count: u64) -> bool {
    let mut certain = true;
    let mut left = count;
    let mut gaps = 0;
    while left > 0 {
        match held.pop() {
            Some(Held::Message(..)) => left -= 1,
            Some(Held::Gap) => {
                certain = false;
                gaps += 1;
            }
            None => break,
        }
    }
    held.extend((0..gaps).map(|_| Held::Gap));
    certain
}

fn current(messages: &[(usize, Speaks)]) -> Option<bool> {
    let at = messages.iter().rposition(|(_, speaks)| matches!(speaks, Speaks::Report { .. }))?;
    let Speaks::Report { call: reported } = messages[at].1 else { return None };
    Some(messages[at + 1..].iter().all(|(_, speaks)| *speaks == Speaks::Answer { call: reported }))
}

/// Asserts that every way to replay the history that `bytes` stand for tells the truth about it.
pub(crate) fn check(bytes: &[u8]) {
    let truth = truth(&steps(bytes));
    let history = &truth.history[..];
    forwards(&truth, history);
    in_parts(history);
    for n in [0, 1, 2, 5, usize::MAX] {
        last(&truth, history, n);
    }
    let backwards = || ScanBackwards::new(Cursor::new(history)).expect("a slice can be sought in");
    let model = last_model(backwards()).expect("a slice has no read errors");
    assert_eq!(model.as_deref(), truth.model);
    let report = last_report(backwards()).expect("a slice has no read errors");
    assert_eq!(report.map(|last| last.current), truth.report);

    let mut replay = ReplayBackwards::new(backwards());
    let mut live = Vec::new();
    while let Some((record, is_live)) = replay.next_event().expect("a slice has no read errors") {
        live.push(is_live.map(|live| (live, number(&record.event.message))));
    }
    live.reverse();
    assert_eq!(live, alive(&truth));
    assert_eq!(replay.is_uncertain(), truth.uncertain);
}

/// Put aside behind any line and taken up again, a count is what it is in one go.
fn in_parts(history: &[u8]) {
    let limits = Limits::default();
    let whole = count(history, limits).expect("a slice has no read errors");
    for cut in (0..history.len()).filter(|&at| history[at] == b'\n') {
        let mut counter = Counter::default();
        for part in [&history[..=cut], &history[cut + 1..]] {
            counter.read(part, limits).expect("a slice has no read errors");
        }
        assert_eq!(counter.count, whole, "cut behind byte {cut}");
    }
}

/// For each event: whether its message is live, and its number.
fn alive(truth: &Truth) -> Vec<Option<(bool, usize)>> {
    truth.events.iter().map(|number| number.map(|number| (truth.live.contains(&number), number))).collect()
}

fn number(message: &Option<Box<session_core::Message>>) -> usize {
    let message = message.as_ref().expect("the event adds a message");
    message.content.text().parse().expect("its text is its number")
}

fn numbers(conversation: &Conversation) -> Vec<usize> {
    let texts = conversation.messages.iter().map(|message| message.content.text());
    texts.map(|text| text.parse().expect("its text is its number")).collect()
}

fn forwards(truth: &Truth, history: &[u8]) {
    let limits = Limits::default();
    let conversation = Conversation::read(history, limits).expect("a slice has no read errors");
    assert_eq!(numbers(&conversation), truth.live);
    assert_eq!((conversation.skipped, conversation.uncertain), (truth.skipped, truth.uncertain));
    assert_eq!(conversation.is_complete(), truth.skipped == 0 && !truth.uncertain);

    let counted = count(history, limits).expect("a slice has no read errors");
    assert_eq!((counted.messages, counted.events), (truth.live.len() as u64, truth.events.len() as u64));
    assert_eq!((counted.skipped, counted.uncertain), (truth.skipped, truth.uncertain));
    assert_eq!(counted.repaired, conversation.repaired);

    let live = LiveEvents::read(history, limits).expect("a slice has no read errors");
    let wanted: Vec<_> = alive(truth).iter().map(|event| event.map(|(live, _)| live)).collect();
    assert_eq!((live.events, live.uncertain), (wanted, truth.uncertain));
}

/// The last `n`: those of the whole, and in doubt only if the whole is.
fn last(truth: &Truth, history: &[u8], n: usize) {
    let backwards = ScanBackwards::new(Cursor::new(history)).expect("a slice can be sought in");
    let conversation = last_messages(backwards, n).expect("a slice has no read errors");
    assert_eq!(numbers(&conversation), truth.live[truth.live.len().saturating_sub(n)..], "the last {n}");
    assert!(truth.uncertain || !conversation.uncertain, "the last {n} are in doubt and the whole is not");
    if n > truth.live.len() {
        assert_eq!((conversation.skipped, conversation.uncertain), (truth.skipped, truth.uncertain));
    }
}
