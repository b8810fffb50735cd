//! What waiting costs: the processor time of ten seconds in which nothing happens. Printed, and not judged.

use nix::sys::resource::{UsageWho, getrusage};
use session_proc::{Excess, OUTPUT_BYTES, Registry, Start, Stop, Supervisor, Until};
use std::fs;
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(10);

fn main() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let supervisor = Supervisor::new(env!("CARGO_BIN_EXE_session-supervisor"), [] as [&str; 0]);
    let registry = Registry::open(&scratch.path().join("proc")).expect("an absolute path").with_supervisor(supervisor);
    let start = Start::new("echo ready; exec sleep 600", scratch.path());
    let process = registry.start(&start).expect("it starts");
    let parent = supervisor_of(process.pid.expect("it runs"));
    let before = ticks(parent);

    measure("wait for the end", || {
        registry.wait(&process.id, &Until::Exit, Some(TIME)).expect("it can be waited for");
    });
    measure("wait for a line", || {
        let until = Until::Match { pattern: "oak".to_owned(), from: 0 };
        registry.wait(&process.id, &until, Some(TIME)).expect("it can be waited for");
    });
    measure("follow the log", || {
        let end = Instant::now() + TIME;
        let mut cursor = 0;
        let mut watch = registry.watch(&process.id).expect("it can be watched");
        while Instant::now() < end {
            let piece = registry.output(&process.id, cursor, OUTPUT_BYTES, Excess::LeaveForNext).expect("readable");
            cursor = piece.cursor;
            watch.wait(Some(end.saturating_duration_since(Instant::now()))).expect("the kernel waits");
        }
    });
    tell("the supervisor, meanwhile", Duration::from_millis((ticks(parent) - before) * 10), TIME * 3);
    registry.stop(&process.id, &Stop::default()).expect("it can be stopped");
}

fn measure(what: &str, act: impl FnOnce()) {
    let (begun, before) = (Instant::now(), used());
    act();
    tell(what, used() - before, begun.elapsed());
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn tell(what: &str, used: Duration, time: Duration) {
    let percent = 100.0 * used.as_secs_f64() / time.as_secs_f64();
    println!(
        "{what:<26} {:>8.1} ms of {:>5.1} s  {percent:.3} % of a core",
        used.as_secs_f64() * 1000.0,
        time.as_secs_f64()
    );
}

/// The processor time of this process.
fn used() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel counts");
    [usage.user_time(), usage.system_time()]
        .map(|time| Duration::from_micros(u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).expect("positive")))
        .iter()
        .sum()
}

fn stat(pid: i32) -> Vec<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields = stat[stat.rfind(')').expect("a name") + 4..].split(' ');
    fields.map(|field| field.trim().parse().unwrap_or(0)).collect()
}

fn supervisor_of(pid: i32) -> i32 {
    i32::try_from(stat(pid)[0]).expect("small")
}

/// The processor time of another process, in hundredths of a second.
fn ticks(pid: i32) -> u64 {
    stat(pid)[10] + stat(pid)[11]
}
