//! Documents that a newer program wrote, or that are not what they should be: they stay, and nothing is done by them.

use super::{Machine, named, on_s3};
use session_store::remote::{PushOptions, RemoteError, RemoteResult};
use session_testing::s3::S3;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

const MANIFEST: &str = "bucket/team/manifests/demo.json";
const STORE: &str = "bucket/team/store.json";
const CONDEMNED: &str = "bucket/team/condemned.json";

/// A server with a copy of `demo`: one event and one file.
fn with_a_copy() -> (S3, Machine) {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    oak.create("demo");
    oak.says("demo", "plant three oaks");
    fs::write(oak.path("demo").join("tmp/out"), "three holes").expect("there is room");
    oak.push("demo").expect("it can be sent");
    (server, oak)
}

/// A machine that remembers nothing of the server, with a session of its own that was never sent.
fn stranger(server: &S3) -> Machine {
    let elm = Machine::new(on_s3(server, "elm"));
    elm.create("elms");
    elm.says("elms", "plant two elms");
    fs::write(elm.path("elms").join("tmp/out"), "two holes").expect("there is room");
    elm
}

fn is_newer<T: std::fmt::Debug>(refused: RemoteResult<T>, of: &str) {
    match refused {
        Err(RemoteError::NewerFormat { object, format: 99, known: 1 }) => assert_eq!(object, of),
        other => panic!("{of}: {other:?}"),
    }
}

fn is_damaged<T: std::fmt::Debug>(refused: RemoteResult<T>, of: &str, why: &str) {
    match refused {
        Err(RemoteError::Corrupt { object, what }) => {
            assert!(object == of && what.contains(why), "{of}: {object}: {what}");
        }
        other => panic!("{of}: {other:?}"),
    }
}

/// Puts a packed object where its name belongs, and makes the manifest name it as the document of the files.
fn name_files(server: &S3, document: &str) -> String {
    let sha: String = Sha256::digest(document).iter().map(|byte| format!("{byte:02x}")).collect();
    let object = format!("objects/{}/{sha}.zst", &sha[..2]);
    let packed = zstd::encode_all(document.as_bytes(), 3).expect("it is in memory");
    server.corrupt(&format!("bucket/team/{object}"), packed);
    change_manifest(server, |manifest| manifest["files"] = sha.into());
    object
}

fn change_manifest(server: &S3, change: impl FnOnce(&mut serde_json::Value)) {
    let mut manifest = serde_json::from_slice(&server.objects()[MANIFEST]).expect("it is JSON");
    change(&mut manifest);
    server.corrupt(MANIFEST, serde_json::to_vec(&manifest).expect("it is JSON"));
}

/// Whether everything that was there is as it was. A push sends its segment before it hears that it is refused; no copy
/// names that, and it is removed in time like all that nobody names.
fn is_untouched(server: &S3, before: &BTreeMap<String, Vec<u8>>) -> bool {
    let mut now = server.objects();
    now.retain(|key, _| before.contains_key(key) || !key.contains("/history/demo/"));
    now == *before
}

#[test]
fn a_store_that_a_newer_program_has_set_up_is_left_alone() {
    let (server, _) = with_a_copy();
    let newer = b"{\"format\":99,\"conditional_writes\":true}".to_vec();
    server.corrupt(STORE, newer);
    let before = server.objects();
    let elm = stranger(&server);
    is_newer(elm.remote.has_conditional_writes(), "store.json");
    is_newer(elm.push("elms"), "store.json");
    is_newer(elm.pull("demo"), "store.json");
    is_newer(elm.remote.lease(&named("demo"), Duration::from_secs(60)).map(drop), "store.json");
    is_newer(elm.remote.collect(false), "store.json");
    is_newer(elm.remote.remove(&named("demo"), &session_store::remote::RemoveOptions::default()), "store.json");
    assert_eq!(server.objects(), before, "nothing was written");
    assert!(!elm.path("demo").exists(), "nothing came in");
    // One that is none is damage, and is not written over either.
    server.corrupt(STORE, b"{\"format\":1}".to_vec());
    is_damaged(elm.push("elms"), "store.json", "conditional_writes");
    assert_eq!(server.objects()[STORE], b"{\"format\":1}");
}

#[test]
fn a_list_of_a_newer_program_of_what_is_to_be_removed_is_neither_followed_nor_replaced() {
    let (server, oak) = with_a_copy();
    let list = |format: u32| {
        format!(
            "{{\"format\":{format},\"by\":\"ash\",\"at\":\"2026-01-02T03:04:05Z\",\"removing\":null,\"objects\":[],\"later\":[]}}"
        )
    };
    server.corrupt(CONDEMNED, list(99).into_bytes());
    let before = server.objects();
    for dry_run in [true, false] {
        is_newer(oak.remote.collect(dry_run), "condemned.json");
    }
    let elm = stranger(&server);
    is_newer(elm.push("elms"), "condemned.json");
    assert_eq!(server.objects(), before, "nothing was written, and nothing removed");
    // A copy that needs nothing new of what is shared is not in its way.
    oak.says("demo", "and a birch");
    oak.push("demo").expect("it names no object that was not named");
    // With a format that is known the same list is read: it is old, and names nothing.
    server.corrupt(CONDEMNED, list(1).into_bytes());
    elm.push("elms").expect("nothing forbids it");
    oak.remote.collect(false).expect("it can be read");
    assert!(!server.objects().contains_key(CONDEMNED), "its day is over");
}

