//! Who a pid is, and whether it lives.

use crate::support::{Job, as_nobody, eventually};
use chrono::{TimeDelta, Utc};
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};
use session_proc::{Identity, Liveness, ProcError};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::thread;

fn liveness(process: &Identity) -> Liveness {
    process.liveness().expect("/proc is readable")
}

#[test]
fn a_process_is_itself() {
    let own = Identity::own().expect("/proc is readable");
    assert_eq!(own.pid, i32::try_from(std::process::id()).expect("pids are below 2^22"));
    assert_eq!(Identity::of(own.pid).expect("/proc is readable"), Some(own.clone()));
    assert_eq!(liveness(&own), Liveness::Live);
}

#[test]
fn p07_a_zombie_is_dead_and_after_it_is_reaped_gone() {
    let mut job = Job::shell("exit 0");
    let process = job.identity();
    eventually("the child has ended", || liveness(&process) == Liveness::Zombie);
    assert!(!Liveness::Zombie.is_live());
    assert_eq!(Liveness::by_start(process.pid, Utc::now()).expect("/proc is readable"), Liveness::Zombie);
    job.0.wait().expect("it is our child");
    assert!(!liveness(&process).is_live());
}

#[test]
fn l08_p03_i30_each_field_of_an_identity_counts() {
    let (job, other) = (Job::idle(), Job::idle());
    let process = job.identity();
    assert_eq!(liveness(&process), Liveness::Live);
    // Two children may start within one tick; a tick that neither has tells them apart.
    let by_pid = Identity { pid: other.pid(), start_ticks: other.identity().start_ticks + 7, ..process.clone() };
    assert_eq!(liveness(&by_pid), Liveness::Reused);
    for ticks in [process.start_ticks - 1, process.start_ticks + 1, 0] {
        assert_eq!(liveness(&Identity { start_ticks: ticks, ..process.clone() }), Liveness::Reused);
    }
    let boot_id = "00000000-0000-4000-8000-000000000000".to_owned();
    assert_eq!(liveness(&Identity { boot_id, ..process.clone() }), Liveness::OtherBoot);
    assert_eq!(liveness(&Identity { pid: i32::MAX, ..process }), Liveness::Gone);
}

#[test]
fn pids_up_to_one_are_nobody() {
    for pid in [1, 0, -1, i32::MIN] {
        let init = Identity::of(1).expect("/proc is readable").expect("somebody is pid 1");
        assert_eq!(liveness(&Identity { pid, ..init }), Liveness::Gone, "{pid}");
        assert_eq!(Liveness::by_start(pid, Utc::now()).expect("/proc is readable"), Liveness::Gone, "{pid}");
    }
    for pid in [0, -1, i32::MIN] {
        assert_eq!(Identity::of(pid).expect("/proc is readable"), None, "{pid}");
    }
}

#[test]
fn who_started_after_the_moment_is_another_process() {
    let job = Job::idle();
    let by = |started_by| Liveness::by_start(job.pid(), started_by).expect("/proc is readable");
    assert_eq!(by(Utc::now()), Liveness::Live);
    assert_eq!(by(Utc::now() + TimeDelta::days(1)), Liveness::Live);
    assert_eq!(by(Utc::now() - TimeDelta::minutes(5)), Liveness::Reused);
    assert_eq!(by(chrono::DateTime::<Utc>::MIN_UTC), Liveness::Reused);
    assert_eq!(by(chrono::DateTime::<Utc>::MAX_UTC), Liveness::Live);
}

