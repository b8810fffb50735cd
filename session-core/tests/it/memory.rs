//! Reading costs what is live and one line, whatever the file holds.

use session_core::{Conversation, Fault, Item, Limits, Scan, ScanBackwards, count, last_messages};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Counts what each thread holds. Tests that run beside one another do not see each other.
struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn note(size: usize, freed: usize) {
    let held = HELD.get().saturating_add(size).saturating_sub(freed);
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator as it came; counting touches two thread-local numbers that need
// neither memory nor a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        note(0, layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // For a moment, both may be held.
        note(size, 0);
        note(0, layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

/// The most that was held at a time while `work` ran, beyond what was held before it.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let done = work();
    (done, PEAK.get() - before)
}

/// A file that is never in memory: `size` bytes, and the byte at each place.
struct Virtual<F> {
    at: u64,
    size: u64,
    byte: F,
}

impl<F: Fn(u64) -> u8> Read for Virtual<F> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = buf.len().min(usize::try_from(self.size.saturating_sub(self.at)).unwrap_or(usize::MAX));
        for byte in &mut buf[..len] {
            *byte = (self.byte)(self.at);
            self.at += 1;
        }
        Ok(len)
    }
}

impl<F> Seek for Virtual<F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(_) => self.size,
            SeekFrom::Current(_) => self.at,
        };
        Ok(self.at)
    }
}

const EVENT: &[u8] = b"{\"kind\":\"notice\",\"text\":\"after\"}\n";
const GIANT: u64 = 100 << 20;
const BOUND: Limits = Limits { max_line_bytes: 1 << 20 };

/// A line of [`GIANT`] bytes between two events.
fn giant() -> Virtual<impl Fn(u64) -> u8> {
    let event = EVENT.len() as u64;
    let byte = move |at: u64| match at {
        at if at < event => EVENT[usize::try_from(at).expect("it is small")],
        at if at < event + GIANT => b'a',
        at if at == event + GIANT => b'\n',
        at => EVENT[usize::try_from(at - event - GIANT - 1).expect("it is small")],
    };
    Virtual { at: 0, size: 2 * event + GIANT + 1, byte }
}

fn told(items: impl Iterator<Item = io::Result<Item>>) -> Vec<String> {
    let word = |item| match item {
        Item::Record(record) => format!("event at {}", record.place.offset),
        Item::Defect(defect) => {
            assert_eq!(defect.fault, Fault::TooLong { limit: BOUND.max_line_bytes });
            format!("{} bytes too long at {}", defect.len, defect.place.offset)
        }
    };
    items.map(|item| word(item.expect("it has no read errors"))).collect()
}

#[test]
fn h06_i16_a_line_beyond_the_bound_is_a_defect_and_costs_no_memory() {
    let mut wanted =
        ["event at 0".to_owned(), format!("{GIANT} bytes too long at 33"), format!("event at {}", 34 + GIANT)];
    let (forwards, held) = peak(|| told(Scan::with_limits(BufReader::new(giant()), BOUND)));
    assert_eq!(forwards, wanted);
    assert!(held < 4 << 20, "forwards: {held} bytes");

    let backwards = || ScanBackwards::with_limits(giant(), BOUND).expect("it can be sought in");
    let (from_the_end, held) = peak(|| told(backwards()));
    wanted.reverse();
    assert_eq!(from_the_end, wanted);
    assert!(held < 8 << 20, "from the end: {held} bytes");
}

#[test]
fn h06_a_line_of_eleven_mebibytes_loads_unless_a_smaller_bound_is_asked_for() {
    let long = "a".repeat(11 << 20);
    let history = format!(
        "{{\"kind\":\"tool_result\",\"message\":{{\"role\":\"tool\",\"content\":\"{long}\"}}}}\n{{\"role\":\"user\",\"content\":\"b\"}}\n"
    );
    let load = |limits| Conversation::read(history.as_bytes(), limits).expect("a slice has no read errors");
    let whole = load(Limits::default());
    assert_eq!((whole.messages.len(), whole.defects.len()), (2, 0));
    assert_eq!(whole.messages[0].content.text(), long);
    let bounded = load(Limits { max_line_bytes: 10 << 20 });
    assert_eq!((bounded.messages.len(), bounded.skipped, bounded.is_complete()), (1, 1, false));
}

