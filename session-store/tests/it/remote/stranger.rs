//! Reading a copy with nothing but the page on the format, a list of objects, and zstd.

use super::{Machine, on_s3};
use session_testing::s3::S3;
use std::collections::BTreeMap;

/// What `aws s3 cp … - | zstd -d` gives.
fn unpacked(objects: &BTreeMap<String, Vec<u8>>, key: &str) -> Vec<u8> {
    zstd::decode_all(&objects[&format!("bucket/team/{key}")][..]).expect("it is zstd")
}

#[test]
fn a_stranger_reads_a_history_and_a_file() {
    let server = S3::start();
    let oak = Machine::new(on_s3(&server, "oak"));
    oak.create("two words");
    for n in 0..20 {
        oak.says("two words", &format!("event {n}"));
        std::fs::write(oak.path("two words").join("tmp/out"), "a large output").expect("there is room");
        oak.push("two words").expect("it can be sent");
    }
    let objects = server.objects();
    let manifest = &objects["bucket/team/manifests/two=20words.json"];
    let manifest: serde_json::Value = serde_json::from_slice(manifest).expect("it is JSON");
    let segments = manifest["history"]["segments"].as_array().expect("they are a list");
    let mut history = Vec::new();
    for segment in segments {
        let name = segment.as_str().expect("they are names");
        history.extend(unpacked(&objects, &format!("history/two=20words/{name}.zst")));
    }
    assert_eq!(history, oak.history("two words"));
    assert_eq!(manifest["meta"]["title"], "Plant three oaks");
    let object = |sha: &str| format!("objects/{}/{sha}.zst", &sha[..2]);
    let files = unpacked(&objects, &object(manifest["files"].as_str().expect("it is a name")));
    let files: serde_json::Value = serde_json::from_slice(&files).expect("it is JSON");
    let parts = files["files"]["tmp/out"]["parts"].as_array().expect("they are a list");
    assert_eq!(unpacked(&objects, &object(parts[0].as_str().expect("it is a name"))), b"a large output");
}
