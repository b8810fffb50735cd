//! What runs in a session that is deleted.

use crate::scratch::{Scratch, Sleeper, eventually, identity_json, name, user};
use session_proc::{Identity, Start};
use session_store::{Deletion, StoreError};
use std::fs;
use std::os::unix::fs::symlink;
use std::process;

fn demo() -> Scratch {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant three oaks")]);
    scratch.session("demo-2", &[user(2, "another")]);
    scratch
}

/// A record of a process that was started so many seconds ago, as the reference writes it.
fn record(scratch: &Scratch, pid: u32, started_s_ago: i64) {
    let started = chrono::Utc::now() - chrono::TimeDelta::seconds(started_s_ago);
    let started = session_core::format_time(&started.fixed_offset());
    let record = format!(
        "{{\"id\":\"bg1\",\"pid\":{pid},\"command\":\"sleep 600\",\"started\":\"{started}\",\"state\":\"running\"}}"
    );
    scratch.put("demo/proc/bg1.json", record);
}

#[test]
fn p01_deleting_a_session_stops_its_processes_first() {
    for is_purged in [false, true] {
        let scratch = demo();
        let store = scratch.store();
        let registry = store.registry(&name("demo")).expect("it is no link");
        let start = |command: &str| {
            registry.start(&Start::new(command, scratch.outside())).expect("it starts").process.expect("it runs")
        };
        let ended = start("setsid sh -c 'echo $$ >pid; exec sleep 600' & until [ -s pid ]; do sleep 0.01; done");
        let deaf = start("trap '' TERM; while :; do sleep 0.1; done");
        eventually(|| (!ended.liveness().expect("readable").is_live()).then_some(()));
        let pid = fs::read_to_string(scratch.outside().join("pid")).expect("it told").trim().parse().expect("a pid");
        let left = Identity::of(pid).expect("readable").expect("it runs");
        match is_purged {
            true => store.delete(&name("demo"), Deletion::Careful).expect("nothing forbids it"),
            false => store.trash(&name("demo"), "", Deletion::Careful).map(drop).expect("nothing forbids it"),
        }
        assert_eq!(scratch.listed(), ["demo-2"]);
        assert!([&deaf, &left].iter().all(|process| !process.liveness().expect("readable").is_live()));
    }
}

#[test]
fn p03_a_stranger_with_the_pid_of_a_record_outlives_the_session() {
    let scratch = demo();
    let stranger = Sleeper::start();
    record(&scratch, stranger.pid(), 300);
    scratch.store().delete(&name("demo"), Deletion::Careful).expect("nothing of it runs");
    assert_eq!(scratch.listed(), ["demo-2"]);
    assert!(stranger.is_live());
}

#[test]
fn what_cannot_be_stopped_is_named_and_its_session_stands() {
    let scratch = demo();
    // Whoever deletes is never stopped.
    record(&scratch, process::id(), 0);
    let store = scratch.store();
    let started = Identity::own().expect("readable");
    scratch.put("demo/proc/.bg1.id", format!("{{\"process\":{}}}", identity_json(&started)));
    for refused in
        [store.delete(&name("demo"), Deletion::Forced), store.trash(&name("demo"), "", Deletion::Careful).map(drop)]
    {
        let Err(StoreError::Survivors { survivors, .. }) = refused else { panic!("{refused:?}") };
        assert!(survivors[0].starts_with(&format!("bg1: process {}", process::id())), "{survivors:?}");
    }
    assert_eq!(scratch.listed(), ["demo", "demo-2"]);
}

#[test]
fn s03_records_behind_a_link_are_another_sessions() {
    let scratch = demo();
    let store = scratch.store();
    let registry = store.registry(&name("demo-2")).expect("it is no link");
    let process = registry.start(&Start::new("exec sleep 600", "/")).expect("it starts").process.expect("it runs");
    symlink("../demo-2/proc", scratch.path("demo/proc")).expect("the name is free");
    assert!(matches!(store.registry(&name("demo")), Err(StoreError::Escapes { .. })));
    store.delete(&name("demo"), Deletion::Careful).expect("nothing of it runs");
    assert!(process.liveness().expect("readable").is_live());
    store.delete(&name("demo-2"), Deletion::Careful).expect("nothing forbids it");
    assert!(!process.liveness().expect("readable").is_live());
}

/// Waits for its turn; then it has a record, and when it is asked to end it lets the next one have its turn first. `$1` is
/// the directory of the records, `$2` its number.
const HEAD: &str = r#"
until [ -e "$1/.go$2" ]; do sleep 0.01; done
trap ': >"$1/.go$(($2 + 1))"; until [ -s "$1/bg$(($2 + 1)).json" ]; do sleep 0.01; done; exit' TERM
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
printf '{"id":"bg%d","pid":%d,"command":"head","started":"%s","state":"running"}' "$2" $$ "$now" >"$1/.new"
mv "$1/.new" "$1/bg$2.json"
while :; do sleep 0.01; done
"#;

#[test]
fn a_session_in_which_processes_start_as_often_as_they_are_stopped_stands() {
    let scratch = demo();
    let proc = scratch.dir("demo/proc");
    let head = |n: u32| {
        let mut command = process::Command::new("setsid");
        Sleeper::run(command.args(["sh", "-c", HEAD, "sh"]).arg(&proc).arg(n.to_string()))
    };
    let heads = [1, 2, 3, 4].map(head);
    scratch.put("demo/proc/.go1", "");
    eventually(|| proc.join("bg1.json").exists().then_some(()));
    let refused = scratch.store().delete(&name("demo"), Deletion::Careful);
    let Err(StoreError::LiveProcesses { ids, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(ids, ["bg4"], "three were stopped, and each was followed by another");
    assert_eq!(scratch.listed(), ["demo", "demo-2"]);
    assert!(heads[3].is_live());
}
