//! Parts of tests that run in a process of their own: this executable again, for the test of that name only.

use std::env;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// What a child is to do.
const TASK: &str = "SESSION_STORE_TEST_TASK";
/// Who started it.
const PARENT: &str = "SESSION_STORE_TEST_PARENT";
const SEPARATOR: char = '\u{1f}';

/// The command that runs the child's part `name`, such as `history_race::appender`, with `task`.
pub(crate) fn command(name: &str, task: &[&str]) -> Command {
    let mut command = Command::new(env::current_exe().expect("a test knows its executable"));
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command.env(TASK, task.join(&SEPARATOR.to_string())).env(PARENT, std::process::id().to_string());
    command
}

/// The same, with `SIGXFSZ` ignored from the start.
pub(crate) fn command_ignoring_xfsz(name: &str, task: &[&str]) -> Command {
    let inner = command(name, task);
    let mut command = Command::new("sh");
    command.args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#]).arg(inner.get_program()).args(inner.get_args());
    command.env(TASK, task.join(&SEPARATOR.to_string())).env(PARENT, std::process::id().to_string());
    command
}

/// The task of this process, if it is a child.
pub(crate) fn task() -> Option<Vec<String>> {
    env::var(TASK).ok().map(|task| task.split(SEPARATOR).map(str::to_owned).collect())
}

/// Whether the process that started this one is gone. A child that works until it is killed asks now and then.
pub(crate) fn is_orphan() -> bool {
    let parent = env::var(PARENT).ok().and_then(|pid| pid.parse().ok());
    parent != Some(nix::unistd::getppid().as_raw())
}

/// A child that was started. Dropping it kills it.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdout(std::process::Stdio::null());
        Running(command.spawn().expect("this executable can be started again"))
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("a child can be killed");
        self.0.wait().expect("a child can be waited for");
    }

    /// Waits for its end, which must come.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.ends_within(Duration::from_secs(300)).expect("the child ends")
    }

    /// Waits so long for its end. `None`: it goes on.
    pub(crate) fn ends_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let limit = Instant::now() + time;
        loop {
            let ended = self.0.try_wait().expect("a child can be waited for");
            if ended.is_some() || Instant::now() >= limit {
                return ended;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
