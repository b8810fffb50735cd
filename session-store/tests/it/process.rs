//! Other processes: this test binary again, playing a part.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const PART: &str = "SESSION_STORE_TEST_PART";
const ARGUMENT: &str = "SESSION_STORE_TEST_ARGUMENT";

/// How long races run, in seconds: so long, or 30 where the slow families run in full.
pub(crate) fn race_seconds(usually: u64) -> u64 {
    session_testing::usually(usually, 30)
}

/// A process that plays a part. It is killed when it is dropped.
pub(crate) struct Player {
    child: Child,
    out: BufReader<ChildStdout>,
}

/// The command that plays a part: `argument` is the directory that it works in, `more` what else the part needs.
pub(crate) fn command(part: &str, argument: &Path, more: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("a test binary has a path"));
    command
        .args(["--exact", "process::plays_a_part", "--nocapture", "--quiet"])
        .env(PART, part)
        .env(ARGUMENT, argument)
        .env("SESSION_STORE_TEST_MORE", more);
    command
}

impl Player {
    pub(crate) fn start(part: &str, argument: &Path, more: &str) -> Self {
        Player::spawn(&mut command(part, argument, more))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the test binary can be run");
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        Player { child, out }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("process ids are small")
    }

    /// The next thing that it says.
    pub(crate) fn hears(&mut self) -> String {
        let mut line = String::new();
        // The test harness has a line or two of its own.
        loop {
            line.clear();
            let read = self.out.read_line(&mut line).expect("the pipe can be read");
            assert!(read > 0, "the other process ended without a word");
            if let Some(said) = line.strip_prefix("# ") {
                return said.trim_end().to_owned();
            }
        }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_some()
    }

    pub(crate) fn has_not_failed(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_none_or(|status| status.success())
    }

    /// Lets it end, and gives everything that it still says.
    pub(crate) fn ends(mut self) -> Vec<String> {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("the pipe can be read");
        let status = self.child.wait().expect("it is our child");
        assert!(status.success(), "the other process failed: {status}\n{rest}");
        rest.lines().filter_map(|line| line.strip_prefix("# ")).map(str::to_owned).collect()
    }

    /// Kills it with SIGKILL and waits until it is gone.
    pub(crate) fn dies(mut self) {
        self.child.kill().expect("it is our child");
        self.child.wait().expect("it is our child");
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Says something to the process that started this one.
pub(crate) fn say(what: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n# {what}").and_then(|()| out.flush()).expect("somebody listens");
}

/// Waits until the process that started this one lets it go on.
pub(crate) fn wait_for_end() {
    let mut rest = Vec::new();
    std::io::stdin().lock().read_to_end(&mut rest).expect("the pipe can be read");
}

/// Not a test of its own: the way in for the other processes.
#[test]
fn plays_a_part() {
    let (Some(part), Some(argument)) = (env::var_os(PART), env::var_os(ARGUMENT)) else { return };
    let more = env::var("SESSION_STORE_TEST_MORE").unwrap_or_default();
    let part = part.to_str().expect("parts are words");
    let dir = Path::new(&argument);
    super::parts::play(part, dir, &more);
}
