//! The marker of the running turn, alone and beside the reference.

use crate::support::{Job, eventually};
use nix::sys::stat::Mode;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork, mkfifo};
use session_disk::faults::{self, Fault};
use session_proc::{Identity, LiveTurn, ProcError, Standing, TurnMarker};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

struct Scratch(TempDir);

impl Scratch {
    fn new() -> Scratch {
        let scratch = Scratch(tempfile::tempdir().expect("a scratch directory"));
        fs::create_dir(scratch.dir()).expect("it is empty");
        scratch
    }

    fn dir(&self) -> PathBuf {
        self.0.path().join("proc")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.file(name), text).expect("it is our directory");
    }

    fn get(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.file(name)).ok()
    }

    fn live(&self) -> Option<LiveTurn> {
        TurnMarker::read(&self.dir()).expect("readable")
    }

    fn age(&self, name: &str, age: Duration) {
        let file = File::options().append(true).open(self.file(name)).expect("it is there");
        file.set_modified(SystemTime::now() - age).expect("it is our file");
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir()).expect("it is there");
        entries.map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8")).collect()
    }
}

fn identity_line(process: &Identity, turn: &str) -> String {
    let Identity { pid, start_ticks, boot_id } = process;
    format!(
        r#"{{"pid":{pid},"start_ticks":{start_ticks},"boot_id":"{boot_id}","turn":"{turn}","started":"2026-01-02T03:04:05Z"}}"#
    )
}

fn own() -> Identity {
    Identity::own().expect("/proc is readable")
}

#[test]
fn a_turn_is_marked_in_the_references_format_and_ours() {
    let scratch = Scratch::new();
    let marker = TurnMarker::start(&scratch.dir(), "t1").expect("no turn runs");
    assert_eq!(scratch.get("turn.pid"), Some(format!("{}\n", own().pid)));
    let ours: serde_json::Value = serde_json::from_str(&scratch.get(".turn").expect("written")).expect("JSON");
    assert_eq!(ours["pid"], own().pid);
    assert_eq!(ours["start_ticks"], own().start_ticks);
    assert_eq!(ours["boot_id"], own().boot_id);
    assert_eq!(ours["turn"], "t1");
    for name in ["turn.pid", ".turn"] {
        assert_eq!(fs::metadata(scratch.file(name)).expect("written").permissions().mode() & 0o777, 0o600, "{name}");
    }
    let turn = scratch.live().expect("it is marked");
    assert_eq!((turn.pid, turn.process, turn.turn_id.as_deref()), (own().pid, Some(own()), Some("t1")));
    assert_eq!((marker.turn_id(), marker.process()), ("t1", &own()));
    assert_eq!(TurnMarker::pid_path(&scratch.dir()), scratch.file("turn.pid"));
    drop(marker);
    assert_eq!((scratch.live(), scratch.names()), (None, vec![]));
}

#[test]
fn the_directory_is_created_but_nothing_above_it() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let marker = TurnMarker::start(&scratch.path().join("proc"), "t1").expect("the session is there");
    marker.end().expect("it is ours");
    let error = TurnMarker::start(&scratch.path().join("deleted/proc"), "t1").expect_err("no session");
    assert!(matches!(&error, ProcError::Disk(error) if error.kind() == ErrorKind::NotFound), "{error}");
    assert!(!scratch.path().join("deleted").exists());
}

#[test]
fn a_second_turn_is_refused_and_told_who_runs_the_first() {
    let scratch = Scratch::new();
    let job = Job::idle();
    scratch.put(".turn", &identity_line(&job.identity(), "first"));
    scratch.put("turn.pid", &format!("{}\n", job.pid()));
    let error = TurnMarker::start(&scratch.dir(), "second").expect_err("a turn runs");
    let ProcError::TurnLive { turn, .. } = &error else { panic!("{error}") };
    assert_eq!((turn.pid, turn.turn_id.as_deref(), turn.command.as_deref()), (job.pid(), Some("first"), Some("sleep")));
    let told = format!("pid {} (sleep, since 2026-01-02T03:04:05Z)", job.pid());
    assert!(error.to_string().ends_with(&told), "{error}");
    let marker = TurnMarker::take_over(&scratch.dir(), "second").expect("whoever holds the lock may");
    assert_eq!(scratch.live().expect("marked").turn_id.as_deref(), Some("second"));
    assert!(matches!(TurnMarker::start(&scratch.dir(), "third"), Err(ProcError::TurnLive { .. })));
    drop(marker);
}

