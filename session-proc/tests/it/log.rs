//! Logs: read by a cursor, and never above their cap.

use crate::support::{Session, eventually, is_live};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use session_proc::{Excess, Identity, OUTPUT_BYTES, Output, ProcessId, Registry, Start, State, Status};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

const MIB: u64 = 1024 * 1024;
/// `seq 1 400000` writes 2.7 MB.
const LINES: u64 = 400_000;

fn start_capped(session: &Session, command: &str, cap_bytes: u64) -> Status {
    let start = Start::new(command, session.cwd()).log_cap_bytes(cap_bytes);
    session.registry.start(&start).expect("it starts")
}

fn log_len(session: &Session, id: &ProcessId) -> u64 {
    fs::metadata(session.registry.log_path(id)).expect("it is there").len()
}

/// Reads everything in pieces: the pieces, and how much is missing before each.
fn read_all(registry: &Registry, id: &ProcessId, limit_bytes: usize) -> Vec<Output> {
    let mut pieces = Vec::new();
    let mut cursor = 0;
    loop {
        let piece = registry.output(id, cursor, limit_bytes, Excess::LeaveForNext).expect("readable");
        if piece.bytes.is_empty() && piece.skipped_bytes == 0 {
            return pieces;
        }
        assert_eq!(piece.cursor, cursor + piece.skipped_bytes + piece.bytes.len() as u64);
        cursor = piece.cursor;
        pieces.push(piece);
    }
}

fn whole_output() -> String {
    use std::fmt::Write as _;
    (1..=LINES).fold(String::new(), |mut text, n| {
        writeln!(text, "{n}").expect("memory takes everything");
        text
    })
}

#[test]
fn p05_a_log_keeps_its_head_and_tail_and_one_line_between() {
    for session in Session::both() {
        let status = start_capped(&session, &format!("seq 1 {LINES}; echo $? >&2"), MIB);
        let status = session.ended(&status.id);
        // Nobody was ended by a closed pipe or a full log.
        assert_eq!((status.state, status.exit_code), (State::Exited, Some(0)));
        // Without a supervisor the log is cut when somebody looks.
        session.registry.status(&status.id).expect("readable");
        eventually("the log is cut", || log_len(&session, &status.id) <= MIB);
        assert!(log_len(&session, &status.id) > MIB / 4);
        let log = session.text("bg1.log").expect("it is there");
        assert!(log.starts_with("1\n2\n3\n") && log.ends_with(&format!("\n{LINES}\n0\n")));
        let markers: Vec<&str> = log.lines().filter(|line| line.contains("not kept")).collect();
        let [marker] = markers[..] else { panic!("{markers:?}") };

        // By the cursor it is the whole output, but for one gap between two lines.
        let pieces = read_all(&session.registry, &status.id, OUTPUT_BYTES);
        let whole = whole_output() + "0\n";
        assert_eq!(pieces.last().expect("some").cursor, whole.len() as u64);
        let gaps: Vec<&Output> = pieces.iter().filter(|piece| piece.skipped_bytes > 0).collect();
        assert_eq!(gaps.len(), 1);
        assert_eq!(marker, format!("[{:>20} bytes of output are not kept]", gaps[0].skipped_bytes));
        for piece in &pieces {
            let start = usize::try_from(piece.cursor).expect("small") - piece.bytes.len();
            assert_eq!(piece.text(), whole[start..start + piece.bytes.len()]);
        }
        let before_gap = gaps[0].cursor - gaps[0].bytes.len() as u64;
        assert_eq!(whole.as_bytes()[usize::try_from(before_gap).expect("small") - 1], b'\n');
    }
}

