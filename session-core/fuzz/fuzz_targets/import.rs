//! No bytes make an importer panic, and whatever it gives is a history with calls and results in pairs.
#![no_main]

#[path = "../../tests/it/import/check.rs"]
mod check;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check::check(bytes));