#[test]
fn a_document_of_files_that_a_newer_program_wrote_brings_nothing_in_and_stays() {
    let (server, oak) = with_a_copy();
    let object = name_files(&server, "{\"format\":99,\"files\":{}}");
    let before = server.objects();
    let elm = stranger(&server);
    is_newer(elm.pull("demo"), &object);
    assert!(!elm.path("demo").exists(), "nothing came in");
    oak.says("demo", "and a birch");
    is_newer(oak.push("demo"), &object);
    is_newer(elm.remote.collect(false), &object);
    assert!(is_untouched(&server, &before), "nothing was replaced, and nothing removed");
    let faults = oak.remote.verify(&named("demo")).expect("the manifest can be read").faults;
    assert!(matches!(&faults[..], [RemoteError::NewerFormat { format: 99, .. }]), "{faults:?}");
}

#[test]
fn a_manifest_that_cannot_be_read_is_a_fault_of_its_copy_and_nothing_is_done_by_it() {
    let (server, oak) = with_a_copy();
    oak.says("demo", "and a birch");
    let (whole, here) = (server.objects(), oak.history("demo"));
    // The second is as long as no manifest is, whatever it says.
    for (bytes, why) in [(b"{".to_vec(), "EOF"), (vec![b' '; (4 << 20) + 1], "at most 4194304 were expected")] {
        server.corrupt(MANIFEST, bytes);
        let before = server.objects();
        let verified = oak.remote.verify(&named("demo")).expect("what is wrong is part of the answer");
        assert_eq!((verified.objects, verified.bytes), (1, 0), "{why}");
        assert_eq!(verified.traffic.requests, 1, "{why}");
        let [fault] = <[RemoteError; 1]>::try_from(verified.faults).expect("it is the one fault");
        is_damaged::<()>(Err(fault), "manifests/demo.json", why);
        let elm = stranger(&server);
        is_damaged(elm.pull("demo"), "manifests/demo.json", why);
        assert!(!elm.path("demo").exists(), "nothing came in");
        for refused in [oak.push("demo"), oak.pull("demo")] {
            is_damaged(refused, "manifests/demo.json", why);
        }
        assert!(is_untouched(&server, &before), "nothing was replaced, and nothing removed");
        assert_eq!(oak.history("demo"), here);
    }
    server.corrupt(MANIFEST, whole[MANIFEST].clone());
    oak.push("demo").expect("it is whole again");
}

#[test]
fn a_segment_of_another_length_than_its_name_says_is_refused_and_what_is_here_stays() {
    let (server, oak) = with_a_copy();
    let elm = Machine::new(on_s3(&server, "elm"));
    elm.pull("demo").expect("it can be fetched");
    let old: Vec<String> = server.objects().into_keys().collect();
    oak.says("demo", "and a birch");
    oak.push("demo").expect("it can be sent");
    let objects = server.objects();
    let key = objects.keys().find(|key| key.contains("/history/") && !old.contains(key)).expect("one was sent");
    let object = key.strip_prefix("bucket/team/").expect("it is below the prefix");
    let (whole, here) = (zstd::decode_all(&objects[key][..]).expect("it is zstd"), elm.history("demo"));
    let packed = |bytes: &[u8]| zstd::encode_all(bytes, 3).expect("it is in memory");
    let cases = [
        (packed(&whole[..whole.len() - 1]), format!("it holds {} bytes and not {}", whole.len() - 1, whole.len())),
        (packed(&[&whole[..], b"\n"].concat()), format!("it holds more than {} bytes", whole.len())),
        (vec![b'x'; whole.len() + (64 << 10)], format!("it has {} bytes, at most", whole.len() + (64 << 10))),
    ];
    for (bytes, why) in cases {
        server.corrupt(key, bytes);
        is_damaged(elm.pull("demo"), object, &why);
        assert_eq!(elm.history("demo"), here, "{why}");
        let ash = Machine::new(on_s3(&server, "ash"));
        is_damaged(ash.pull("demo"), object, &why);
        assert!(!ash.path("demo").exists(), "{why}");
        let [fault] = &oak.remote.verify(&named("demo")).expect("the manifest is whole").faults[..] else {
            panic!("{why}")
        };
        assert!(fault.to_string().contains(&why), "{why}: {fault}");
    }
    server.corrupt(key, objects[key].clone());
    elm.pull("demo").expect("it is whole again");
    assert_eq!(elm.history("demo"), oak.history("demo"));
}

#[test]
fn what_options_and_stores_show_of_themselves_holds_nothing_of_a_redactor_or_a_request() {
    struct Masks;
    impl session_core::Redact for Masks {
        fn text<'a>(&self, text: &'a str) -> Result<std::borrow::Cow<'a, str>, session_core::RedactError> {
            Ok(text.into())
        }
    }
    let redactor: std::sync::Arc<dyn session_core::Redact> = std::sync::Arc::new(Masks);
    let options = PushOptions { name: Some(named("demo")), redactor: Some(redactor), dry_run: true };
    assert_eq!(
        format!("{options:?}"),
        "PushOptions { name: Some(SessionName(\"demo\")), redacted: true, dry_run: true }"
    );
    assert!(format!("{:?}", PushOptions::default()).contains("redacted: false"));
    let server = S3::start();
    let shown = format!("{:?}", on_s3(&server, "oak"));
    assert!(shown.contains("prefix: \"team\"") && shown.contains("AmazonS3(bucket)"), "{shown}");
}
