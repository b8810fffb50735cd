//! Bundles that were cut off, or lost a bit on their way.

use super::forged::{Forged, entry, packed};
use super::{Elsewhere, bundle, fault_of, import};
use crate::scratch::{Scratch, name, user};
use session_store::{BundleFault, BundleSecrets, StoreError};
use std::fs;
use tar::EntryType;

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

#[test]
fn e03_bytes_that_are_not_those_that_were_written_are_told() {
    let (mut bytes, _) = oaks();
    // The last four are the checksum of all.
    *bytes.last_mut().expect("it has bytes") ^= 1;
    let (_, fault) = fault_of(&bytes);
    assert!(matches!(fault, BundleFault::Damaged { .. }), "{fault:?}");
}

#[test]
fn e03_a_manifest_of_no_sensible_length_is_not_read() {
    let mut header = tar::Header::new_gnu();
    header.set_path(".bundle.json").expect("it is short");
    header.set_size((64 << 20) + 1);
    header.set_cksum();
    let (member, fault) = fault_of(&packed(header.as_bytes()));
    assert!(matches!(fault, BundleFault::ManifestTooLong { .. }), "{member:?}: {fault:?}");
}

#[test]
fn e03_an_archive_that_ends_anywhere_before_its_end_leaves_nothing_though_it_was_packed_well() {
    let long = format!("oaks/tmp/{}", "oak-".repeat(40));
    let name = [long.as_bytes(), b"\0"].concat();
    let with_long = Forged::good()
        .listed(&long, "acorn")
        .raw(&entry("././@LongLink", EntryType::GNULongName, &name))
        .raw(&entry(&long[..100], EntryType::Regular, b"acorn"));
    let elsewhere = Elsewhere::new();
    super::imported(&elsewhere.store(), &with_long.bytes());
    assert_eq!(fs::read(elsewhere.0.path(&long)).expect("it came in"), b"acorn");
    let whole = with_long.tar();
    // What stands behind the first block of the end may be shorter, but not than a block.
    for len in 0..whole.len() {
        let elsewhere = Elsewhere::new();
        match import(&elsewhere.store(), &packed(&whole[..len])).expect_err("it is cut off") {
            StoreError::Bundle(error) => {
                assert!(matches!(error.fault, BundleFault::Truncated), "{len} of {}: {error:?}", whole.len());
            }
            error => panic!("{len}: {error}"),
        }
        assert!(elsewhere.is_empty(), "{len}");
    }
}

#[test]
fn e03_a_name_that_is_no_text_is_refused_and_shown_as_far_as_it_can_be() {
    let mut short = entry("oaks/tmp/x", EntryType::Regular, b"x");
    short[9] = 0xff;
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes().copy_from_slice(&short[..512]);
    header.set_cksum();
    let short = [header.as_bytes(), &short[512..]].concat();
    let long = [&entry("././@LongLink", EntryType::GNULongName, b"oaks/tmp/\xff\0")[..], &short].concat();
    for member in [short, long] {
        let (shown, fault) = fault_of(&Forged::good().raw(&member).bytes());
        assert_eq!(shown, "oaks/tmp/\u{fffd}");
        assert!(matches!(fault, BundleFault::Header), "{fault:?}");
    }
}

#[test]
fn a_bundle_for_which_there_is_no_room_is_told() {
    let scratch = Scratch::new();
    scratch.session("oaks", &[user(5, "plant three oaks")]);
    let store = scratch.store();
    let mut plan = store.bundle(BundleSecrets::Keep);
    plan.add(&name("oaks"), None, &mut |_| {}).expect("nothing forbids it");
    let full = fs::File::options().write(true).open("/dev/full").expect("the system has it");
    let Err(StoreError::BundleOutput { source }) = plan.write(full, &mut |_| {}) else { panic!("there is no room") };
    assert_eq!(source.kind(), std::io::ErrorKind::StorageFull);
}
