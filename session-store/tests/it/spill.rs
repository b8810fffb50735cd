//! Output that is too large for a message.

use crate::support::{Session, files};
use session_disk::faults::{self, Fault};
use session_store::{Durability, Preview, PreviewSize, Spill, StoreError};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;

fn spill(session: &Session) -> Spill {
    Spill::new(session.paths.clone(), "demo", Durability::Data)
}

#[test]
fn t03_the_middle_that_is_left_out_is_marked_with_its_size_and_where_all_of_it_is() {
    let session = Session::new();
    let output: String = (0..300_000).map(|n| format!("line {n} of the output\n")).collect();
    assert!(output.len() > 5_000_000);
    let size = PreviewSize::default();
    let spilled = spill(&session).bytes("cargo test", output.as_bytes(), size).expect("there is room");
    assert_eq!(fs::read_to_string(&spilled.path).expect("it is complete"), output);

    let text = spilled.text();
    let (head, rest) = text.split_once('[').expect("there is a marker");
    let (marker, tail) = rest.split_once("]\n").expect("it has an end");
    assert!(output.starts_with(head) && head.ends_with('\n') && head.len() > size.head_bytes - 40);
    assert!(output.ends_with(tail) && tail.starts_with("line ") && tail.len() > size.tail_bytes - 40);
    let left_out = &output[head.len()..output.len() - tail.len()];
    let lines = left_out.matches('\n').count();
    let path = spilled.in_session();
    assert_eq!(marker, format!("{} bytes, {lines} lines left out: all of it is in {path}", left_out.len()));
    assert!(path.starts_with("tmp/cargo-test-"));
    assert_eq!(session.paths.dir().join(path), spilled.path);
    assert_eq!((spilled.preview.bytes, spilled.preview.lines), (output.len() as u64, 300_000));
}

#[test]
fn t03_a_preview_is_never_cut_inside_a_character() {
    for text in ["木".repeat(100), "é😀".repeat(50), format!("{}\n", "x木".repeat(60))] {
        for head_bytes in 0..12 {
            for tail_bytes in 0..12 {
                let preview = Preview::of(text.as_bytes(), PreviewSize { head_bytes, tail_bytes });
                let (head, tail) = (&preview.head, &preview.tail);
                assert!(text.starts_with(head.as_str()), "{head:?}");
                assert!(text.ends_with(tail.as_str()), "{tail:?}");
                assert!(head.len() <= head_bytes && head.len() + 3 >= head_bytes, "{head_bytes}: {head:?}");
                assert!(tail.len() <= tail_bytes && tail.len() + 3 >= tail_bytes, "{tail_bytes}: {tail:?}");
                let left_out = text.len() - head.len() - tail.len();
                assert_eq!(preview.left_out_bytes, left_out as u64);
            }
        }
    }
}

#[test]
fn nothing_is_left_out_of_what_fits_and_bytes_that_are_no_text_are_shown_as_such() {
    let size = PreviewSize { head_bytes: 3, tail_bytes: 3 };
    for (output, text) in [(&b""[..], ""), (b"abc", "abc"), (b"a\nbcd\n", "a\nbcd\n"), (b"a\xFFb", "a\u{FFFD}b")] {
        let preview = Preview::of(output, size);
        assert_eq!((preview.text(None).as_str(), preview.left_out_bytes), (text, 0));
    }
    let marked = Preview::of(b"ab\ncd\nef\n", size).text(None);
    assert_eq!(marked, "ab\n[3 bytes, 1 line left out: it was not kept]\nef\n");
    assert_eq!(Preview::of(b"abcdefgh", size).text(None), "abc\n[2 bytes, 0 lines left out: it was not kept]\nfgh");
    assert_eq!(Preview::of(b"", size).lines, 0);
    assert_eq!(Preview::of(b"a\nb", size).lines, 2);
}

/// Gives its bytes a few at a time, and may fail after them.
struct Slow<'a> {
    rest: &'a [u8],
    fails: bool,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.rest.len().min(7).min(buffer.len());
        if len == 0 && self.fails {
            return Err(io::Error::other("the pipe broke"));
        }
        buffer[..len].copy_from_slice(&self.rest[..len]);
        self.rest = &self.rest[len..];
        Ok(len)
    }
}

#[test]
fn a_reader_gives_the_same_as_bytes_however_it_is_read() {
    let session = Session::new();
    let output: String = (0..500).map(|n| format!("{n}: 木\n")).collect();
    let size = PreviewSize { head_bytes: 100, tail_bytes: 64 };
    let slow = Slow { rest: output.as_bytes(), fails: false };
    let spilled = spill(&session).reader("x", slow, size).expect("there is room");
    assert_eq!(spilled.preview, Preview::of(output.as_bytes(), size));
    assert_eq!(fs::read_to_string(&spilled.path).expect("it is complete"), output);
    assert_eq!(fs::metadata(&spilled.path).expect("it is there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn t01_when_the_output_ends_in_an_error_there_is_no_file() {
    let session = Session::new();
    let slow = Slow { rest: b"some output", fails: true };
    let error = spill(&session).reader("x", slow, PreviewSize::default()).expect_err("the reader fails");
    assert!(matches!(error, StoreError::SpillInput { .. }), "{error}");
    assert!(files(&session.paths.tmp()).is_empty());
}

#[test]
fn t01_i29_when_any_operation_fails_no_path_is_told_and_when_none_does_the_file_is_complete() {
    for fault in [|at| Fault::Fail { at }, |at| Fault::Full { at }, |at| Fault::Stop { at }] {
        for at in 0.. {
            let session = Session::in_memory();
            let run = faults::with(fault(at), || spill(&session).bytes("x", b"some output", PreviewSize::default()));
            match run.result {
                Ok(spilled) => assert_eq!(fs::read(spilled.path).expect("it is complete"), b"some output"),
                Err(error) => {
                    assert!(run.hit && matches!(error, StoreError::Disk(_)), "{error}");
                    let died = matches!(fault(at), Fault::Stop { .. });
                    assert!(died || files(&session.paths.tmp()).is_empty(), "{at} of {:?}", run.ops);
                    // After a death a file under its own name is complete, whether or not its path could be told.
                    for path in files(&session.paths.tmp()) {
                        let name = path.file_name().expect("it has one").to_string_lossy().into_owned();
                        let complete = fs::read(&path).expect("it was just listed") == b"some output";
                        assert!(complete || name.starts_with(".tmp-"), "{at} of {:?}: {name}", run.ops);
                    }
                }
            }
            if !run.hit {
                break;
            }
        }
    }
}

#[test]
fn s03_a_hint_leads_nowhere() {
    let session = Session::new();
    for hint in ["../../escaped", "/etc/passwd", "", ".hidden", "a\0b", &"x".repeat(1000)] {
        let spilled = spill(&session).bytes(hint, b"x", PreviewSize::default()).expect("there is room");
        assert_eq!(spilled.path.parent(), Some(&*session.paths.tmp()));
    }
    assert_eq!(files(&session.paths.tmp()).len(), 6);
    assert_eq!(files(session.base()), [session.paths.dir().to_owned()]);
    fs::remove_dir_all(session.paths.dir()).expect("it is there");
    let error = spill(&session).bytes("x", b"x", PreviewSize::default()).expect_err("there is no session");
    assert!(matches!(error, StoreError::Deleted { .. }), "{error}");
    assert!(files(session.base()).is_empty());
}
