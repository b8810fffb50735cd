//! Starting: what is on disk, what the process is given, and how its end is known.

use crate::support::{Session, eventually, in_copy, is_empty, is_live, supervisor, wait_for};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::wait::WaitStatus;
use serde_json::Value;
use session_disk::faults::{self, Fault};
use session_proc::{Identity, Lifetime, ProcError, Registry, Start, State, Supervisor, Tuning};
use session_testing::{Call, refusing};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// `/proc/PID/status` of a process.
fn kernel_status(pid: i32, member: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = text.lines().find_map(|line| line.strip_prefix(member)?.strip_prefix(':'));
    line.expect("the kernel tells it").trim().to_owned()
}

#[test]
fn records_are_those_of_the_reference() {
    let rows = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/proc/started.jsonl"));
    let rows: Vec<Value> =
        rows.expect("part of the crate").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for session in Session::both() {
        for row in &rows {
            let name = row["name"].as_str().expect("a name");
            let start = Start::new(row["command"].as_str().expect("a command"), ".").name(name);
            let started = session.registry.start(&start).expect(name);
            let status = if row["state"] == "killed" {
                session.registry.stop(&started.id, &session_proc::Stop::default()).expect(name).status.expect(name)
            } else {
                session.ended(&started.id)
            };
            let text = |file: &str| session.text(&format!("{}.{file}", started.id));
            let record = text("json").expect("a record");
            let time = |time: Option<chrono::DateTime<chrono::Utc>>| {
                format!("\"{}\"", session_core::format_time(&time.expect("known").fixed_offset()))
            };
            let record = record
                .replace(&format!("\"pid\": {}", status.pid.expect("known")), "\"pid\": \"<pid>\"")
                .replace(&time(status.started), "\"<now>\"")
                .replace(&time(status.ended), "\"<now>\"")
                .replace(started.id.as_str(), row["id"].as_str().expect("an id"));
            let mut expected = row["json_after_status"].as_str().expect("a record").to_owned();
            let mut exit_file = row["exit_file"].as_str().map(str::to_owned);
            if name == "by_signal" {
                // Who waits for it knows how it died.
                expected = expected.replace("gone", "exited").replace("-1", "137");
                exit_file = Some("137".to_owned());
            }
            assert_eq!(record, expected, "{name}");
            if name != "long" || session.text(&format!(".{}.id", started.id)).expect("ours").contains("supervisor") {
                assert_eq!(text("exit"), exit_file, "{name}");
            }
            assert_eq!(text("log").as_deref(), row["log"].as_str(), "{name}");
        }
    }
}

#[test]
fn p04_a_process_is_cut_off_from_who_starts_it() {
    for session in Session::both() {
        // What a careless program leaves open is not passed on.
        let leak = fs::File::create(session.cwd().join("leak")).expect("it is our directory");
        fcntl(&leak, FcntlArg::F_SETFD(FdFlag::empty())).expect("it is open");
        let status = session.start("exec sleep 600");
        let leader = status.process.expect("it runs");
        let member = &session.registry.members(&status.id).expect("readable")[0];
        assert_eq!(member.process, leader);
        let stat = fs::read_to_string(format!("/proc/{}/stat", leader.pid)).expect("it runs");
        let fields: Vec<&str> = stat[stat.rfind(')').expect("a name") + 2..].split(' ').collect();
        let pid = leader.pid.to_string();
        assert_eq!((fields[2], fields[3]), (pid.as_str(), pid.as_str()), "its own group and session");
        let fd = |n| fs::read_link(format!("/proc/{pid}/fd/{n}")).expect("it is open");
        assert_eq!(fd(0), Path::new("/dev/null"));
        let parent = kernel_status(leader.pid, "PPid").parse().expect("a pid");
        let own = i32::try_from(std::process::id()).expect("small");
        let supervisor = Some(parent).filter(|&parent| parent != own);
        for pid in supervisor
            .into_iter()
            .chain(session.registry.members(&status.id).expect("readable").iter().map(|member| member.process.pid))
        {
            let fds = fs::read_dir(format!("/proc/{pid}/fd")).expect("ours").flatten();
            let open: Vec<_> = fds.filter_map(|fd| fs::read_link(fd.path()).ok()).collect();
            assert!(!open.iter().any(|path| path.ends_with("leak")), "{open:?}");
        }
        for member in ["SigBlk", "SigIgn"] {
            let signals = u64::from_str_radix(&kernel_status(leader.pid, member), 16).expect("a mask");
            // 32 and 33 are the C library's own.
            assert_eq!(signals & !(0b11 << 31), 0, "{member}");
        }
    }
}

