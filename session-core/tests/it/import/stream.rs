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

#[test]
fn a_file_that_is_refused_is_described_without_its_content() {
    for (file, described) in [
        ("null", "line 1 is null"),
        ("\n\ntrue\n", "line 3 is a truth value"),
        ("17 18 19", "line 1 is a number"),
        ("\"a secret\"", "line 1 is a text"),
        ("[[\"a secret\",2]]", "line 1 is a list of 2"),
        ("{}", "line 1 is an object with "),
        (r#"{"oak":"a secret","birch":2}"#, "line 1 is an object with oak, birch"),
        (
            r#"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}"#,
            "line 1 is an object with a, b, c, d, e, f, g, h, …",
        ),
    ] {
        let Err(refused) = read_with(&[file.as_bytes()], ImportOptions::default()) else {
            unreachable!("{file} has no format")
        };
        assert_eq!(refused.to_string(), format!("file-0 has no format that is known: {described}"), "{file}");
    }
}

#[test]
fn formats_and_fates_have_the_names_that_are_shown() {
    let names = ImportFormat::ALL.map(ImportFormat::as_str);
    assert_eq!(names, ["claude", "codex", "openai", "pi", "gemini", "openhands"]);
    let fates = [LossFate::Dropped, LossFate::Repaired, LossFate::Kept, LossFate::Unreadable, LossFate::Unknown];
    assert_eq!(fates.map(LossFate::as_str), ["dropped", "repaired", "kept", "unreadable", "unknown"]);
}

/// A reader that is interrupted before each byte that it gives.
struct Interrupted<'a>(&'a [u8], bool);

impl Read for Interrupted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(&mut buffer[..1]) }
    }
}

#[test]
fn a_reader_that_is_interrupted_goes_on() {
    for file in [
        "\n{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":\"b\"}\n",
        "[{\"role\":\"user\",\"content\":\"a\"},\n {\"role\":\"user\",\"content\":\"b\"}]\n",
        "{\n \"messages\": [{\"role\":\"user\",\"content\":\"a\"},\n {\"role\":\"user\",\"content\":\"b\"}]\n}",
    ] {
        let reader = BufReader::new(Interrupted(file.as_bytes(), false));
        let mut import = session_core::interop::import::Import::new([("oaks.jsonl", reader)], ImportOptions::default());
        let sessions: Vec<_> = import.by_ref().map(|session| session.expect("it can be read")).collect();
        let outcome = super::Outcome { sessions, report: import.report().clone() };
        assert_eq!(
            (outcome.lines(), outcome.all_losses()),
            (vec!["user: a".into(), "user: b".into()], vec![]),
            "{file}"
        );
    }
}

#[test]
fn marks_of_order_of_files_that_were_put_together_cost_nothing() {
    let mark = "\u{feff}";
    let (a, b) = (r#"{"role":"user","content":"a"}"#, r#"{"role":"user","content":"b"}"#);
    for file in [
        format!("{mark}{a}\n{mark}{mark}{b}\n"),
        format!("{mark}[\n{mark}{a},\n{b}]\n{mark}"),
        format!("{mark}{{\n\"messages\":[{a},\n{b}]}}\n{mark}"),
    ] {
        let outcome = read(&file);
        assert_eq!(outcome.lines(), ["user: a", "user: b"], "{file}");
        assert_eq!(outcome.all_losses(), [""; 0], "{file}");
    }
    for file in
        [format!("{mark}[\n{a}]\n{mark}[{b}]"), format!("{{\"messages\":[\n{a}]}}\n{mark}{{\"messages\":[\n{b}]}}")]
    {
        let outcome = read(&file);
        assert_eq!((outcome.sessions.len(), outcome.all_losses()), (2, vec![]), "{file}");
    }
}

#[test]
fn half_a_pair_in_an_array_or_a_document_is_replaced_and_told() {
    for file in [
        "[{\"role\":\"user\",\"content\":\"a\"},\n{\"role\":\"user\",\"content\":\"half \\ud83d\"}]",
        "\n[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"half \\ud83d\"}]",
        "\n{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},\n{\"role\":\"user\",\"content\":\"half \\ud83d\"}]}",
    ] {
        let outcome = read(file);
        assert_eq!(outcome.lines(), ["user: a", "user: half \u{fffd}"], "{file}");
        assert_eq!(outcome.all_losses(), ["repaired: 1 text that is not Unicode @2"], "{file}");
    }
}
