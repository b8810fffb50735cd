//! Whatever stands between the values of a file, and formats that are none.

use super::{read, read_with};
use session_core::interop::import::{ImportError, ImportFormat, ImportOptions, LossFate};
use std::io::{self, BufReader, Read};

#[test]
fn glued_objects_a_mark_of_order_padding_half_a_pair_and_a_torn_tail_cost_what_they_touch() {
    let file = concat!(
        "\u{feff}{\"role\":\"user\",\"content\":\"a\"}\r\n",
        "{\"role\":\"assistant\",\"content\":\"b\"}{\"role\":\"user\",\"content\":\"c\"}\n",
        "\0\0\0{\"role\":\"user\",\"content\":\"half \\ud83d\"}\n",
        "not json\n",
        "{\"role\":\"assistant\",\"cont",
    );
    let outcome = read(file);
    assert_eq!(outcome.lines(), ["user: a", "assistant: b", "user: c", "user: half \u{fffd}"]);
    assert_eq!(outcome.losses(LossFate::Unreadable), ["1 not JSON @4", "1 cut off @5"]);
    assert_eq!(outcome.losses(LossFate::Repaired), ["1 objects glued on one line @2", "1 text that is not Unicode @3"]);
    assert!(!outcome.report.is_complete() && !outcome.report.has_unknown());
}

#[test]
fn a_format_is_told_and_never_guessed() {
    for (file, format) in [
        (r#"{"type":"summary","summary":"a","leafUuid":"b"}"#, ImportFormat::Claude),
        (r#"{"timestamp":"t","type":"session_meta","payload":{}}"#, ImportFormat::Codex),
        (r#"{"id":"a","timestamp":"t","instructions":null}"#, ImportFormat::Codex),
        (r#"{"type":"session","id":"a","cwd":"/w","timestamp":"t"}"#, ImportFormat::Pi),
        (r#"{"sessionId":"a","projectHash":"b","startTime":"t","messages":[]}"#, ImportFormat::Gemini),
        (r#"{"id":"a","kind":"PauseEvent","source":"user","timestamp":"t"}"#, ImportFormat::OpenHands),
        (r#"{"role":"user","content":"a"}"#, ImportFormat::OpenAi),
    ] {
        assert_eq!(read(file).report.format, Some(format), "{file}");
    }
    for file in [
        r#"{"type":"session_start","id":"a","cwd":"/w"}
{"type":"message","id":"m1","message":{"role":"user","content":[{"type":"text","text":"a"}]}}"#,
        r#"{"type":"session.start","data":{},"id":"a","timestamp":"t","parentId":null}"#,
        r#"{"type":"metadata","protocol_version":"1"}"#,
        "17 18 19",
        "{}",
    ] {
        let refused = read_with(&[file.as_bytes()], ImportOptions::default());
        assert!(matches!(refused, Err(ImportError::Unrecognized { line: 1, .. })), "{file}");
    }
    for file in ["", "\n\n", "nothing but words"] {
        let refused = read_with(&[file.as_bytes()], ImportOptions::default());
        assert!(matches!(refused, Err(ImportError::Empty { .. })), "{file}");
    }
}

#[test]
fn a_format_that_is_asked_for_is_not_told_by_the_content() {
    let options = ImportOptions { format: Some(ImportFormat::Pi), ..ImportOptions::default() };
    let outcome = read_with(&[br#"{"role":"user","content":"a"}"#], options).expect("it is not looked for");
    assert!(outcome.report.has_unknown());
}

#[test]
fn a_reader_that_fails_ends_the_import_with_its_name() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    let mut import =
        session_core::interop::import::Import::new([("oaks.jsonl", BufReader::new(Broken))], ImportOptions::default());
    let error = import.next().expect("there is an answer").expect_err("the reader fails");
    assert!(matches!(&error, ImportError::Read { file, .. } if file == "oaks.jsonl"), "{error}");
    assert!(import.next().is_none());
    // Also one that fails in the middle, of lines and of a value that stands on many.
    for begun in ["{\"role\":\"user\",\"content\":\"a\"}\n", "[\n {\"role\": \"user\",\n  \"content\": \"a\"}\n"] {
        let reader = BufReader::new(begun.as_bytes().chain(Broken));
        let import = session_core::interop::import::Import::new([("oaks.jsonl", reader)], ImportOptions::default());
        let errors: Vec<_> = import.take(9).filter_map(Result::err).collect();
        assert!(matches!(&errors[..], [ImportError::Read { .. }]), "{begun}: {errors:?}");
    }
}
