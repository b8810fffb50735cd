//! What is told: each thing, and each thing once.

use crate::support::{Session, eventually, in_copy, wait_for};
use nix::sys::wait::WaitStatus;
use session_disk::faults::{self, Fault};
use session_proc::{EventKind, ProcError, Registry, Start, State, Tuning};

fn texts(registry: &Registry) -> Vec<String> {
    registry.events().expect("readable").into_iter().map(|event| event.text).collect()
}

#[test]
fn an_end_is_told_once_with_its_last_output() {
    for session in Session::both() {
        let start = Start::new("echo oak; exit 3", session.cwd()).name("trees");
        let status = session.registry.start(&start).expect("it starts");
        session.ended(&status.id);
        let events = session.registry.events().expect("readable");
        assert_eq!(events[0].kind, EventKind::Ended(State::Exited));
        assert_eq!(events[0].text, "Background process bg1 (trees) exited with status 3.\nIts last output:\noak\n");
        assert_eq!(session.registry.events().expect("readable"), []);
    }
}

#[test]
fn a_death_by_a_signal_is_told_with_its_name() {
    let session = Session::supervised();
    session.run("kill -9 $$");
    assert_eq!(texts(&session.registry), ["Background process bg1 exited with status 137 (SIGKILL)."]);
}

#[test]
fn what_was_told_of_one_process_is_not_lost_with_the_failure_of_another() {
    for at in 0.. {
        let session = Session::unsupervised();
        let ids = ["true", "false"].map(|command| session.start(command).id);
        ids.iter().for_each(|id| drop(session.ended(id)));
        let run = faults::with(Fault::Fail { at }, || session.registry.events());
        let mut told: Vec<_> = run.result.unwrap_or_default().into_iter().map(|event| event.id).collect();
        told.extend(session.registry.events().expect("the disk works again").into_iter().map(|event| event.id));
        told.sort();
        assert_eq!(told, ids, "operation {at}");
        if !run.hit {
            break;
        }
    }
}

#[test]
fn an_end_is_told_once_by_all_who_ask_at_the_same_time() {
    let session = Session::supervised();
    for _ in 0..5 {
        session.run("echo oak");
    }
    let told: Vec<String> = std::thread::scope(|scope| {
        let ask = || texts(&session.registry);
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().flat_map(|thread| thread.join().expect("it does not panic")).collect()
    });
    let mut told = told;
    told.sort();
    let all: Vec<String> =
        (1..=5).map(|n| format!("Background process bg{n} exited with status 0.\nIts last output:\noak\n")).collect();
    assert_eq!(told, all);
}

#[test]
fn what_another_process_was_told_is_not_told_again() {
    let session = Session::supervised();
    session.run("echo oak");
    let asks = in_copy(|| i32::try_from(texts(&session.registry).len()).unwrap_or(99));
    assert_eq!(wait_for(asks), WaitStatus::Exited(asks, 1));
    assert_eq!(texts(&session.registry), Vec::<String>::new());
}

#[test]
fn new_output_is_told_only_where_it_is_asked_for_and_once() {
    for session in Session::both() {
        session.gates(3);
        let script = "echo one; read x <go1; echo two; read x <go2; printf ' \\n'; read x <go3; echo three";
        let status = session.registry.start(&Start::new(script, session.cwd()).tell_output()).expect("it starts");
        let news = |output: &str| vec![format!("Background process bg1 produced new output:\n{output}")];
        let told = |wanted: &[String]| {
            eventually("it is told", || {
                let told = texts(&session.registry);
                assert!(told.is_empty() || told == wanted, "{told:?}");
                !told.is_empty()
            });
        };
        told(&news("one\n"));
        assert_eq!(texts(&session.registry), Vec::<String>::new());
        session.go(1);
        told(&news("two\n"));
        session.go(2);
        eventually("blanks are written", || session.text("bg1.log").expect("a log").ends_with(" \n"));
        assert_eq!(texts(&session.registry), Vec::<String>::new(), "blanks are no news");
        session.go(3);
        session.ended(&status.id);
        told(&["Background process bg1 exited with status 0.\nIts last output:\n \nthree\n".to_owned()]);
    }
    let session = Session::supervised();
    session.start("echo quiet; sleep 600");
    eventually("it has written", || session.text("bg1.log").as_deref() == Some("quiet\n"));
    assert_eq!(texts(&session.registry), Vec::<String>::new());
}

#[test]
fn a_match_is_told_once_however_it_was_written() {
    for session in Session::both() {
        session.gates(3);
        let script = "printf 'noise\\nlist'; read x <go1; printf 'ening on 80'; read x <go2; printf '80\\nready\\n'; read x <go3";
        let start = Start::new(script, session.cwd()).tell_matches("listening on \\d+");
        session.registry.start(&start).expect("it starts");
        let written = |text: &str| eventually(text, || session.text("bg1.log").expect("a log").ends_with(text));
        written("list");
        assert_eq!(session.registry.events().expect("readable"), []);
        session.go(1);
        written("80");
        let events = session.registry.events().expect("readable");
        assert_eq!(events[0].kind, EventKind::Matched { lines: vec!["listening on 80".to_owned()], more: 0 });
        session.go(2);
        written("ready\n");
        assert_eq!(session.registry.events().expect("readable"), [], "it is the same line");
    }
}

