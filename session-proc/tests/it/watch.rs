//! Waiting for the end, for output, for neither.

use crate::support::{Session, eventually, in_copy, wait_for};
use nix::errno::Errno;
use nix::sys::wait::WaitStatus;
use session_proc::{ProcError, State, Until, Waited};
use session_testing::{Call, refusing};
use std::time::{Duration, Instant};

fn matching(pattern: &str) -> Until {
    Until::Match { pattern: pattern.to_owned(), from: 0 }
}

#[test]
fn an_end_is_waited_for() {
    for session in Session::both() {
        session.gates(1);
        let status = session.start("read x <go1; exit 4");
        let waited = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| session.registry.wait(&status.id, &Until::Exit, None));
            session.go(1);
            waiting.join().expect("it does not panic").expect("it can be waited for")
        });
        let Waited::Ended(status) = waited else { panic!("{waited:?}") };
        assert_eq!((status.state, status.exit_code), (State::Exited, Some(4)));
    }
}

#[test]
fn a_pattern_that_is_none_is_known_before_anything_is_waited_for() {
    let error = Until::matching("(").expect_err("it is none");
    assert!(matches!(&error, ProcError::Pattern { pattern, .. } if pattern == "("), "{error}");
    assert_eq!(Until::matching("^oak").expect("it is one"), matching("^oak"));
}

#[test]
fn what_has_ended_is_not_waited_for() {
    for session in Session::both() {
        let id = session.run("echo oak").id;
        let wait = |until: &Until| session.registry.wait(&id, until, None).expect("it can be waited for");
        assert!(matches!(wait(&Until::Exit), Waited::Ended(_)));
        assert!(matches!(wait(&matching("fir")), Waited::Ended(_)));
        assert!(matches!(wait(&matching("oak")), Waited::Matched { line, .. } if line == "oak"));
    }
}

#[test]
fn a_line_is_waited_for_and_one_without_an_end_too() {
    for session in Session::both() {
        session.gates(2);
        let status = session.start("echo noise; read x <go1; printf 'password: '; read x <go2");
        let waited = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| session.registry.wait(&status.id, &matching("^pass.*: $"), None));
            session.go(1);
            waiting.join().expect("it does not panic").expect("it can be waited for")
        });
        let Waited::Matched { line, status } = waited else { panic!("{waited:?}") };
        assert_eq!((line.as_str(), status.state), ("password: ", State::Running));
        let from_here = Until::Match { pattern: "noise".to_owned(), from: 6 };
        let again = session.registry.wait(&status.id, &from_here, Some(Duration::ZERO)).expect("it can be waited for");
        assert!(matches!(again, Waited::TimedOut(_)), "{again:?}");
    }
}

#[test]
fn waiting_ends_when_the_time_is_over() {
    let session = Session::supervised();
    let id = session.start("sleep 600").id;
    for timeout in [Duration::ZERO, Duration::from_millis(50)] {
        let begun = Instant::now();
        let waited = session.registry.wait(&id, &Until::Exit, Some(timeout)).expect("it can be waited for");
        assert!(matches!(waited, Waited::TimedOut(status) if status.state == State::Running));
        assert!(begun.elapsed() >= timeout);
    }
    let error = session.registry.wait(&id, &matching("("), None).expect_err("no expression");
    assert!(matches!(error, ProcError::Pattern { .. }));
    let none = "bg9".parse().expect("an id");
    assert!(matches!(session.registry.wait(&none, &Until::Exit, None), Err(ProcError::NoProcess { .. })));
}

#[test]
fn somebody_elses_process_is_waited_for() {
    let session = Session::supervised();
    session.gates(1);
    let status = session.start("read x <go1; exit 4");
    // Neither parent nor child of the one that waits.
    let waits = in_copy(|| match session.registry.wait(&status.id, &Until::Exit, None) {
        Ok(Waited::Ended(status)) => status.exit_code.and_then(|code| i32::try_from(code).ok()).unwrap_or(99),
        _ => 98,
    });
    session.go(1);
    assert_eq!(wait_for(waits), WaitStatus::Exited(waits, 4));
}

#[test]
fn a_watch_wakes_for_output_and_for_the_end_and_sleeps_between() {
    let session = Session::supervised();
    session.gates(2);
    let status = session.start("read x <go1; echo oak; read x <go2");
    let mut watch = session.registry.watch(&status.id).expect("it can be watched");
    session.go(1);
    eventually("it has written", || {
        watch.wait(None).expect("the kernel waits");
        session.text("bg1.log").as_deref() == Some("oak\n")
    });
    session.go(2);
    eventually("it has ended", || {
        watch.wait(None).expect("the kernel waits");
        session.look(&status.id).state.is_final()
    });
    // What is over is no news for ever.
    eventually("it sleeps", || {
        let begun = Instant::now();
        watch.wait(Some(Duration::from_millis(100))).expect("the kernel waits");
        begun.elapsed() >= Duration::from_millis(100)
    });
}

#[test]
fn a_kernel_that_does_not_let_anybody_wait_is_told() {
    let session = Session::supervised();
    let id = session.start("sleep 600").id;
    let wait = || session.registry.wait(&id, &Until::Exit, None);
    let error = refusing(Call::Poll, Errno::EPERM, wait).expect_err("it cannot be waited for");
    assert!(matches!(error, ProcError::Wait { .. }), "{error}");
    assert_eq!(session.look(&id).state, State::Running, "and nothing else happens");
}