#[test]
fn l08_p03_each_field_of_our_marker_counts() {
    let (job, other) = (Job::idle(), Job::idle());
    let process = job.identity();
    let live = |process: &Identity| {
        let scratch = Scratch::new();
        scratch.put("turn.pid", &format!("{}\n", process.pid));
        scratch.put(".turn", &identity_line(process, "t1"));
        scratch.live().map(|turn| turn.pid)
    };
    assert_eq!(live(&process), Some(job.pid()));
    assert_eq!(live(&Identity { pid: other.pid(), start_ticks: 1, ..process.clone() }), None);
    assert_eq!(live(&Identity { start_ticks: process.start_ticks + 1, ..process.clone() }), None);
    assert_eq!(live(&Identity { boot_id: "another".to_owned(), ..process.clone() }), None);
    for pid in [1, 0, -1] {
        let process = Identity::of(pid).expect("readable").unwrap_or(Identity { pid, ..process.clone() });
        assert_eq!(live(&process), None, "{pid}");
    }
}

#[test]
fn the_references_marker_is_judged_by_its_time() {
    let scratch = Scratch::new();
    let job = Job::idle();
    scratch.put("turn.pid", &format!("{}\n", job.pid()));
    let turn = scratch.live().expect("it started before the marker was written");
    assert_eq!((turn.pid, turn.process, turn.turn_id), (job.pid(), Some(job.identity()), None));
    assert_eq!(turn.command.as_deref(), Some("sleep"));
    scratch.age("turn.pid", Duration::from_secs(300));
    assert_eq!(scratch.live(), None, "the pid was used again");
}

#[test]
fn our_file_says_nothing_about_another_pid() {
    let scratch = Scratch::new();
    let (job, ours) = (Job::idle(), Job::idle());
    scratch.put("turn.pid", &job.pid().to_string());
    scratch.put(".turn", &identity_line(&Identity { start_ticks: 1, ..ours.identity() }, "old"));
    assert_eq!(scratch.live().map(|turn| (turn.pid, turn.turn_id)), Some((job.pid(), None)));
}

#[test]
fn a_turn_whose_pid_file_the_reference_removed_is_live() {
    let scratch = Scratch::new();
    let job = Job::idle();
    scratch.put(".turn", &identity_line(&job.identity(), "t1"));
    assert_eq!(scratch.live().map(|turn| turn.pid), Some(job.pid()));
    scratch.put("turn.pid", &i32::MAX.to_string());
    assert_eq!(scratch.live().map(|turn| turn.pid), Some(job.pid()));
}

#[test]
fn p07_a_zombie_runs_no_turn() {
    let scratch = Scratch::new();
    let job = Job::shell("exit 0");
    scratch.put("turn.pid", &job.pid().to_string());
    let process = job.identity();
    eventually("the child has ended", || !process.liveness().expect("readable").is_live());
    assert_eq!(scratch.live(), None);
    scratch.put(".turn", &identity_line(&process, "t1"));
    assert_eq!(scratch.live(), None);
}

#[test]
fn what_is_no_marker_marks_nothing_and_blocks_nobody() {
    for text in ["", "\n", "1", "0", "-1", "x", "99999999999999999999", "12 34", "\0\0\0\0", "{}", "null", "[1]"] {
        let scratch = Scratch::new();
        scratch.put("turn.pid", text);
        scratch.put(".turn", text);
        assert_eq!(scratch.live(), None, "{text:?}");
    }
    let job = Job::idle();
    for name in ["turn.pid", ".turn"] {
        let scratch = Scratch::new();
        mkfifo(&scratch.file(name), Mode::S_IRWXU).expect("a FIFO");
        assert_eq!(scratch.live(), None);
        fs::remove_file(scratch.file(name)).expect("it is ours");
        fs::create_dir(scratch.file(name)).expect("the name is free");
        assert_eq!(scratch.live(), None);
        fs::remove_dir(scratch.file(name)).expect("it is ours");
        scratch.put("elsewhere", &format!("{}\n", job.pid()));
        std::os::unix::fs::symlink("elsewhere", scratch.file(name)).expect("the name is free");
        assert_eq!(scratch.live(), None);
    }
    assert_eq!(TurnMarker::read(Path::new("/nonexistent/proc")).expect("no session, no turn"), None);
}