#[test]
fn every_cut_of_the_output_gives_the_same_matches() {
    let output = "oak 1\nfir\r\noak 2\n\noak 3 oak 4\npine\noak 5";
    for cut in 0..=output.len() {
        let session = Session::unsupervised();
        session.put("bg1.json", r#"{"id":"bg1","command":"c","cwd":".","pid":0,"state":"exited"}"#);
        session.put(".bg1.id", r#"{"watch":{"pattern":"^oak.*"}}"#);
        session.put("bg1.log", &output[..cut]);
        let id = "bg1".parse().expect("an id");
        let tuning = Tuning::default();
        session.registry.tune(&id, &tuning).expect("nothing changes");
        let mut lines = Vec::new();
        let mut ask = || {
            for event in session.registry.events().expect("readable") {
                if let EventKind::Matched { lines: matched, more } = event.kind {
                    assert_eq!(more, 0);
                    lines.extend(matched);
                }
            }
        };
        // Not an end yet, so that it is asked twice.
        let pid = std::process::id();
        let started = session_core::format_time(&chrono::Utc::now().fixed_offset());
        session.put(
            "bg1.json",
            &format!(r#"{{"id":"bg1","command":"c","cwd":".","pid":{pid},"started":"{started}","state":"running"}}"#),
        );
        ask();
        session.put("bg1.log", output);
        ask();
        // A line that is told before it is whole is told as it was then.
        let whole = ["oak 1", "oak 2", "oak 3 oak 4", "oak 5"];
        assert_eq!(lines.len(), whole.len(), "{cut}: {lines:?}");
        assert!(lines.iter().zip(whole).all(|(told, whole)| whole.starts_with(told.as_str())), "{cut}: {lines:?}");
    }
}

#[test]
fn many_matches_are_told_as_some_and_a_number() {
    let session = Session::supervised();
    let start = Start::new("seq 1 1000; head -c 5000 /dev/zero | tr '\\0' 7", session.cwd()).tell_matches("7");
    let status = session.registry.start(&start).expect("it starts");
    session.ended(&status.id);
    let events = session.registry.events().expect("readable");
    let [matched, ended] = &events[..] else { panic!("{events:?}") };
    let EventKind::Matched { lines, more } = &matched.kind else { panic!("{matched:?}") };
    // 271 of the numbers have a 7 in them.
    assert_eq!((lines.len(), *more, lines[0].as_str()), (20, 252, "7"));
    assert_eq!(ended.kind, EventKind::Ended(State::Exited));
}

#[test]
fn a_running_process_is_recalled_when_it_is_time() {
    let session = Session::supervised();
    let status = session.start("sleep 600");
    let remind =
        |every| session.registry.tune(&status.id, &Tuning { remind_every_s: Some(every), ..Tuning::default() });
    let kinds = || session.registry.events().expect("readable").into_iter().map(|event| event.kind).collect::<Vec<_>>();
    assert_eq!(kinds(), []);
    remind(Some(3600)).expect("it is recorded");
    assert_eq!(kinds(), []);
    remind(Some(0)).expect("it is recorded");
    assert_eq!((kinds(), kinds()), (vec![EventKind::StillRunning], vec![EventKind::StillRunning]));
    remind(None).expect("it is recorded");
    assert_eq!(kinds(), []);
}

#[test]
fn wishes_can_be_changed_while_it_runs() {
    let session = Session::supervised();
    session.gates(2);
    let status = session.start("echo oak; read x <go1; echo oak; echo fir; read x <go2");
    eventually("it has written", || session.text("bg1.log").as_deref() == Some("oak\n"));
    let tune = |tuning: Tuning| session.registry.tune(&status.id, &tuning);
    let error = tune(Tuning { pattern: Some(Some("(".to_owned())), ..Tuning::default() }).expect_err("no expression");
    assert!(matches!(error, ProcError::Pattern { .. }));
    tune(Tuning { pattern: Some(Some("oak".to_owned())), ..Tuning::default() }).expect("it is recorded");
    assert_eq!(session.registry.events().expect("readable"), [], "from now on");
    session.go(1);
    eventually("it has written", || session.text("bg1.log").as_deref() == Some("oak\noak\nfir\n"));
    assert_eq!(texts(&session.registry), ["Background process bg1 wrote what is waited for:\noak"]);
    tune(Tuning { output: Some(true), pattern: Some(None), ..Tuning::default() }).expect("it is recorded");
    assert_eq!(texts(&session.registry), ["Background process bg1 produced new output:\noak\noak\nfir\n"]);
    assert!(session.look(&status.id).tells_output);
    assert!(session.text("bg1.json").expect("a record").contains("\"report\": \"exit\""), "the record is as it was");
}

#[test]
fn an_end_that_was_told_stays_told_when_the_reference_saves_what_it_read_before() {
    let session = Session::supervised();
    let status = session.run("echo one");
    let before = session.text("bg1.json").expect("a record");
    assert_eq!(texts(&session.registry), ["Background process bg1 exited with status 0.\nIts last output:\none\n"]);
    session.put("bg1.json", &before);
    assert_eq!(texts(&session.registry), Vec::<String>::new());
    // What the reference adds for itself is its own, and stays.
    let theirs = before.replace("\n}\n", ",\n  \"theirs\": [1]\n}\n");
    session.put("bg1.json", &theirs.replace("\"exited\"", "\"running\""));
    session.registry.status(&status.id).expect("recorded");
    assert_eq!(session.text("bg1.json"), Some(theirs));
}

#[test]
fn changes_are_reconciled_once() {
    for session in Session::both() {
        let status = session.start("exit 3");
        eventually("it has ended", || session.look(&status.id).state.is_final());
        // A supervisor has put the end down itself; to nobody's surprise.
        let supervised = session.text(".bg1.id").expect("ours").contains("supervisor");
        let changed = session.registry.reconcile().expect("readable").processes;
        assert_eq!(
            changed.iter().map(|status| status.exit_code).collect::<Vec<_>>(),
            if supervised { vec![] } else { vec![Some(3)] }
        );
        assert!(session.registry.reconcile().expect("readable").processes.is_empty());
    }
}
