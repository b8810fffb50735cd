//! Reading what does not read smoothly: reads that a signal interrupts, and reads that fail.

use session_core::{
    Conversation, HistoryPart, Item, Limits, LiveEvents, Period, ReplayBackwards, Scan, ScanBackwards, Spending,
    Statistics, Timeline, count, last_messages, last_model, last_report,
};
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;

/// A file of which some bytes cannot be read.
pub(crate) struct Failing<B> {
    bytes: Cursor<B>,
    bad: Range<u64>,
}

impl<B: AsRef<[u8]>> Failing<B> {
    pub(crate) fn new(bytes: B, bad: Range<u64>) -> Self {
        Failing { bytes: Cursor::new(bytes), bad }
    }
}

impl<B: AsRef<[u8]>> Read for Failing<B> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let at = self.bytes.position();
        if self.bad.contains(&at) {
            return Err(io::Error::other("a bad sector"));
        }
        let left = if at < self.bad.start { self.bad.start - at } else { u64::MAX };
        let len = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.bytes.read(&mut buf[..len])
    }
}

impl<B: AsRef<[u8]>> Seek for Failing<B> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// A file whose every read is interrupted once.
pub(crate) struct Interrupted<R> {
    file: R,
    again: bool,
}

impl<R> Interrupted<R> {
    pub(crate) fn new(file: R) -> Self {
        Interrupted { file, again: false }
    }
}

impl<R: Read> Read for Interrupted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.again = !self.again;
        if self.again { Err(io::ErrorKind::Interrupted.into()) } else { self.file.read(buf) }
    }
}

impl<R: Seek> Seek for Interrupted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

