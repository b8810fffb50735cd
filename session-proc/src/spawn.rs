//! Bringing a process to life in a session of its own, with or without a supervisor.

use crate::id::Paths;
use crate::start::{Start, Supervisor};
use crate::{Identity, ProcError, mark};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::unistd::setsid;
use serde::{Deserialize, Serialize};
use session_disk::{open_append, temp_name};
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const SHELL: &str = "/bin/sh";
/// How long a supervisor may take to start a shell before it is given up.
const SUPERVISOR_PATIENCE: Duration = Duration::from_secs(60);

/// The kernel has no more signals.
const LAST_SIGNAL: libc::c_int = 64;

/// What stands in for a supervisor. It is another shell than the command's, so that nothing in the command (`exec`, a
/// trap of its own, a signal to itself) keeps the status from being written, and it outlives a signal to the group
/// that is not `KILL`.
///
/// What a shell has to say about the end of a child ("Killed") is not part of the command's output.
///
/// `$1` is the command, `$2` the file for the status, `$3` one beside it that is renamed.
const WRAPPER: &str = r#"trap : HUP INT QUIT TERM USR1 USR2
exec 3>&2 2>/dev/null
( exec 2>&3 3>&-; exec /bin/sh -c "$1" )
status=$?
umask 077
printf %s "$status" >"$3" && mv -f "$3" "$2"
exit "$status"
"#;

/// How far a supervisor came, in one line on its standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Launch {
    /// The command runs and is recorded.
    Started,
    /// The system refused, with this error number.
    Refused(i32),
    /// The id is somebody else's. Nothing was started.
    IdTaken,
    /// The records could not be read or written.
    NoRecord,
}

/// What came of a claim.
pub(crate) enum Launched {
    /// The command runs and is recorded.
    Runs,
    /// The id turned out to be somebody else's. Nothing was started.
    IdTaken,
}

/// A process that this one is the parent of.
pub(crate) struct Process {
    child: Child,
    identity: Identity,
}

impl Process {
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Ends it again, with all that it has started in its group.
    pub(crate) fn kill(mut self) {
        let group = nix::unistd::Pid::from_raw(self.identity.pid);
        // It is our child and not reaped, so the number is its own. If it is gone already, so much the better.
        killpg(group, Signal::SIGKILL).ok();
        self.child.wait().ok();
    }
}

/// Starts the command below a shell that writes its status.
pub(crate) fn unsupervised(paths: &Paths, start: &Start, token: &str) -> Result<Process, ProcError> {
    let log = open_append(&paths.log())?;
    let mut command = Command::new(SHELL);
    command.args(["-c", WRAPPER, "sh", &start.command]).arg(paths.exit()).arg(temp_name(&paths.exit()));
    set_env(&mut command, start);
    command.env(mark::VARIABLE, mark::value(token, &paths.id, &paths.dir)).current_dir(&start.cwd);
    let second = log.try_clone().map_err(|source| ProcError::read(&paths.log(), source))?;
    command.stdin(Stdio::null()).stdout(log).stderr(second);
    spawn(&mut command, Path::new(SHELL))
}

/// Starts the command, for a supervisor: its standard output and error go to `output`.
pub(crate) fn supervised_command(
    command_line: &str,
    mark: (&str, &Paths),
    output: [Stdio; 2],
) -> Result<Process, ProcError> {
    let (token, paths) = mark;
    let [out, err] = output;
    let mut command = Command::new(SHELL);
    command.arg("-c").arg(command_line).env(mark::VARIABLE, mark::value(token, &paths.id, &paths.dir));
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    spawn(&mut command, Path::new(SHELL))
}

/// Starts a supervisor, which starts the command, and waits until it says that the command is recorded.
pub(crate) fn supervised(
    supervisor: &Supervisor,
    paths: &Paths,
    start: &Start,
    token: &str,
) -> Result<Launched, ProcError> {
    let program = supervisor.program();
    let mut command = Command::new(program);
    command.args(supervisor.args()).arg(&paths.dir).arg(paths.id.as_str());
    set_env(&mut command, start);
    // Who starts it may carry a mark of its own, and end before it: another supervisor is given it as an orphan then.
    command.env(mark::VARIABLE, mark::of_supervisor(token, &paths.id, &paths.dir));
    command.current_dir(&start.cwd).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    detach(&mut command);
    let fail = |source| ProcError::Spawn { program: program.to_owned(), source };
    let mut child = command.spawn().map_err(fail)?;
    let stdout = child.stdout.take().expect("it was asked for above");
    let answer = read_line(stdout, SUPERVISOR_PATIENCE).map_err(fail)?;
    // The process that was started here only starts the one that stays: it is about to end, or has.
    let silent = || ProcError::SupervisorSilent { program: program.to_owned() };
    let Some(line) = answer else { return Err(silent()) };
    // Where this program ignores its children the kernel has reaped it already.
    child.wait().ok();
    match serde_json::from_slice(&line) {
        Ok(Launch::Started) => Ok(Launched::Runs),
        Ok(Launch::IdTaken) => Ok(Launched::IdTaken),
        Ok(Launch::Refused(number)) => Err(fail(io::Error::from_raw_os_error(number))),
        Ok(Launch::NoRecord) => Err(ProcError::SupervisorFailed { program: program.to_owned() }),
        // It ended without a word: it is no supervisor, or it was killed.
        Err(_) if line.is_empty() => Err(silent()),
        Err(_) => Err(ProcError::SupervisorFailed { program: program.to_owned() }),
    }
}

fn spawn(command: &mut Command, program: &Path) -> Result<Process, ProcError> {
    detach(command);
    let child = command.spawn().map_err(|source| ProcError::Spawn { program: program.to_owned(), source })?;
    let pid = i32::try_from(child.id()).expect("the kernel's pids are positive numbers of 31 bits");
    // It is our child and not reaped: the pid is its own, even if it has ended.
    match Identity::of(pid)? {
        Some(identity) => Ok(Process { child, identity }),
        None => Err(ProcError::kernel(format!("/proc/{pid}/stat"))),
    }
}

/// Cuts a process off from whoever starts it: its terminal, its group, its ignored signals, its open files.
fn detach(command: &mut Command) {
    // SAFETY: between fork and exec only system calls are made, which is all that is allowed there.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            for number in 1..=LAST_SIGNAL {
                // Of those that nobody can ignore, or that the C library keeps to itself, this fails.
                libc::signal(number, libc::SIG_DFL);
            }
            SigSet::empty().thread_set_mask()?;
            // Old kernels lack the call; then what the caller left open stays open.
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
            Ok(())
        });
    }
}

fn set_env(command: &mut Command, start: &Start) {
    for (name, value) in &start.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// Reads up to a newline or the end. `None`: neither came in time.
fn read_line(mut from: ChildStdout, patience: Duration) -> io::Result<Option<Vec<u8>>> {
    let end = Instant::now() + patience;
    let mut line = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(from.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(0) if left.is_zero() => return Ok(None),
            Ok(0) | Err(nix::errno::Errno::EINTR) => continue,
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut bytes = [0; 256];
        let read = from.read(&mut bytes)?;
        line.extend_from_slice(&bytes[..read]);
        if read == 0 || line.contains(&b'\n') {
            return Ok(Some(line));
        }
    }
}
