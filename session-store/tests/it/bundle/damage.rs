//! Bundles that were cut off, or lost a bit on their way.

use super::{Elsewhere, bundle, import};
use crate::scratch::{Scratch, user};
use session_store::{BundleFault, StoreError};
use std::fs;

fn oaks() -> (Vec<u8>, Vec<u8>) {
    let scratch = Scratch::new();
    scratch.session("oaks", &[user(5, "plant three oaks"), user(6, "and a birch")]);
    scratch.put("oaks/tmp/shell-1.txt", "three oaks\n".repeat(30));
    let history = fs::read(scratch.path("oaks/history.jsonl")).expect("it is there");
    (bundle(&scratch.store(), &["oaks"]), history)
}

#[test]
fn e03_a_bundle_that_was_cut_off_anywhere_leaves_nothing() {
    let (whole, _) = oaks();
    let elsewhere = Elsewhere::new();
    for len in 0..whole.len() {
        match import(&elsewhere.store(), &whole[..len]).expect_err("it is cut off") {
            StoreError::Bundle(error) => {
                let is_told = matches!(error.fault, BundleFault::Truncated | BundleFault::NoBundle);
                assert!(is_told, "{len} of {}: {error:?}", whole.len());
            }
            error => panic!("{len}: {error}"),
        }
        assert!(elsewhere.is_empty(), "{len}");
    }
}

#[test]
fn e03_a_byte_that_changed_anywhere_leaves_nothing_or_what_was_meant() {
    let (whole, history) = oaks();
    let mut harmless = 0;
    for at in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            let elsewhere = Elsewhere::new();
            match import(&elsewhere.store(), &bytes) {
                Err(StoreError::Bundle(_)) => assert!(elsewhere.is_empty(), "{at}"),
                Err(error) => panic!("{at}: {error}"),
                // A few bits say nothing: the size of a window that is large enough, what fills the last byte of a stream.
                Ok(_) => {
                    harmless += 1;
                    let came = fs::read(elsewhere.0.path("oaks/history.jsonl")).expect("it came in");
                    assert!(came == history && bundle(&elsewhere.store(), &["oaks"]) == whole, "{at}");
                }
            }
        }
    }
    assert!(harmless < whole.len() / 100, "{harmless}");
}