const GARDEN: &str = r#"{"ts":"2026-01-02T03:04:05Z","kind":"settings","model":"oak-1"}
{"ts":"2026-01-02T03:04:06Z","kind":"message","message":{"role":"user","content":"plant three oaks"}}
not json
{"ts":"2026-01-02T03:04:07Z","kind":"message","message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"Report","arguments":"{\"headline\":\"planted\"}"}}]}}
{"ts":"2026-01-02T03:04:08Z","kind":"x.usage","x":{"response":"r1","output":7}}
{"ts":"2026-01-02T03:04:09Z","kind":"message","message":{"role":"user","content":"water them"}}
{"ts":"2026-01-02T03:04:10Z","kind":"rollback","dropped":1}
{"ts":"2026-01-02T03:04:11Z","kind":"notice","text":"rai"#;

/// What every way to read a history from its start makes of it.
fn every_answer(history: impl Fn() -> Box<dyn io::BufRead>) -> Vec<io::Result<String>> {
    let limits = Limits { max_line_bytes: 1_000 };
    let mut statistics = Statistics::default();
    let defects = statistics.read(0, history(), limits, &Period::ALL);
    let cells: Vec<_> = statistics.cells().collect();
    vec![
        defects.map(|defects| format!("{defects:?} {cells:?}")),
        Scan::with_limits(history(), limits).collect::<io::Result<Vec<Item>>>().map(|items| format!("{items:?}")),
        Conversation::read(history(), limits).map(|conversation| format!("{conversation:?}")),
        count(history(), limits).map(|count| format!("{count:?}")),
        LiveEvents::read(history(), limits).map(|live| format!("{:?}", (live.events, live.uncertain))),
        HistoryPart::load(history(), limits).map(|part| format!("{:?}", Conversation::from(part))),
        Timeline::read(history(), limits).map(|timeline| format!("{:?}", timeline.turns())),
        Spending::read(history(), limits).map(|spending| format!("{:?}", spending.responses())),
    ]
}

#[test]
fn a_read_that_a_signal_interrupts_is_tried_again_whoever_reads() {
    let smoothly = every_answer(|| Box::new(GARDEN.as_bytes()));
    // Whether a line lies in the reader's buffer or spans several of them.
    for capacity in [1, 7, 64, 4_096] {
        let interrupted = || Interrupted::new(GARDEN.as_bytes());
        let answers = every_answer(|| Box::new(BufReader::with_capacity(capacity, interrupted())));
        for (answer, wanted) in answers.into_iter().zip(&smoothly) {
            let wanted = wanted.as_ref().expect("a slice has no read errors");
            assert_eq!(answer.as_ref().expect("an interrupted read is no error"), wanted, "{capacity} bytes at a time");
        }
    }
    let backwards = ScanBackwards::new(Interrupted::new(Cursor::new(GARDEN))).expect("it can be sought in");
    let last = last_messages(backwards, 9).expect("an interrupted read is no error");
    let texts: Vec<_> = last.messages.iter().map(|message| message.content.text().into_owned()).collect();
    assert_eq!((texts, last.skipped), (vec!["plant three oaks".to_owned(), String::new()], 2));
}

#[test]
fn a_read_error_is_told_by_whoever_reads() {
    for bad in [0, 30, 200, GARDEN.len() as u64 - 1] {
        let failing = || Failing::new(GARDEN, bad..GARDEN.len() as u64);
        for capacity in [7, 4_096] {
            for answer in every_answer(|| Box::new(BufReader::with_capacity(capacity, failing()))) {
                assert_eq!(answer.expect_err("it cannot be read").to_string(), "a bad sector", "{bad}");
            }
        }
    }
}

#[test]
fn a_read_error_is_told_once_and_ends_the_reading() {
    let history = b"{\"kind\":\"notice\"}\n{\"kind\":\"notice\"}\n";
    let failing = || Failing::new(history, 25..99);
    let mut scan = Scan::new(BufReader::with_capacity(8, failing()));
    assert!(matches!(scan.next(), Some(Ok(Item::Record(_)))));
    assert_eq!(scan.next().expect("the second line cannot be read").expect_err("it fails").to_string(), "a bad sector");
    assert!(scan.next().is_none());
    let mut backwards = ScanBackwards::new(failing()).expect("seeking works");
    assert!(matches!(backwards.next(), Some(Err(_))));
    assert!(backwards.next().is_none());
}

#[test]
fn from_the_end_what_stands_behind_the_bad_bytes_is_given_and_then_the_error() {
    let said =
        |text: &str| format!("{{\"kind\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n");
    let long = format!("{{\"kind\":\"notice\",\"text\":\"{}\"}}\n", "rain ".repeat(8_000));
    let history = [said("plant an oak"), long, said("plant a birch"), said("water them")].concat();
    let items = || ScanBackwards::new(Failing::new(history.as_str(), 0..20)).expect("seeking works");

    let mut live = ReplayBackwards::new(items());
    for wanted in ["water them", "plant a birch"] {
        let record = live.next().expect("it is there").expect("it can be read");
        assert_eq!(record.event.message.expect("it is one").content.text(), wanted);
    }
    assert_eq!(live.next().expect("the first line cannot be read").expect_err("it fails").to_string(), "a bad sector");
    assert!(live.next().is_none(), "it is told once");

    assert_eq!(last_messages(items(), 2).expect("no more is read than is asked for").messages.len(), 2);
    let errors = [last_messages(items(), 3).map(drop), last_model(items()).map(drop), last_report(items()).map(drop)];
    for error in errors {
        assert_eq!(error.expect_err("the first line cannot be read").to_string(), "a bad sector");
    }
}

#[test]
fn whole_bytes_are_those_up_to_the_newline_of_the_last_line_that_was_read() {
    let lines = ["{\"kind\":\"notice\"}\n", "\n", "not json\n", "{\"kind\":\"notice\",\"text\":\"a long rain\"}\n"];
    let torn = "{\"kind\":\"not";
    let history = lines.concat() + torn;
    let limits = Limits { max_line_bytes: 30 };
    for capacity in [5, 4_096] {
        let mut scan = Scan::with_limits(BufReader::with_capacity(capacity, history.as_bytes()), limits);
        assert_eq!(scan.whole_bytes(), 0, "nothing was read");
        // A blank line gives nothing: it is read on the way to the next one.
        for whole in [1, 3, 4, 4] {
            assert!(scan.next().expect("there is more").is_ok());
            assert_eq!(scan.whole_bytes(), lines[..whole].concat().len() as u64);
        }
        assert!(scan.next().is_none());
        assert_eq!(scan.whole_bytes(), lines.concat().len() as u64, "half a line is not whole");
    }
}
