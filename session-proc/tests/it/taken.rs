//! An id that turns out to be somebody else's, and a supervisor that says what it could not do.

use crate::support::Session;
use session_proc::{ProcError, Registry, Start, State, Supervisor};
use std::fs;

/// A registry whose supervisor is a shell script: `$1` is the directory, `$2` the id.
fn scripted(session: &Session, script: &str) -> Registry {
    session.registry.clone().with_supervisor(Supervisor::new("/bin/sh", ["-c", script, "sh"]))
}

fn names(session: &Session) -> Vec<String> {
    let entries = fs::read_dir(session.registry.dir()).expect("it is there").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[test]
fn an_id_that_is_taken_before_the_supervisor_records_is_left_to_the_other_one() {
    let session = Session::unsupervised();
    let script = format!(
        r#"if [ "$2" = bg1 ]; then echo '{{"id":"bg1","state":"exited"}}' >"$1/bg1.json"; echo '"id_taken"'; exit; fi
           exec {} "$1" "$2""#,
        env!("CARGO_BIN_EXE_session-supervisor")
    );
    let status = scripted(&session, &script).start(&Start::new("echo oak", session.cwd())).expect("it starts");
    assert_eq!(status.id.as_str(), "bg2");
    assert_eq!(session.ended(&status.id).exit_code, Some(0));
    assert_eq!(session.text("bg1.json").as_deref(), Some("{\"id\":\"bg1\",\"state\":\"exited\"}\n"));
    let left = names(&session);
    assert!(!left.contains(&".bg1.id".to_owned()) && left.contains(&"bg1.log".to_owned()), "{left:?}");
}

#[test]
fn where_every_id_is_taken_nothing_starts_and_nothing_is_left() {
    let session = Session::unsupervised();
    let registry = scripted(&session, r#"echo "$2" >>"$1/../asked"; echo '"id_taken"'"#);
    let error = registry.start(&Start::new("echo oak", session.cwd())).expect_err("no id is free");
    assert!(matches!(&error, ProcError::NoFreeId { proc_dir } if proc_dir == session.registry.dir()), "{error}");
    let asked = fs::read_to_string(session.cwd().join("asked")).expect("it was asked");
    assert_eq!(asked.lines().collect::<Vec<_>>(), ["bg1"; 16], "it ends at some time");
    assert_eq!(names(&session), [] as [&str; 0]);
}

#[test]
fn what_the_system_refuses_a_supervisor_is_the_error_of_the_start() {
    let session = Session::unsupervised();
    let start = Start::new("echo oak", session.cwd());
    let error = scripted(&session, r#"echo '{"refused":11}'"#).start(&start).expect_err("it was refused");
    let ProcError::Spawn { source, .. } = &error else { panic!("{error}") };
    assert_eq!(source.raw_os_error(), Some(11));
    let error = scripted(&session, r#"echo '"no_record"'"#).start(&start).expect_err("it was not recorded");
    assert!(matches!(error, ProcError::SupervisorFailed { .. }), "{error}");
    assert_eq!(names(&session), [] as [&str; 0]);
}

#[test]
fn a_process_that_runs_says_so() {
    let session = Session::supervised();
    session.gates(1);
    let status = session.start("read x <go1");
    assert!(status.is_running());
    session.go(1);
    let status = session.ended(&status.id);
    assert!(!status.is_running() && status.state == State::Exited);
}
