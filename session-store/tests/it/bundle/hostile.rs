//! What a bundle may not hold. Each archive is made by hand, and leaves nothing behind.

use super::forged::{Forged, HISTORY, entry, packed, sha256};
use super::{Elsewhere, fault_of, imported, refusal_within};
use crate::scratch::identity_json;
use session_core::PathRule;
use session_proc::Identity;
use session_store::{BundleFault, BundleLimits};
use tar::{EntryType, Header};

fn is_path(fault: &BundleFault, rule: PathRule) -> bool {
    matches!(fault, BundleFault::Path(error) if error.rule == rule)
}

#[test]
fn e03_a_forged_bundle_that_keeps_to_the_rules_comes_in() {
    let elsewhere = Elsewhere::new();
    assert_eq!(imported(&elsewhere.store(), &Forged::good().bytes()), ["oaks"]);
    assert_eq!(std::fs::read_to_string(elsewhere.0.path("oaks/history.jsonl")).expect("it is there"), HISTORY);
}

#[test]
fn e03_a_member_that_leads_out_of_its_session_is_refused() {
    for path in ["oaks/../birch/history.jsonl", "oaks/tmp/../../../x"] {
        let (member, fault) = fault_of(&Forged::good().file(path, "x").bytes());
        assert_eq!(member, path);
        assert!(is_path(&fault, PathRule::Dots), "{fault:?}");
        // In the archive alone it is no better.
        let (member, fault) = fault_of(&Forged::good().raw(&entry(path, EntryType::Regular, b"x")).bytes());
        assert_eq!(member, path);
        assert!(is_path(&fault, PathRule::Dots), "{fault:?}");
    }
}

#[test]
fn e03_an_absolute_path_is_refused() {
    let (_, fault) = fault_of(&Forged::good().file("oaks//etc/passwd", "x").bytes());
    assert!(is_path(&fault, PathRule::Absolute), "{fault:?}");
    let (member, fault) = fault_of(&Forged::good().raw(&entry("/etc/passwd", EntryType::Regular, b"x")).bytes());
    assert_eq!(member, "/etc/passwd");
    assert!(is_path(&fault, PathRule::Absolute), "{fault:?}");
}

#[test]
fn e03_links_are_refused() {
    for type_ in [EntryType::Symlink, EntryType::Link] {
        let link = entry("oaks/tmp/x", type_, b"");
        let (member, fault) = fault_of(&Forged::good().listed("oaks/tmp/x", "").raw(&link).bytes());
        assert_eq!(member, "oaks/tmp/x");
        assert!(matches!(fault, BundleFault::Link), "{fault:?}");
    }
}

#[test]
fn e03_devices_and_all_else_that_is_no_file_are_refused() {
    let kinds = [
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::GNUSparse,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
        EntryType::GNULongLink,
        EntryType::new(b'V'),
    ];
    for type_ in kinds {
        let (member, fault) = fault_of(&Forged::good().raw(&entry("oaks/tmp/x", type_, b"")).bytes());
        assert_eq!(member, "oaks/tmp/x", "{type_:?}");
        assert!(matches!(fault, BundleFault::Kind), "{type_:?}: {fault:?}");
    }
}

#[test]
fn e03_a_member_that_comes_twice_is_refused() {
    let again = entry("oaks/history.jsonl", EntryType::Regular, HISTORY.as_bytes());
    let (member, fault) = fault_of(&Forged::good().raw(&again).bytes());
    assert_eq!(member, "oaks/history.jsonl");
    assert!(matches!(fault, BundleFault::Duplicate), "{fault:?}");
    let (_, fault) = fault_of(&Forged::good().file("oaks/history.jsonl", HISTORY).bytes());
    assert!(matches!(fault, BundleFault::Duplicate), "also where the manifest says so: {fault:?}");
}

#[test]
fn e03_members_out_of_their_order_are_refused() {
    let (member, fault) = fault_of(&Forged::good().file("oaks/.raw/x", "x").bytes());
    assert_eq!(member, "oaks/.raw/x");
    assert!(matches!(fault, BundleFault::Duplicate), "{fault:?}");
}

#[test]
fn e03_a_member_that_the_manifest_does_not_name_is_refused() {
    let stranger = entry("oaks/tmp/x", EntryType::Regular, b"x");
    for forged in [Forged::default().raw(&stranger).file("oaks/history.jsonl", HISTORY), Forged::good().raw(&stranger)]
    {
        let (member, fault) = fault_of(&forged.bytes());
        assert_eq!(member, "oaks/tmp/x");
        assert!(matches!(fault, BundleFault::Unlisted), "{fault:?}");
    }
}

#[test]
fn e03_a_member_that_is_missing_is_refused() {
    let at_the_end = Forged::good().listed("oaks/tmp/x", "x");
    let in_between = Forged::default().listed("oaks/.raw/x", "x").file("oaks/history.jsonl", HISTORY);
    for (forged, missing) in [(at_the_end, "oaks/tmp/x"), (in_between, "oaks/.raw/x")] {
        let (member, fault) = fault_of(&forged.bytes());
        assert_eq!(member, missing);
        assert!(matches!(fault, BundleFault::Missing), "{fault:?}");
    }
}

