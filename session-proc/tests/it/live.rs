//! Which background processes run, by their records.

use crate::support::Job;
use chrono::{TimeDelta, Utc};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use session_proc::live_processes;
use std::fs;
use std::path::Path;

fn record(pid: i32, started_s_ago: i64, state: &str) -> String {
    let started = (Utc::now() - TimeDelta::seconds(started_s_ago)).to_rfc3339();
    format!(
        r#"{{"id":"x","name":"n","command":"make oaks","cwd":"/","pid":{pid},"started":"{started}","report":"exit","state":"{state}","exit_code":0,"ended":"0001-01-01T00:00:00Z"}}"#
    )
}

#[test]
fn records_that_name_a_running_process_are_found() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let put = |name: &str, text: &str| fs::write(scratch.path().join(name), text).expect("it is our directory");
    let job = Job::idle();
    put("bg2.json", &record(job.pid(), 1, "running"));
    put("bg1.json", &record(job.pid(), 0, "running"));
    put("bg3.json", &record(job.pid(), 0, "exited"));
    put("bg4.json", &record(job.pid(), 300, "running"));
    put("bg5.json", &record(i32::MAX, 0, "running"));
    put("bg6.json", &record(1, 0, "running"));
    put("bg7.json", &record(-1, 0, "running"));
    put("bg8.log", &record(job.pid(), 0, "running"));
    put(".bg9.json", &record(job.pid(), 0, "running"));
    let live = live_processes(scratch.path()).expect("readable");
    let told: Vec<_> = live.iter().map(|live| (live.id.as_str(), live.pid, live.command.as_str())).collect();
    let oldest_first = [("bg2", job.pid(), "make oaks"), ("bg1", job.pid(), "make oaks")];
    assert_eq!(told, oldest_first);
}

#[test]
fn what_is_no_record_is_passed_over_and_blocks_nobody() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let path = |name: &str| scratch.path().join(name);
    for (i, text) in ["", "null", "{}", "[]", r#"{"id":"#, "\u{feff}", r#"{"pid":"7"}"#].iter().enumerate() {
        fs::write(path(&format!("t{i}.json")), text).expect("it is our directory");
    }
    fs::create_dir(path("dir.json")).expect("the name is free");
    mkfifo(&path("fifo.json"), Mode::S_IRWXU).expect("a FIFO");
    std::os::unix::fs::symlink("t0.json", path("link.json")).expect("the name is free");
    std::os::unix::fs::symlink("nowhere", path("dangling.json")).expect("the name is free");
    assert_eq!(live_processes(scratch.path()).expect("readable"), []);
    assert_eq!(live_processes(Path::new("/nonexistent/proc")).expect("no session, no processes"), []);
}