#[test]
fn the_exit_status_survives_whatever_the_command_does() {
    let cases = [
        ("exit 0", 0, None),
        ("exit 42", 42, None),
        ("true", 0, None),
        ("exec sh -c 'exit 7'", 7, None),
        ("trap 'echo bye' EXIT; exit 5", 5, None),
        ("trap 'exit 9' EXIT; true", 9, None),
        ("kill -9 $$", 137, Some("SIGKILL")),
        ("kill -TERM $$", 143, Some("SIGTERM")),
        ("exec sh -c 'kill -SEGV $$'", 139, Some("SIGSEGV")),
        ("kill -40 $$", 168, Some("SIG40")),
        ("nonexistent-program-of-nobody", 127, None),
        ("(", 2, None),
    ];
    for (supervised, session) in [true, false].into_iter().zip(Session::both()) {
        for (command, code, signal) in cases {
            let status = session.run(command);
            assert_eq!((status.state.clone(), status.exit_code), (State::Exited, Some(code)), "{command}");
            assert_eq!(session.text(&format!("{}.exit", status.id)), Some(code.to_string()), "{command}");
            // Only who waits for the process itself is told of the signal.
            let signal = signal.filter(|_| supervised);
            assert_eq!(status.signal.as_deref(), signal, "{command}");
        }
    }
}

#[test]
fn p07_the_exit_status_survives_the_starter() {
    for session in Session::both() {
        session.gates(1);
        let start = Start::new("read x <go1; exit 23", session.cwd());
        let starter = in_copy(|| i32::from(session.registry.start(&start).is_err()));
        assert_eq!(wait_for(starter), WaitStatus::Exited(starter, 0));
        let list = session.registry.list().expect("readable").processes;
        let [status] = &list[..] else { panic!("{list:?}") };
        assert_eq!(status.state, State::Running);
        session.go(1);
        assert_eq!(session.ended(&status.id).exit_code, Some(23));
    }
}

#[test]
fn p07_without_a_supervisor_a_zombie_is_reaped_and_its_death_told() {
    let session = Session::unsupervised();
    let status = session.start("exec sleep 600");
    let leader = status.process.expect("it runs");
    // All of the group, so that nobody is left to write a status.
    nix::sys::signal::killpg(nix::unistd::Pid::from_raw(leader.pid), nix::sys::signal::Signal::SIGKILL).expect("ours");
    let status = session.ended(&status.id);
    assert_eq!((status.state, status.exit_code, status.signal.as_deref()), (State::Exited, Some(137), Some("SIGKILL")));
    assert_eq!(Identity::of(leader.pid).expect("readable"), None, "reaped");
}

#[test]
fn all_files_are_private() {
    for session in Session::both() {
        let status = session.run("umask 000; touch made; echo out");
        let mut names = Vec::new();
        for entry in fs::read_dir(session.registry.dir()).expect("it is there") {
            let entry = entry.expect("readable");
            names.push(entry.file_name().into_string().expect("UTF-8"));
            assert_eq!(entry.metadata().expect("there").permissions().mode() & 0o777, 0o600, "{names:?}");
        }
        names.sort();
        assert_eq!(names, [".bg1.id", "bg1.exit", "bg1.json", "bg1.log"], "{status:?}");
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(session.registry.dir()), 0o700);
        assert_eq!(mode(&session.cwd().join("made")), 0o666, "the command's own are its own");
    }
}