#[test]
fn within_two_seconds_a_start_is_not_called_later() {
    // The clock that counts: the start as the kernel tells it, however long ago that was.
    let ticks_per_s = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).expect("known").expect("limited");
    let boot = fs::read_to_string("/proc/stat").expect("readable");
    let boot_s: i64 =
        boot.lines().find_map(|line| line.strip_prefix("btime ")).expect("there").parse().expect("a number");
    let job = Job::idle();
    let ticks = i64::try_from(job.identity().start_ticks).expect("small");
    let start = chrono::DateTime::from_timestamp_millis(boot_s * 1000 + ticks * 1000 / ticks_per_s).expect("a time");
    let by = |ms| Liveness::by_start(job.pid(), start + TimeDelta::milliseconds(ms)).expect("/proc is readable");
    assert_eq!((by(0), by(-1990), by(-2010)), (Liveness::Live, Liveness::Live, Liveness::Reused));
}

#[test]
fn the_chain_of_parents_tells_who_descends() {
    let mut job = Job::shell("sh -c 'sleep 600 & echo $!; wait' & wait");
    let mut line = String::new();
    BufReader::new(job.0.stdout.as_mut().expect("piped")).read_line(&mut line).expect("it tells its child");
    let grandchild: i32 = line.trim().parse().expect("a pid");
    let (process, own, stranger) = (job.identity(), Identity::own().expect("/proc is readable"), Job::idle());
    let begot = |ancestor: &Identity, pid| ancestor.is_or_begot(pid).expect("/proc is readable");
    assert!(begot(&process, grandchild) && begot(&own, grandchild) && begot(&process, process.pid));
    assert!(!begot(&process, own.pid) && !begot(&stranger.identity(), grandchild));
    assert!(!begot(&Identity { start_ticks: process.start_ticks + 1, ..process.clone() }, grandchild));
    assert!(!begot(&Identity { boot_id: "another".to_owned(), ..process.clone() }, grandchild));
    for pid in [1, 0, -1, i32::MAX] {
        assert!(!begot(&process, pid), "{pid}");
    }
}

#[test]
fn a_process_outlives_its_first_thread() {
    // SAFETY: the child starts a thread and leaves its first one; it never returns into the test.
    let child = match unsafe { fork() }.expect("a process more") {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            thread::spawn(|| {
                loop {
                    nix::unistd::pause();
                }
            });
            // SAFETY: the raw call ends this thread alone and unwinds nothing.
            unsafe { libc::syscall(libc::SYS_exit, 0) };
            unreachable!("the thread has ended");
        }
    };
    let process = Identity::of(child.as_raw()).expect("/proc is readable").expect("not reaped");
    let state = || {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).expect("not reaped");
        stat[stat.rfind(')').expect("the name is in parentheses")..].split_whitespace().nth(1) == Some("Z")
    };
    eventually("the first thread has ended", state);
    let seen = liveness(&process);
    kill(child, Signal::SIGKILL).expect("it is our child");
    waitpid(child, None).expect("it is our child");
    assert_eq!(seen, Liveness::Live);
}

#[test]
fn a_process_that_may_not_be_signalled_is_live() {
    let job = Job::idle();
    let process = job.identity();
    let pid = Pid::from_raw(process.pid);
    let Some((signal, seen)) = as_nobody(false, move || (kill(pid, None), liveness(&process))) else { return };
    assert_eq!((signal, seen), (Err(Errno::EPERM), Liveness::Live));
}

#[test]
fn a_process_that_may_not_even_be_seen_is_live_and_a_free_pid_is_not() {
    let job = Job::idle();
    let process = job.identity();
    let free = Identity { pid: i32::MAX, ..process.clone() };
    let look = move || (Identity::of(process.pid).expect("readable"), liveness(&process), liveness(&free));
    let Some(seen) = as_nobody(true, look) else { return };
    assert_eq!(seen, (None, Liveness::Live, Liveness::Gone));
}

#[test]
fn a_start_beyond_all_calendars_makes_no_sense() {
    let own = Identity::own().expect("/proc is readable");
    own.started().expect("this process started at a time");
    let started = Identity { start_ticks: u64::MAX, ..own }.started();
    assert!(matches!(started, Err(ProcError::Kernel { .. })), "{started:?}");
}
