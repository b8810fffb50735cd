//! A store of its own for each test, and the program run on it.

use crate::schemas;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The program under test.
pub(crate) const SESSION: &str = env!("CARGO_BIN_EXE_session");

/// A scratch store, a HOME and a work directory, all of them this test's own.
pub(crate) struct Scratch {
    root: TempDir,
    /// Whether processes may be left when a test has failed half-way.
    is_swept: bool,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a scratch directory");
        for dir in ["home", "work"] {
            fs::create_dir(root.path().join(dir)).expect("it is new");
        }
        Scratch { root, is_swept: true }
    }

    /// One in which nothing is started that goes on by itself: looking for that at its end is left out.
    pub(crate) fn without_processes() -> Self {
        let mut scratch = Scratch::new();
        scratch.is_swept = false;
        scratch
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.root.path().join("store")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// A command in this scratch: nothing of the caller's environment but the path, and where a measured program leaves
    /// its counts.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let bin = Path::new(SESSION).parent().expect("a program is in a directory");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        command.env_clear().env("PATH", path).env("HOME", self.home()).env("TZ", "UTC");
        command.envs(std::env::var_os("LLVM_PROFILE_FILE").map(|counts| ("LLVM_PROFILE_FILE", counts)));
        command.env("KVIT_CODER_SESSIONS_DIR", self.store()).env("SESSION", SESSION).current_dir(self.work());
        command
    }

    /// Runs the program with nothing on its standard input.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, "")
    }

    /// Runs the program with `input` on its standard input.
    pub(crate) fn run_with(&self, words: &[&str], input: &str) -> Ran {
        let mut command = self.command(SESSION);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program was built");
        let mut stdin = child.stdin.take().expect("it is piped");
        // A program that does not read its input closes it; that is its right.
        drop(stdin.write_all(input.as_bytes()));
        drop(stdin);
        let ran = Ran::of(&child.wait_with_output().expect("it ends"));
        schemas::hold(words, &ran.stdout);
        ran
    }

    /// Runs the program and expects exit status 0; gives what it printed.
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        self.ok_with(words, "")
    }

    pub(crate) fn ok_with(&self, words: &[&str], input: &str) -> String {
        let ran = self.run_with(words, input);
        assert_eq!(ran.code, 0, "{words:?}: {}{}", ran.stdout, ran.stderr);
        ran.stdout
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_swept {
            return;
        }
        // A test that failed half-way has left processes.
        for pid in running(self) {
            kill(Pid::from_raw(pid), Signal::SIGKILL).ok();
        }
    }
}

/// The processes that run with this scratch's store in their environment or on their command line: all that the program
/// has started there, supervisors included. Zombies do not run.
pub(crate) fn running(scratch: &Scratch) -> Vec<i32> {
    let store = scratch.store().display().to_string();
    let entries = fs::read_dir("/proc").expect("readable").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let runs = |pid: &i32| {
        let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let text = [read("environ"), read("cmdline")].concat();
        let is_zombie = String::from_utf8_lossy(&read("stat")).contains(") Z ");
        !is_zombie && String::from_utf8_lossy(&text).contains(&store)
    };
    pids.filter(runs).collect()
}

/// Asks until the answer is yes.
pub(crate) fn eventually(what: &str, mut answer: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !answer() {
        assert!(Instant::now() < end, "still waiting: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// What a run printed, and its exit status.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// A document that a verb printed.
pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Every path below a directory with its bytes.
pub(crate) fn tree(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(at) = dirs.pop() {
        for entry in fs::read_dir(&at).expect("a directory of this test") {
            let path = entry.expect("it can be read").path();
            let name = path.strip_prefix(dir).expect("it is below").display().to_string();
            if path.is_dir() && !path.is_symlink() {
                all.insert(name + "/", Vec::new());
                dirs.push(path);
            } else {
                all.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
    all
}