#[test]
fn a_command_gets_its_directory_environment_and_mark() {
    for session in Session::both() {
        let start = Start::new("pwd; echo $OAK; echo ${HOME-none}; echo $SESSION_STORE_PROCESS", session.cwd());
        let start = start.env("OAK", "tall").without_env("HOME").name("trees").lifetime(Lifetime::Persistent);
        let status = session.registry.start(&start).expect("it starts");
        assert_eq!((status.name.as_deref(), status.lifetime), (Some("trees"), Some(Lifetime::Persistent)));
        session.ended(&status.id);
        let log = session.text("bg1.log").expect("written");
        let lines: Vec<&str> = log.lines().collect();
        let cwd = fs::canonicalize(session.cwd()).expect("it is there");
        assert_eq!(lines[..3], [cwd.to_str().expect("UTF-8"), "tall", "none"]);
        assert!(lines[3].ends_with(&format!(":3:bg1:{}", session.registry.dir().display())), "{}", lines[3]);
    }
}

#[test]
fn what_cannot_start_leaves_nothing() {
    let [supervised, unsupervised] = Session::both();
    for session in [&supervised, &unsupervised] {
        let refuse = |start: Start| session.registry.start(&start).expect_err("it cannot start");
        assert!(matches!(refuse(Start::new(" \n", session.cwd())), ProcError::EmptyCommand));
        assert!(matches!(refuse(Start::new("true", session.cwd().join("no"))), ProcError::Read { .. }));
        assert!(matches!(refuse(Start::new("true", "/dev/null")), ProcError::Read { .. }));
        let error = refuse(Start::new("true", session.cwd()).tell_matches("("));
        assert!(matches!(error, ProcError::Pattern { .. }), "{error}");
        assert!(!session.registry.dir().exists());
    }
    let with = |program: &str, args: &[&str]| {
        let registry = unsupervised.registry.clone().with_supervisor(Supervisor::new(program, args));
        registry.start(&Start::new("true", unsupervised.cwd())).expect_err("no supervisor")
    };
    assert!(matches!(with("/nonexistent", &[]), ProcError::Spawn { .. }));
    assert!(matches!(with("/bin/sh", &["-c", "echo oak"]), ProcError::SupervisorFailed { .. }));
    assert_eq!(fs::read_dir(unsupervised.registry.dir()).expect("made").count(), 0);
    // This one may have started something: what leads to it stays.
    assert!(matches!(with("/bin/true", &[]), ProcError::SupervisorSilent { .. }));
    assert_eq!(unsupervised.look(&"bg1".parse().expect("an id")).state, State::Starting);
}

#[test]
fn a_supervisor_is_started_by_a_registry_and_nobody_else() {
    let session = Session::supervised();
    let status = session.run("echo once");
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_session-supervisor"));
        command.args(args).output().expect("it is built")
    };
    let dir = session.registry.dir().to_str().expect("UTF-8");
    for args in [&[][..], &[dir], &["proc", "bg1"], &[dir, "../bg1"], &[dir, "bg1", "more"]] {
        assert!(!run(args).status.success(), "{args:?}");
    }
    // A start that has been used is not used again.
    assert_eq!(String::from_utf8_lossy(&run(&[dir, "bg1"]).stdout), "\"id_taken\"\n");
    assert_eq!(session.text("bg1.log").as_deref(), Some("once\n"));
    assert_eq!(session.look(&status.id).exit_code, Some(0));
    let refused = session_proc::supervise([dir.into(), "../bg1".into()]);
    assert!(matches!(refused, Err(ProcError::Arguments)), "{refused:?}");
    // The test itself has more than one thread.
    let error = session_proc::supervise([dir.into(), "bg1".into()]).expect_err("threads");
    assert!(matches!(error, ProcError::Threads), "{error}");
}

#[test]
fn a_supervisor_ends_with_the_last_of_its_own() {
    let session = Session::supervised();
    let status = session.start("(setsid sh -c 'echo $$ >stray; exec sleep 600' >/dev/null 2>&1 &) ; exit 3");
    let stray = session.told_process("stray");
    assert_eq!(session.ended(&status.id).exit_code, Some(3));
    let parent: i32 = {
        eventually("it is given to the supervisor", || kernel_status(stray.pid, "Name").starts_with("sleep"));
        kernel_status(stray.pid, "PPid").parse().expect("a pid")
    };
    let supervisor = Identity::of(parent).expect("readable").expect("it runs");
    assert!(kernel_status(parent, "Name").starts_with("session-superv"), "{}", kernel_status(parent, "Name"));
    // It ignores being asked.
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(parent), nix::sys::signal::Signal::SIGTERM).expect("ours");
    assert!(is_live(&supervisor));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(stray.pid), nix::sys::signal::Signal::SIGKILL).expect("ours");
    eventually("the supervisor ends", || !is_live(&supervisor));
}