#[test]
fn e03_a_member_of_another_length_or_kind_than_the_manifest_says_is_refused() {
    let longer = entry("oaks/tmp/x", EntryType::Regular, b"xy");
    let dir = entry("oaks/tmp/x/", EntryType::Directory, b"");
    for raw in [longer, dir] {
        let (member, fault) = fault_of(&Forged::good().listed("oaks/tmp/x", "x").raw(&raw).bytes());
        assert_eq!(member, "oaks/tmp/x");
        assert!(matches!(fault, BundleFault::Mismatch), "{fault:?}");
    }
}

#[test]
fn e03_a_member_with_other_bytes_than_the_manifest_means_is_refused() {
    let other = entry("oaks/tmp/x", EntryType::Regular, b"y");
    let (member, fault) = fault_of(&Forged::good().listed("oaks/tmp/x", "x").raw(&other).bytes());
    assert_eq!(member, "oaks/tmp/x");
    assert!(matches!(fault, BundleFault::Digest), "{fault:?}");
}

#[test]
fn e03_a_file_in_the_place_of_a_directory_is_refused() {
    let forged = Forged::good().file("oaks/tmp/x", "x").file("oaks/tmp/x/y", "y");
    let elsewhere = Elsewhere::new();
    super::import(&elsewhere.store(), &forged.bytes()).expect_err("the file is no directory");
    assert!(elsewhere.is_empty());
}

#[test]
fn s03_a_session_with_a_bad_name_is_refused() {
    for name in ["../x", "", ".", "a/b", "-rf", "a\\u0000b"] {
        let manifest = format!(
            "{{\"schema\":\"session/bundle.v1\",\"masked\":false,\"sessions\":[{{\"name\":\"{name}\",\"members\":[]}}]}}"
        );
        let (_, fault) = fault_of(&Forged::default().manifest(&manifest).bytes());
        assert!(matches!(fault, BundleFault::Name(_)), "{name}: {fault:?}");
    }
}

#[test]
fn e03_two_sessions_of_one_name_are_refused() {
    let one = "{\"name\":\"oaks\",\"members\":[]}";
    let manifest = format!("{{\"schema\":\"session/bundle.v1\",\"masked\":false,\"sessions\":[{one},{one}]}}");
    let (member, fault) = fault_of(&Forged::default().manifest(&manifest).bytes());
    assert_eq!(member, "oaks");
    assert!(matches!(fault, BundleFault::Duplicate), "{fault:?}");
}

#[test]
fn e03_what_belongs_to_a_machine_is_refused() {
    let paths = [
        ".lock",
        ".bundle",
        "proc/turn.pid",
        "proc/.turn",
        "checkpoints/restore.journal",
        "checkpoints/repo.git/config",
        "checkpoints/.git/hooks/post-checkout",
        "checkpoints/repo.git/objects/info/alternates",
    ];
    for path in paths {
        let member = format!("oaks/{path}");
        let (told, fault) = fault_of(&Forged::default().file(&member, "x").bytes());
        assert_eq!(told, member);
        assert!(matches!(fault, BundleFault::NotPortable), "{path}: {fault:?}");
    }
}

#[test]
fn p03_a_record_that_leads_to_a_process_is_refused() {
    let own = Identity::own().expect("/proc is readable");
    let running = format!(
        "{{\"id\":\"bg1\",\"command\":\"sleep 9\",\"cwd\":\"/w\",\"pid\":{},\"started\":\"2026-01-02T03:04:05Z\",\"state\":\"running\",\"exit_code\":0,\"ended\":\"0001-01-01T00:00:00Z\"}}",
        own.pid
    );
    let known = format!("{{\"process\":{}}}\n", identity_json(&own));
    for (path, text) in [("proc/bg1.json", &running), ("proc/.bg1.id", &known), ("proc/bg2.json", &"{".to_owned())] {
        let member = format!("oaks/{path}");
        let (told, fault) = fault_of(&Forged::default().file(&member, text).bytes());
        assert_eq!(told, member);
        assert!(matches!(fault, BundleFault::Process), "{path}: {fault:?}");
    }
    let claim = format!("oaks/inbox/.claims/1-2.0a0b0c0d@{}-{}-{}", own.pid, own.start_ticks, own.boot_id);
    let (told, fault) = fault_of(&Forged::default().file(&claim, "x").bytes());
    assert_eq!(told, claim);
    assert!(matches!(fault, BundleFault::Process), "{fault:?}");
}

