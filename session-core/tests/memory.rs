//! What a load holds in memory, counted by the allocator. A program of its own, because an allocator is the whole
//! program's.

use session_core::{Conversation, Limits, Message};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[global_allocator]
static HEAP: Heap = Heap;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, and how much is held: what glibc takes for it, header and rounding included.
struct Heap;

fn taken(size: usize) -> usize {
    (size + 8).next_multiple_of(16).max(32)
}

fn count(from: usize, to: usize) {
    HELD.fetch_add(to, Relaxed);
    let held = HELD.fetch_sub(from, Relaxed) - from;
    PEAK.fetch_max(held, Relaxed);
}

// SAFETY: every call goes on to the system's allocator as it came; counting touches no memory.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, taken(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`, which is the same one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(taken(layout.size()), 0);
        // SAFETY: the block came from `System`, and the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(taken(layout.size()), taken(size));
        // SAFETY: the block came from `System`, and the caller keeps the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// A vector grows by doubling, so at this length all of it is in use.
const MESSAGES: usize = 1 << 14;

fn history(text: &str) -> String {
    let mut history = String::new();
    for number in 0..MESSAGES {
        let role = ["user", "assistant"][number % 2];
        let second = number % 60;
        let message = format!(r#"{{"role":"{role}","content":"{text}"}}"#);
        writeln!(history, r#"{{"ts":"2026-01-02T03:04:{second:02}Z","kind":"message","message":{message}}}"#)
            .expect("a string takes everything");
    }
    history
}

#[test]
fn a_message_takes_no_more_than_it_needs_beside_its_text() {
    assert!(size_of::<Message>() <= 112, "{} bytes", size_of::<Message>());
}

#[test]
fn a_load_holds_the_messages_with_their_texts_and_a_buffer() {
    let text = "plant three oaks in the north row\\n".repeat(27);
    let history = history(&text);
    let decoded = text.replace("\\n", "\n").len();
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let conversation = Conversation::read(history.as_bytes(), Limits::default()).expect("memory can be read");
    let peak = PEAK.load(Relaxed) - before;
    assert_eq!(conversation.messages.len(), MESSAGES);
    let messages = MESSAGES * (size_of::<Message>() + taken(decoded));
    let most = messages + 256 * 1024;
    assert!((messages..most).contains(&peak), "{peak} bytes at the peak, {messages} of them messages");
    // The goal for long histories of short messages, without the 8 MiB that it grants beside.
    assert!(peak * 100 <= MESSAGES * decoded * 115 + 100 * 256 * 1024, "{peak} for {} of text", MESSAGES * decoded);
}