#[test]
fn a_removed_marker_is_put_back_and_a_stranger_is_left() {
    let scratch = Scratch::new();
    let marker = TurnMarker::start(&scratch.dir(), "t1").expect("no turn runs");
    let ensure = || marker.ensure().expect("it is our directory");
    let files = || (scratch.get("turn.pid"), scratch.get(".turn"));
    let ours = files();
    assert_eq!(ensure(), Standing::Intact);
    for name in ["turn.pid", ".turn"] {
        fs::remove_file(scratch.file(name)).expect("it stands");
        assert_eq!((ensure(), files()), (Standing::PutBack, ours.clone()));
    }
    scratch.put("turn.pid", &format!("{}\n", i32::MAX));
    assert_eq!((ensure(), files()), (Standing::PutBack, ours.clone()));
    let job = Job::idle();
    let theirs = format!("{}\n", job.pid());
    scratch.put("turn.pid", &theirs);
    assert_eq!((ensure(), files()), (Standing::TakenOver, (Some(theirs), ours.1)));
}

#[test]
fn a_deleted_session_is_not_created_again() {
    let scratch = Scratch::new();
    let marker = TurnMarker::start(&scratch.dir(), "t1").expect("no turn runs");
    fs::remove_dir_all(scratch.dir()).expect("it is ours");
    let error = marker.ensure().expect_err("the session is gone");
    assert!(matches!(&error, ProcError::Disk(error) if error.kind() == ErrorKind::NotFound), "{error}");
    drop(marker);
    assert!(!scratch.dir().exists());
}

#[test]
fn the_end_of_a_turn_removes_only_its_own_marker() {
    let scratch = Scratch::new();
    let job = Job::idle();
    let theirs = (format!("{}\n", job.pid()), identity_line(&job.identity(), "theirs"));
    let marker = TurnMarker::start(&scratch.dir(), "t1").expect("no turn runs");
    scratch.put("turn.pid", &theirs.0);
    drop(marker);
    assert_eq!((scratch.get("turn.pid"), scratch.get(".turn")), (Some(theirs.0.clone()), None));

    let marker = TurnMarker::take_over(&scratch.dir(), "t2").expect("it is our directory");
    scratch.put(".turn", &theirs.1);
    drop(marker);
    assert_eq!(scratch.get(".turn"), Some(theirs.1), "another process's");

    let first = TurnMarker::take_over(&scratch.dir(), "t3").expect("it is our directory");
    let second = TurnMarker::take_over(&scratch.dir(), "t4").expect("it is our directory");
    first.end().expect("nothing of it stands");
    assert_eq!(scratch.live().expect("the second turn runs").turn_id.as_deref(), Some("t4"));
    drop(second);
    assert_eq!(scratch.names(), Vec::<String>::new());
}

#[test]
fn a_copy_of_the_process_does_not_end_the_turn() {
    let scratch = Scratch::new();
    let marker = TurnMarker::start(&scratch.dir(), "t1").expect("no turn runs");
    // SAFETY: the child only drops the marker and leaves without unwinding.
    match unsafe { fork() }.expect("a process more") {
        ForkResult::Parent { child } => drop(waitpid(child, None).expect("it is our child")),
        ForkResult::Child => {
            drop(marker);
            // SAFETY: it ends the child at once.
            unsafe { nix::libc::_exit(0) }
        }
    }
    assert_eq!(marker.ensure().expect("it stands"), Standing::Intact);
}

#[test]
fn whichever_operation_fails_a_turn_that_did_not_start_leaves_nothing() {
    for at in 0.. {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let dir = scratch.path().join("proc");
        let run = faults::with(Fault::Full { at }, || TurnMarker::start(&dir, "t1"));
        if !run.hit {
            return drop(run.result.expect("nothing failed"));
        }
        // Only the failure to remove a temporary file could be overcome, and this fault strikes once.
        run.result.expect_err("an operation failed");
        assert_eq!(TurnMarker::read(&dir).expect("readable"), None, "{at}");
        let left = fs::read_dir(&dir).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{at}");
    }
}
