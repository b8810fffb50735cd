//! Every way to replay an invented history tells what a naive fold tells.
#![no_main]

#[path = "../../tests/it/oracle.rs"]
mod oracle;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| oracle::check(bytes));