#[test]
fn ids_count_on_from_the_highest() {
    let session = Session::unsupervised();
    assert_eq!(session.run("true").id.as_str(), "bg1");
    session.put("bg7.json", "{}");
    assert_eq!(session.run("true").id.as_str(), "bg8");
    session.put("bg20.log", "somebody's");
    assert_eq!(session.run("true").id.as_str(), "bg21");
    session.put("other.json", "{}");
    session.put("bg-3.json", "{}");
    assert_eq!(session.run("true").id.as_str(), "bg22");
    assert_eq!(session.text("bg20.log").as_deref(), Some("somebody's"));
}

#[test]
fn a_registry_needs_no_directory_until_something_starts() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let registry = Registry::open(&scratch.path().join("proc")).expect("absolute").with_supervisor(supervisor());
    assert_eq!(registry.list().expect("nothing").processes, []);
    assert_eq!(registry.events().expect("nothing"), []);
    assert!(registry.stop_all(session_proc::Which::All, &session_proc::Stop::default()).expect("nothing").is_empty());
    assert!(!registry.dir().exists());
}

#[test]
fn whichever_operation_fails_nothing_runs_and_the_id_is_free() {
    for at in 0.. {
        let session = Session::unsupervised();
        let start = Start::new("exec sleep 600", session.cwd());
        let run = faults::with(Fault::Full { at }, || session.registry.start(&start));
        if !run.hit {
            assert_eq!(run.result.expect("nothing failed").state, State::Running);
            return;
        }
        run.result.expect_err("an operation failed");
        // What was killed needs a moment to end.
        eventually("nothing runs", || is_empty(&session));
        let left = fs::read_dir(session.registry.dir()).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{at}");
    }
}

#[test]
fn what_is_written_by_others_is_left_as_it_is() {
    let session = Session::unsupervised();
    let id = session.run("true").id;
    // A later version's: what it added stays.
    let dossier = session.text(".bg1.id").expect("ours");
    session.put(".bg1.id", &dossier.replacen('{', "{\"later\":[1],", 1));
    assert_eq!(session.registry.events().expect("readable").len(), 1);
    let after: Value = serde_json::from_str(&session.text(".bg1.id").expect("ours")).expect("JSON");
    assert_eq!((&after["later"][0], &after["told"]["end"]), (&Value::from(1), &Value::from(true)));
    // One that cannot be read is not replaced; the record still speaks.
    session.put(".bg1.id", "{\"origin\":7}");
    assert_eq!(session.registry.status(&id).expect("recorded").exit_code, Some(0));
    session.registry.tune(&id, &Tuning { remind_every_s: Some(Some(5)), ..Tuning::default() }).expect("recorded");
    assert_eq!(session.text(".bg1.id").as_deref(), Some("{\"origin\":7}"));
}

#[test]
fn where_nothing_can_be_locked_nothing_is_left_running() {
    for session in Session::both() {
        let start = || session.registry.start(&Start::new("sleep 600", session.cwd()));
        let error = refusing(Call::Flock, Errno::EOPNOTSUPP, start).expect_err("it could not be recorded");
        // With a supervisor it is that which cannot lock.
        let is_told = match &error {
            ProcError::Lock { path, .. } => path == session.registry.dir(),
            ProcError::SupervisorFailed { .. } => true,
            _ => false,
        };
        assert!(is_told, "{error}");
        eventually("what was started ends", || is_empty(&session));
        assert_eq!(fs::read_dir(session.registry.dir()).expect("it was made").count(), 0, "the id is free again");
    }
}

#[test]
fn where_the_last_number_is_taken_there_is_no_id() {
    let session = Session::unsupervised();
    session.put(&format!("bg{}.log", u64::MAX), "somebody's\n");
    let error = session.registry.start(&Start::new("sleep 600", session.cwd())).expect_err("there is no other");
    assert!(matches!(&error, ProcError::NoFreeId { proc_dir } if proc_dir == session.registry.dir()), "{error}");
    assert!(is_empty(&session));
}
