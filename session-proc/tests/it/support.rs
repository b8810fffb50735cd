//! Processes that do not outlive their test, and waiting that ends.

use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal as UnixSignal, killpg};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork};
use session_proc::{Identity, ProcessId, Registry, Signal, Start, Status, Stop, Supervisor, Which};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A child in a process group of its own. Dropping it kills the group, as long as the child is not reaped.
pub(crate) struct Job(pub(crate) Child, Identity);

impl Job {
    pub(crate) fn shell(script: &str) -> Job {
        Job::run(Command::new("/bin/sh").arg("-c").arg(script))
    }

    /// A process that does nothing for longer than any test takes.
    pub(crate) fn idle() -> Job {
        Job::run(Command::new("sleep").arg("600"))
    }

    pub(crate) fn run(command: &mut Command) -> Job {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        Job::of(command.spawn().expect("the system has this program"))
    }

    /// As the reference starts it: in a session of its own.
    pub(crate) fn in_session(script: &str) -> Job {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: setsid is a system call and nothing else.
        unsafe { command.pre_exec(|| nix::unistd::setsid().map(drop).map_err(Into::into)) };
        Job::of(command.spawn().expect("the system has a shell"))
    }

    fn of(child: Child) -> Job {
        let pid = i32::try_from(child.id()).expect("pids are below 2^22");
        let identity = Identity::of(pid).expect("/proc is readable").expect("the child is not reaped");
        Job(child, identity)
    }

    pub(crate) fn pid(&self) -> i32 {
        self.1.pid
    }

    pub(crate) fn identity(&self) -> Identity {
        self.1.clone()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // Until it is reaped, the number is the child's; its group may be empty.
        if Identity::of(self.pid()).is_ok_and(|identity| identity.as_ref() == Some(&self.1)) {
            killpg(Pid::from_raw(self.pid()), UnixSignal::SIGKILL).ok();
            drop(self.0.wait());
        }
    }
}

/// A session's directory with a registry over its records. Dropping it kills what was started in it.
pub(crate) struct Session {
    scratch: TempDir,
    pub(crate) registry: Registry,
}

impl Session {
    pub(crate) fn supervised() -> Session {
        let mut session = Session::unsupervised();
        session.registry = session.registry.clone().with_supervisor(supervisor());
        session
    }

    pub(crate) fn unsupervised() -> Session {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let registry = Registry::open(&scratch.path().join("proc")).expect("an absolute path");
        Session { scratch, registry }
    }

    /// One of each kind.
    pub(crate) fn both() -> [Session; 2] {
        [Session::supervised(), Session::unsupervised()]
    }

    /// The directory that commands run in.
    pub(crate) fn cwd(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.registry.dir().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read(self.file(name)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        fs::create_dir_all(self.registry.dir()).expect("it is our directory");
        fs::write(self.file(name), text).expect("it is our directory");
    }

    /// Makes gates in the commands' directory: `read x <go1` waits until [`Session::go`] is called with 1. Each
    /// serves once, because a reader that comes early finds the last writer.
    pub(crate) fn gates(&self, count: u32) {
        for n in 1..=count {
            let path = self.cwd().join(format!("go{n}"));
            nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("the name is free");
        }
    }

    /// Lets the command through a gate, once it is there.
    pub(crate) fn go(&self, n: u32) {
        fs::write(self.cwd().join(format!("go{n}")), "\n").expect("somebody reads");
    }

    pub(crate) fn start(&self, command: &str) -> Status {
        self.registry.start(&Start::new(command, self.cwd())).expect(command)
    }

    pub(crate) fn look(&self, id: &ProcessId) -> Status {
        self.registry.look(id).expect("it has a record")
    }

    /// Starts a command and waits for its end.
    pub(crate) fn run(&self, command: &str) -> Status {
        let id = self.start(command).id;
        self.ended(&id)
    }

    pub(crate) fn ended(&self, id: &ProcessId) -> Status {
        eventually("it ends", || self.look(id).state.is_final());
        self.registry.status(id).expect("it has a record")
    }

    /// Waits until the command has said something in a file of its directory.
    pub(crate) fn told(&self, name: &str) -> String {
        let path = self.cwd().join(name);
        eventually(name, || fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n')));
        fs::read_to_string(path).expect("it was there").trim_end().to_owned()
    }

    /// Waits for a pid that the command tells, and finds out whose it is.
    pub(crate) fn told_process(&self, name: &str) -> Identity {
        let pid = self.told(name).parse().expect("a pid");
        Identity::of(pid).expect("/proc is readable").expect("it runs")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let stop = Stop { signal: Signal::KILL, grace: Duration::ZERO };
        if let Err(error) = self.registry.stop_all(Which::All, &stop) {
            complain(&error);
        }
    }
}

#[expect(clippy::print_stderr, reason = "a test that fails to clean up says so")]
fn complain(error: &session_proc::ProcError) {
    eprintln!("not cleaned up: {error}");
}

pub(crate) fn supervisor() -> Supervisor {
    Supervisor::new(env!("CARGO_BIN_EXE_session-supervisor"), [] as [&str; 0])
}

pub(crate) fn is_live(process: &Identity) -> bool {
    process.liveness().expect("/proc is readable").is_live()
}

/// Lets `act` run on a thread that has become somebody else, so that it may not signal this process. `None` where the
/// test itself may not do that.
pub(crate) fn as_nobody<T: Send + 'static>(hide: bool, act: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    const NOBODY: libc::uid_t = 65534;
    let thread = thread::spawn(move || {
        if hide {
            unshare(CloneFlags::CLONE_NEWNS).ok()?;
            mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>).ok()?;
            mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), Some("hidepid=invisible")).ok()?;
        }
        // SAFETY: the raw calls change the user and groups of this thread only, and the thread ends with `act`.
        let changed = unsafe {
            libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()) == 0
                && libc::syscall(libc::SYS_setresgid, NOBODY, NOBODY, NOBODY) == 0
                && libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) == 0
        };
        changed.then(act)
    });
    thread.join().expect("the thread does not panic")
}

/// Nothing of the session runs, its supervisors included.
pub(crate) fn is_empty(session: &Session) -> bool {
    let dir = session.registry.dir().to_string_lossy().into_owned();
    let runs = |pid: &str| {
        let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let text = [read("environ"), read("cmdline")].concat();
        let is_zombie = String::from_utf8_lossy(&read("stat")).contains(") Z ");
        !is_zombie && String::from_utf8_lossy(&text).contains(&dir)
    };
    let pids =
        fs::read_dir("/proc").expect("readable").flatten().filter_map(|entry| entry.file_name().into_string().ok());
    !pids.filter(|name| name.parse::<u32>().is_ok()).any(|pid| runs(&pid))
}

/// Asks until the answer is yes.
pub(crate) fn eventually(what: &str, mut answer: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !answer() {
        assert!(Instant::now() < end, "still waiting: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs `act` in a copy of this process, which then ends without unwinding. Returns its pid.
pub(crate) fn in_copy(act: impl FnOnce() -> i32) -> Pid {
    // SAFETY: the copy has one thread, allocates (which is safe after a fork with this C library), and never returns.
    match unsafe { fork() }.expect("a process more") {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)).unwrap_or(101);
            // SAFETY: it ends the copy at once.
            unsafe { libc::_exit(code) }
        }
    }
}

pub(crate) fn wait_for(child: Pid) -> nix::sys::wait::WaitStatus {
    waitpid(child, None).expect("it is our child")
}