#[test]
fn p05_a_process_that_never_stops_writing_stays_below_its_cap() {
    let session = Session::supervised();
    let status = start_capped(&session, "yes oak", MIB);
    let mut written = 0;
    eventually("it has written a hundred times its cap", || {
        assert!(log_len(&session, &status.id) <= MIB);
        let output = session.registry.output(&status.id, written, 64, Excess::SkipToTail).expect("readable");
        assert!(output.cursor >= written, "a cursor never goes back");
        written = output.cursor;
        let text = output.text().replace("oak\n", "");
        assert!(text.is_empty() || "oak\n".starts_with(&text) || "oak\n".ends_with(&text), "{text:?}");
        written > 100 * MIB
    });
    assert_eq!(session.look(&status.id).state, State::Running);
}

#[test]
fn p05_without_a_supervisor_a_log_is_cut_while_it_is_written() {
    let session = Session::unsupervised();
    let status = start_capped(&session, "while :; do seq 1 1000; done", MIB);
    for round in 1..=3 {
        eventually("the log is over its cap", || log_len(&session, &status.id) > MIB);
        session.registry.status(&status.id).expect("readable");
        let log = session.text("bg1.log").expect("it is there");
        assert_eq!(log.lines().filter(|line| line.contains("not kept")).count(), 1, "{round}");
    }
    assert_eq!(session.look(&status.id).state, State::Running);
}

#[test]
fn lines_without_an_end_are_cut_between_characters() {
    let session = Session::supervised();
    // One line of 1.2 MB of characters of three bytes.
    let status = start_capped(&session, "head -c 400000 /dev/zero | sed 's/./木/g; s/\\x00/木/g'", 64 * 1024);
    session.ended(&status.id);
    let pieces = read_all(&session.registry, &status.id, 1000);
    assert_eq!(pieces.last().expect("some").cursor, 1_200_000);
    assert!(pieces.iter().all(|piece| piece.text().chars().all(|c| c == '木')));
}

#[test]
fn when_the_end_is_known_the_output_is_there() {
    let session = Session::supervised();
    for _ in 0..20 {
        // As much as the pipe holds, so that nothing has to be read before the end.
        let status = session.start("seq 1 11000");
        eventually("it ends", || session.text(&format!("{}.exit", status.id)).is_some());
        assert!(session.text(&format!("{}.log", status.id)).expect("a log").ends_with("\n11000\n"));
    }
}

#[test]
fn a_cursor_sees_each_byte_once_and_no_half_character() {
    for session in Session::both() {
        session.gates(2);
        let status = session.start("printf 'a\\346'; read x <go1; printf '\\234\\250b'; read x <go2");
        let read =
            |cursor, excess| session.registry.output(&status.id, cursor, OUTPUT_BYTES, excess).expect("readable");
        eventually("the first piece", || read(0, Excess::SkipToTail).cursor == 1);
        eventually("half a character", || log_len(&session, &status.id) == 2);
        let first = read(0, Excess::SkipToTail);
        assert_eq!((first.text().as_ref(), first.cursor, first.skipped_bytes), ("a", 1, 0));
        assert_eq!(read(1, Excess::SkipToTail).bytes, b"");
        session.go(1);
        eventually("the second piece", || read(1, Excess::LeaveForNext).text() == "木b");
        session.go(2);
        session.ended(&status.id);
        assert_eq!(read(99, Excess::SkipToTail).text(), "a木b", "a cursor behind the end starts again");
        assert_eq!(read(5, Excess::SkipToTail).bytes, b"");
    }
}

#[test]
fn what_ends_in_the_middle_of_a_character_is_told_at_the_end() {
    let session = Session::supervised();
    let status = session.run("printf 'a\\346\\234'");
    let output = session.registry.output(&status.id, 0, OUTPUT_BYTES, Excess::SkipToTail).expect("readable");
    assert_eq!((output.bytes.as_slice(), output.cursor), (&b"a\xe6\x9c"[..], 3));
}

