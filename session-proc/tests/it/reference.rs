//! The reference's way of starting, in its own words: what it looks at, and in which order it writes.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Starts a command as the reference does. Returns the id that it took (the first number after the highest record that
/// has no record) and how long it had nothing but its own belief that the id is free.
pub(crate) fn start(dir: &Path, command: &str) -> (String, Duration) {
    let looked = Instant::now();
    let numbers = fs::read_dir(dir)
        .expect("it is there")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json")?.strip_prefix("bg")?.parse::<u64>().ok());
    let mut number = numbers.max().unwrap_or(0);
    let id = loop {
        number += 1;
        let id = format!("bg{number}");
        if !dir.join(format!("{id}.json")).exists() {
            break id;
        }
    };
    let log = File::create(dir.join(format!("{id}.log"))).expect("it is our directory");
    let exit = dir.join(format!("{id}.exit"));
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("trap 'printf %s $? >\"$EXIT_FILE\"' EXIT\n{command}\n"));
    shell.env("EXIT_FILE", &exit).stdin(Stdio::null()).stdout(log.try_clone().expect("open")).stderr(log);
    // SAFETY: setsid is a system call and nothing else.
    unsafe { shell.pre_exec(|| nix::unistd::setsid().map(drop).map_err(Into::into)) };
    // Nobody waits for it: who starts in this way ends before it.
    #[expect(clippy::zombie_processes, reason = "the reference does so too")]
    let child = shell.spawn().expect("the system has a shell");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let started = chrono::DateTime::from_timestamp(i64::try_from(now.as_secs()).expect("small"), now.subsec_nanos());
    let started = session_core::format_time(&started.expect("a time").fixed_offset());
    let pid = child.id();
    let record = format!(
        "{{\n  \"id\": \"{id}\",\n  \"command\": \"{command}\",\n  \"cwd\": \".\",\n  \"pid\": {pid},\n  \"started\": \"{started}\",\n  \"report\": \"exit\",\n  \"state\": \"running\",\n  \"exit_code\": 0,\n  \"ended\": \"0001-01-01T00:00:00Z\"\n}}\n"
    );
    fs::write(dir.join(format!("{id}.json")), record).expect("it is our directory");
    (id, looked.elapsed())
}
