//! What goes along of a background process when its session is copied elsewhere.

use crate::support::{Session, is_live};
use session_proc::{Gone, ProcessFile, ProcessId, Registry, State};
use std::ffi::OsStr;
use std::fs;

fn id() -> ProcessId {
    ProcessId::new("bg1").expect("it is an id")
}

/// The registry of a copy, with what `session` gives of its process.
fn copied(session: &Session) -> (tempfile::TempDir, Registry) {
    let portable = session.registry.portable(&id()).expect("it can be read");
    let dir = tempfile::tempdir().expect("a scratch directory");
    let put = |file: ProcessFile, bytes: &[u8]| {
        assert!(file.is_portable(bytes), "{}", String::from_utf8_lossy(bytes));
        fs::write(dir.path().join(file.name()), bytes).expect("the scratch directory is ours");
    };
    put(ProcessFile::Record(id()), &portable.record);
    if let Some(more) = &portable.more {
        put(ProcessFile::More(id()), more);
    }
    let registry = Registry::open(dir.path()).expect("an absolute path");
    (dir, registry)
}

#[test]
fn p03_a_process_that_runs_is_gone_in_a_copy_and_nothing_there_leads_to_it() {
    for session in Session::both() {
        let status = session.start("exec sleep 600");
        let (_dir, copy) = copied(&session);
        let there = copy.look(&status.id).expect("it can be read");
        assert_eq!(
            (there.state, there.gone, there.ended, there.process),
            (State::Gone, Some(Gone::Elsewhere), None, None)
        );
        assert_eq!(there.command, "exec sleep 600");
        assert_eq!(copy.members(&status.id).expect("it can be read"), []);
        assert!(copy.stop(&status.id, &session_proc::Stop::default()).expect("it is no error").signalled.is_empty());
        assert!(is_live(&status.process.expect("it runs")));
        assert_eq!(session.registry.look(&status.id).expect("it can be read").state, State::Running);
        // A copy of the copy is the same.
        let again = copy.portable(&status.id).expect("it can be read");
        assert_eq!(again, copy.portable(&status.id).expect("it can be read"));
        for file in ["bg1.json", ".bg1.id"] {
            let file = ProcessFile::of(OsStr::new(file)).expect("it is one");
            let bytes = fs::read(session.file(&file.name())).expect("it is there");
            assert!(!file.is_portable(&bytes), "the session's own leads to a process");
        }
    }
}

#[test]
fn p03_what_is_known_of_a_process_that_has_ended_goes_along() {
    for session in Session::both() {
        let status = session.start("exit 7");
        session.ended(&status.id);
        assert_eq!(session.registry.events().expect("it can be read").len(), 1);
        let (_dir, copy) = copied(&session);
        let there = copy.look(&status.id).expect("it can be read");
        assert_eq!((there.state, there.exit_code), (State::Exited, Some(7)));
        assert!(copy.events().expect("it can be read").is_empty(), "what was told is told");
    }
}

#[test]
fn a_file_of_a_process_is_known_by_its_name() {
    let of = |name: &str| ProcessFile::of(OsStr::new(name));
    assert_eq!(of("bg1.json"), Some(ProcessFile::Record(id())));
    assert_eq!(of(".bg1.id"), Some(ProcessFile::More(id())));
    for other in ["bg1.log", "bg1.id", ".bg1.cut", "turn.pid", "-x.json", ".json", "..id"] {
        assert_eq!(of(other), None, "{other}");
    }
}