#[test]
fn when_there_is_too_much_the_tail_is_told_and_how_much_is_left_out() {
    let session = Session::supervised();
    let status = session.run("seq 1 100000; printf '木木木木'");
    let len = log_len(&session, &status.id);
    let output = session.registry.output(&status.id, 10, 10, Excess::SkipToTail).expect("readable");
    assert_eq!((output.text().as_ref(), output.skipped_bytes, output.cursor), ("木木木", len - 10 - 9, len));
    let output = session.registry.output(&status.id, 0, 10, Excess::LeaveForNext).expect("readable");
    assert_eq!((output.text().as_ref(), output.skipped_bytes, output.cursor), ("1\n2\n3\n4\n5\n", 0, 10));
}

#[test]
fn bytes_that_are_no_text_pass_through() {
    let session = Session::supervised();
    let status = session.run("printf '\\377\\376\\000\\200\\200\\200\\200'");
    let output = session.registry.output(&status.id, 0, OUTPUT_BYTES, Excess::SkipToTail).expect("readable");
    assert_eq!(output.bytes, b"\xff\xfe\0\x80\x80\x80\x80");
}

#[test]
fn a_log_that_is_no_file_is_empty_and_blocks_nobody() {
    let session = Session::supervised();
    let status = session.run("echo oak");
    let path = session.registry.log_path(&status.id);
    let read = || session.registry.output(&status.id, 0, OUTPUT_BYTES, Excess::SkipToTail).expect("readable").bytes;
    fs::remove_file(&path).expect("it is ours");
    assert_eq!(read(), b"");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("the name is free");
    assert_eq!(read(), b"");
}

/// Puts the session's records on a disk of 512 KiB. `None`: only a privileged user can.
fn small_disk(session: &Session) -> Option<SmallDisk> {
    let dir = session.registry.dir().to_owned();
    fs::create_dir(&dir).expect("the name is free");
    let size = Some("size=512k,mode=700");
    mount(Some("oak"), &dir, Some("tmpfs"), MsFlags::empty(), size).ok()?;
    Some(SmallDisk(dir))
}

struct SmallDisk(PathBuf);

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A supervisor that is about to end may still use it.
        umount2(&self.0, MntFlags::MNT_DETACH).expect("it is mounted");
    }
}

fn supervisor(session: &Session) -> Identity {
    let dossier: serde_json::Value = serde_json::from_str(&session.text(".bg1.id").expect("ours")).expect("JSON");
    serde_json::from_value(dossier["supervisor"].clone()).expect("it is put down")
}

#[test]
fn h22_p05_a_full_disk_costs_output_and_nothing_else() {
    let session = Session::supervised();
    let Some(_disk) = small_disk(&session) else { return };
    let status = start_capped(&session, &format!("seq 1 {LINES}; echo end; exit 3"), 64 * MIB);
    let status = session.ended(&status.id);
    let supervisor = supervisor(&session);
    eventually("the supervisor has ended", || !is_live(&supervisor));
    assert_eq!((status.state, status.exit_code), (State::Exited, Some(3)));
    assert_eq!(session.text("bg1.exit").as_deref(), Some("3"));
    let log = session.text("bg1.log").expect("it is there");
    assert!(log.starts_with("1\n2\n3\n"));
    assert!(log.contains("bytes of output are lost: the disk did not take them]\n"));
}

#[test]
fn h22_a_status_that_the_disk_does_not_take_is_written_when_it_does() {
    let session = Session::supervised();
    let Some(_disk) = small_disk(&session) else { return };
    session.gates(1);
    let status = session.start("read x <go1; exit 5");
    let leader = status.process.expect("it runs");
    let filler = session.file("filler");
    let mut file = fs::File::create(&filler).expect("it is our directory");
    while file.write_all(&[7; 512]).is_ok() {}
    session.go(1);
    eventually("the command has ended", || !is_live(&leader));
    fs::remove_file(&filler).expect("it is ours");
    drop(file);
    assert_eq!(session.ended(&status.id).exit_code, Some(5));
    assert_eq!(session.text("bg1.exit").as_deref(), Some("5"));
}