#[test]
fn e03_a_manifest_that_is_none_is_refused() {
    let manifests = ["", "{", "{\"schema\":7}", "{\"schema\":\"session/bundle.v1\"}"];
    for manifest in manifests {
        let (member, fault) = fault_of(&Forged::default().manifest(manifest).bytes());
        assert_eq!(member, ".bundle.json");
        assert!(matches!(fault, BundleFault::Manifest { .. }), "{manifest}: {fault:?}");
    }
    let (_, fault) = fault_of(&Forged::default().manifest("{\"schema\":\"session/bundle.v2\"}").bytes());
    assert!(matches!(fault, BundleFault::NewerFormat { .. }), "{fault:?}");
    for other in ["{\"schema\":\"a/b\"}", "{}", "[]"] {
        let (_, fault) = fault_of(&Forged::default().manifest(other).bytes());
        assert!(matches!(fault, BundleFault::NoBundle), "{fault:?}");
    }
}

#[test]
fn e03_what_is_no_bundle_is_refused() {
    let gzip = [0x1f, 0x8b, 8, 0, 0];
    let empty = packed(&[]);
    let other = packed(&[entry("readme", EntryType::Regular, b"x"), vec![0; 1024]].concat());
    for bytes in [&b""[..], b"x", b"{}\n", &gzip, &other] {
        let (_, fault) = fault_of(bytes);
        assert!(matches!(fault, BundleFault::NoBundle), "{fault:?}");
    }
    let (_, fault) = fault_of(&empty);
    assert!(matches!(fault, BundleFault::Truncated), "{fault:?}");
    let (_, fault) = fault_of(&packed(&[7; 2048]));
    assert!(matches!(fault, BundleFault::Header), "{fault:?}");
}

#[test]
fn e03_what_stands_behind_the_end_is_refused() {
    let good = Forged::good();
    let trailing = [
        [&good.bytes()[..], b"x"].concat(),
        [good.bytes(), good.bytes()].concat(),
        packed(&[good.tar(), vec![7; 512]].concat()),
        packed(&[good.tar(), vec![0; 2 << 20]].concat()),
    ];
    for bytes in trailing {
        let (_, fault) = fault_of(&bytes);
        assert!(matches!(fault, BundleFault::Trailing), "{fault:?}");
    }
    // As other programs fill an archive up.
    let elsewhere = Elsewhere::new();
    assert_eq!(imported(&elsewhere.store(), &packed(&[good.tar(), vec![0; 9_216]].concat())), ["oaks"]);
}

#[test]
fn e03_a_long_name_that_has_no_end_is_not_read() {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..13].copy_from_slice(b"././@LongLink");
    header.set_entry_type(EntryType::GNULongName);
    header.set_size(1 << 40);
    header.set_cksum();
    let (_, fault) = fault_of(&Forged::good().raw(header.as_bytes()).bytes());
    assert!(matches!(fault, BundleFault::Header), "{fault:?}");
}

#[test]
fn e03_a_bundle_that_grows_too_much_is_refused() {
    let zeros = vec![0; 64 << 20];
    let manifest = format!(
        "{{\"schema\":\"session/bundle.v1\",\"masked\":false,\"sessions\":[{{\"name\":\"oaks\",\"members\":[{{\"path\":\"tmp/x\",\"bytes\":{},\"sha256\":\"{}\"}}]}}]}}",
        zeros.len(),
        sha256(&zeros)
    );
    let bomb = Forged::default().manifest(&manifest).raw(&entry("oaks/tmp/x", EntryType::Regular, &zeros)).bytes();
    assert!(bomb.len() < 16 << 10, "{}", bomb.len());
    let (member, fault) = fault_of(&bomb);
    assert_eq!(member, "oaks/tmp/x");
    assert!(matches!(fault, BundleFault::Expands { limit: 1_000 }), "{fault:?}");
    // Who asks for it gets it.
    let elsewhere = Elsewhere::new();
    let limits = BundleLimits { max_expansion: 1_000_000, ..BundleLimits::default() };
    let contents = elsewhere.store().examine_bundle(super::how().file, &bomb[..], &limits).expect("it is allowed");
    assert_eq!(contents.sessions[0].bytes, zeros.len() as u64);
}

#[test]
fn e03_a_bundle_beyond_the_limits_is_refused_by_its_manifest() {
    let forged = Forged::good().file("oaks/tmp/x", "x").bytes();
    let fault = |limits| refusal_within(&forged, limits).fault;
    let limits = BundleLimits { max_members: 1, ..BundleLimits::default() };
    assert!(matches!(fault(limits), BundleFault::TooMany { members: 2, limit: 1 }));
    let limits = BundleLimits { max_bytes: HISTORY.len() as u64, ..BundleLimits::default() };
    assert!(matches!(fault(limits), BundleFault::TooLarge { .. }));
    // What a manifest promises is bound before a byte of it is there.
    let manifest = "{\"schema\":\"session/bundle.v1\",\"masked\":false,\"sessions\":[{\"name\":\"oaks\",\"members\":[{\"path\":\"tmp/x\",\"bytes\":18446744073709551615,\"sha256\":\"00\"},{\"path\":\"tmp/y\",\"bytes\":18446744073709551615,\"sha256\":\"00\"}]}]}";
    let (_, fault) = fault_of(&Forged::default().manifest(manifest).bytes());
    assert!(matches!(fault, BundleFault::TooLarge { .. }), "{fault:?}");
}
