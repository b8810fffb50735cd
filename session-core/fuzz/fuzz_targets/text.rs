//! A text in quotes is read as a strict JSON reader reads it.
#![no_main]

#[path = "../../tests/it/text.rs"]
mod text;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &[u8]| text::check(raw));
