//! Reading a history forwards, from the end, with other buffers and without bodies gives the same.
//!
//! The first two bytes choose the buffer and the longest line.
#![no_main]

#[path = "../../tests/it/directions.rs"]
mod directions;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [capacity, bound, history @ ..] = bytes else { return };
    // A bound of 255 stands for none that matters.
    let max_line_bytes = if *bound == u8::MAX { 1 << 30 } else { u64::from(*bound) };
    directions::check(history, usize::from(*capacity) + 1, max_line_bytes);
});