/// Two messages and a rollback of both, again and again.
struct Repeating {
    left: u64,
    at: usize,
}

const ROUND: &[u8] = b"{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"plant three oaks\"}}\n\
{\"role\":\"assistant\",\"content\":\"digging\"}\n\
{\"kind\":\"rollback\",\"dropped\":2}\n";

impl Read for Repeating {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.len().min(buf.len());
        buf[..len].copy_from_slice(&ROUND[self.at..self.at + len]);
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for Repeating {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(if self.left == 0 { &[] } else { &ROUND[self.at..] })
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
        if self.at == ROUND.len() {
            self.at = 0;
            self.left -= 1;
        }
    }
}

#[test]
fn i16_replaying_holds_what_is_live_and_not_what_was() {
    let history = || Repeating { left: 100_000, at: 0 };
    let (conversation, held) = peak(|| Conversation::read(history(), Limits::default()));
    assert!(conversation.expect("it has no read errors").messages.is_empty());
    assert!(held < 64 << 10, "loading: {held} bytes");
    let (counted, held) = peak(|| count(history(), Limits::default()));
    assert_eq!(counted.expect("it has no read errors").events, 300_000);
    assert!(held < 16 << 10, "counting: {held} bytes");
}

#[test]
fn i16_the_end_of_a_large_file_is_read_without_its_beginning() {
    let line = b"{\"role\":\"user\",\"content\":\"plant three oaks, and then three more\"}\n";
    let size = line.len() as u64 * 100_000_000;
    let byte = |at: u64| line[usize::try_from(at % line.len() as u64).expect("it is small")];
    let file = Virtual { at: 0, size, byte };
    let backwards = ScanBackwards::new(file).expect("it can be sought in");
    let (last, held) = peak(|| last_messages(backwards, 20));
    assert_eq!(last.expect("it has no read errors").messages.len(), 20);
    assert!(held < 128 << 10, "{held} bytes");
}

/// Lines, one at a time, and how much more was held, when each had been taken, than at first.
struct Watched {
    lines: Vec<Vec<u8>>,
    at: usize,
    before: usize,
    held: Vec<usize>,
}

impl Read for &mut Watched {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.len().min(buf.len());
        buf[..len].copy_from_slice(&self.lines[self.at][..len]);
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for &mut Watched {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.lines.get(self.at).map_or(&[], Vec::as_slice))
    }

    fn consume(&mut self, amount: usize) {
        if amount > 0 {
            self.held.push(HELD.get().saturating_sub(self.before));
            self.at += 1;
        }
    }
}

#[test]
fn i16_what_decoding_a_long_text_took_is_given_back() {
    let said = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n").into_bytes();
    let event = |text: &str| {
        let message = r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"#;
        format!("{message}\"{text}\"}}}}\n").into_bytes()
    };
    let gone = b"{\"kind\":\"rollback\",\"dropped\":1}\n".to_vec();
    let long = "plant three oaks\\n".repeat(1 << 19);
    let lines = vec![event(&long), gone, event("water them"), event("rest"), said("go on")];
    let mut watched = Watched { lines, at: 0, before: HELD.get(), held: Vec::new() };
    let conversation = Conversation::read(&mut watched, Limits::default()).expect("it has no read errors");
    assert_eq!(conversation.messages.len(), 3);
    let held = &watched.held;
    assert!(held[0] > 8 << 20, "the text is live: {held:?}");
    assert!(held[1..].iter().all(|held| *held < 1 << 20), "it was taken back: {held:?}");
}
