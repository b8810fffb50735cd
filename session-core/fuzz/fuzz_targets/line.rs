//! Whatever a line gives survives being written and read again.
#![no_main]

#[path = "../../tests/it/codec.rs"]
mod codec;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &[u8]| codec::check(line));
