//! The supervisor: a small process that stays with a background process when everybody else is gone.

use crate::dossier::Origin;
use crate::entry::Entry;
use crate::id::Paths;
use crate::log_writer::{LogWriter, RECORDS_BYTES};
use crate::spawn::{self, Launch};
use crate::start::put_down;
use crate::{Identity, ProcError, ProcessId, State, dir_lock, procfs, settle, signal};
use chrono::{DateTime, Utc};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{SigHandler, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{ForkResult, dup2_stdout, fork};
use rustix::process::{WaitOptions, wait};
use session_disk::{Durability, replace};
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::Stdio;

/// As much as a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;

/// Supervises one background process: what the `main` of a [`Supervisor`](crate::Supervisor) does.
///
/// `args` are the arguments that [`Registry::start`](crate::Registry::start) added: the directory of the records and
/// the id. The calling process ends soon; a copy of it stays, in a session of its own, starts the command that was
/// claimed, and says on standard output how that went. Then it
///
/// - takes the command's output and keeps its log below the cap, also on a full disk: the command never waits for
///   space and is never ended by a closed pipe;
/// - is given the children that the command and its children abandon (a *subreaper*; no privileges are needed), so
///   that they can be found;
/// - writes down how the command ended;
/// - ends when nothing is left: no descendant, and nobody who could write output.
///
/// It ignores the signals that ask for an end, because it ends by itself, and blocks without a timeout.
///
/// On disk when the copy ends: `<id>.exit`, the record, and the dossier.
///
/// # Errors
/// The arguments are not those, or this process has more than one thread: only a process with one can be copied. What
/// goes wrong later is told to the starter.
pub fn supervise(args: impl IntoIterator<Item = OsString>) -> Result<(), ProcError> {
    let paths = parse(args)?;
    let own = Identity::own()?;
    if procfs::stat(own.pid)?.is_none_or(|stat| stat.threads != 1) {
        return Err(ProcError::Threads);
    }
    // SAFETY: this is the only thread, so the copy has everything that this process has.
    match unsafe { fork() } {
        Ok(ForkResult::Parent { .. }) => Ok(()),
        Ok(ForkResult::Child) => {
            let supervised = Supervised::start(&paths);
            tell(match &supervised {
                Ok(_) => Launch::Started,
                Err(ProcError::Spawn { source, .. }) => {
                    Launch::Refused(source.raw_os_error().unwrap_or(nix::libc::EIO))
                }
                Err(_) => Launch::NoRecord,
            });
            supervised?.stay()
        }
        Err(errno) => {
            tell(Launch::Refused(errno as i32));
            Ok(())
        }
    }
}

fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Paths, ProcError> {
    let mut args = args.into_iter();
    let (dir, id, more) = (args.next(), args.next(), args.next());
    let id = id.and_then(|id| ProcessId::new(id.into_string().ok()?).ok());
    match (dir.map(PathBuf::from), id, more) {
        (Some(dir), Some(id), None) if dir.is_absolute() => Ok(Paths::new(&dir, &id)),
        _ => Err(ProcError::Arguments),
    }
}

/// A command that runs, and what its supervisor needs.
struct Supervised {
    paths: Paths,
    leader: Identity,
    output: Option<PipeReader>,
    log: LogWriter,
    children: SignalFd,
    has_ended: bool,
}

impl Supervised {
    /// Starts the command and records it.
    fn start(paths: &Paths) -> Result<Supervised, ProcError> {
        let origin = sign_up(paths)?;
        let children = prepare().map_err(|errno| refuse(errno.into()))?;
        let (output, input) = io::pipe().map_err(refuse)?;
        let log = LogWriter::open(paths.log(), paths.cut(), origin.log_cap_bytes)?;
        let second = input.try_clone().map_err(refuse)?;
        let output_ends = [Stdio::from(input), Stdio::from(second)];
        let process = spawn::supervised_command(&origin.command, (&origin.token, paths), output_ends)?;
        let leader = process.identity().clone();
        if let Err(error) = put_down(paths, &leader) {
            process.kill();
            return Err(error);
        }
        Ok(Supervised { paths: paths.clone(), leader, output: Some(output), log, children, has_ended: false })
    }

    /// Stays until nothing is left.
    fn stay(mut self) -> Result<(), ProcError> {
        // Nothing is to be kept busy or open by a process that only waits.
        env::set_current_dir("/").ok();
        silence().ok();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let has_children = self.reap();
            if !has_children && self.output.is_none() {
                return Ok(());
            }
            self.wait_for_news()?;
            self.take_output(&mut chunk);
        }
    }

    /// Sleeps until there is output or a child has ended.
    fn wait_for_news(&self) -> Result<(), ProcError> {
        let mut fds = vec![PollFd::new(self.children.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.output.as_ref().map(|output| PollFd::new(output.as_fd(), PollFlags::POLLIN)));
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(refuse(errno.into())),
        }
    }

    fn take_output(&mut self, chunk: &mut [u8]) {
        let Some(output) = &mut self.output else { return };
        let mut fds = [PollFd::new(output.as_fd(), PollFlags::POLLIN)];
        if !matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..)) {
            return;
        }
        match output.read(chunk) {
            Ok(0) => {
                self.log.finish();
                self.output = None;
            }
            Ok(read) => self.log.append(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A pipe has no other errors; if it has, there is nothing to read any more.
            Err(_) => self.output = None,
        }
    }

    /// Takes note of the children that have ended. Returns whether there are more.
    fn reap(&mut self) -> bool {
        // The signals only woke us: how many there were says nothing.
        while matches!(self.children.read_signal(), Ok(Some(_))) {}
        loop {
            let (pid, status) = match wait(WaitOptions::NOHANG) {
                Ok(Some(ended)) => ended,
                Ok(None) => return true,
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return false,
            };
            if pid.as_raw_nonzero().get() == self.leader.pid && !self.has_ended {
                self.has_ended = true;
                self.drain();
                let by = status.terminating_signal();
                let code = by.map(|number| 128 + number).or(status.exit_status()).unwrap_or_default();
                self.keep_end(i64::from(code), by.map(signal::name));
            }
        }
    }

    /// Brings what the command has written into the log before its end is known.
    fn drain(&mut self) {
        let mut chunk = vec![0; CHUNK_BYTES];
        // What the command itself wrote is in the pipe, which holds one chunk. Others may go on writing for ever.
        for _ in 0..4 {
            self.take_output(&mut chunk);
        }
    }

    /// Writes down the end, if need be at the cost of the end of the log.
    fn keep_end(&mut self, code: i64, by: Option<String>) {
        let ended = Utc::now();
        if self.put_down_end(code, by.clone(), ended).is_err() {
            self.log.make_room(RECORDS_BYTES);
            // There is nobody to tell. Whoever looks finds the process gone.
            self.put_down_end(code, by, ended).ok();
            if self.output.is_none() {
                self.log.finish();
            }
        }
    }

    fn put_down_end(&self, code: i64, by: Option<String>, ended: DateTime<Utc>) -> Result<(), ProcError> {
        // Whoever holds the lock for longer than all patience must not cost the status.
        let _lock = dir_lock::lock(&self.paths.dir).ok();
        let Some(before) = Entry::load(&self.paths)? else { return Ok(()) };
        let was_stopped = before.dossier.stop.as_ref().is_some_and(|stop| stop.explains(ended));
        if !was_stopped {
            // The reference reads this file and nothing else of ours.
            replace(&self.paths.exit(), code.to_string().as_bytes(), Durability::Data)?;
        }
        let mut after = before.clone();
        settle::conclude(&mut after, code, by, ended);
        if before.record.as_ref().is_some_and(|record| record.state == State::Killed) {
            // The reference killed it, and has said so.
            after.record = before.record.clone();
        }
        after.save(Some(&before), Durability::Data)
    }
}

/// Puts down that this process is the supervisor, and reads what is to be started.
fn sign_up(paths: &Paths) -> Result<Origin, ProcError> {
    let _lock = dir_lock::lock(&paths.dir)?;
    let missing = || ProcError::NoProcess { id: paths.id.clone(), proc_dir: paths.dir.clone() };
    let before = Entry::load(paths)?.ok_or_else(missing)?;
    let mut after = before.clone();
    after.dossier.supervisor = Some(Identity::own()?);
    after.save(Some(&before), Durability::Os)?;
    // A claim that is used already is nobody's to start.
    after.dossier.origin.filter(|_| before.record.is_none() && before.dossier.process.is_none()).ok_or_else(missing)
}

/// Makes this process deaf to requests to end and to a limit on the size of files, a parent for orphans, and awake when a child ends.
fn prepare() -> Result<SignalFd, Errno> {
    for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGPIPE, Signal::SIGXFSZ] {
        // SAFETY: ignoring a signal runs no code.
        unsafe { nix::sys::signal::signal(signal, SigHandler::SigIgn)? };
    }
    set_child_subreaper(true)?;
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGCHLD);
    mask.thread_block()?;
    SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

/// Tells the starter, who may be dead.
fn tell(launch: Launch) {
    let mut line = serde_json::to_vec(&launch).expect("a word and a number always serialize");
    line.push(b'\n');
    io::stdout().write_all(&line).and_then(|()| io::stdout().flush()).ok();
}

/// Lets go of the pipe to the starter.
fn silence() -> io::Result<()> {
    let null = File::options().write(true).open("/dev/null")?;
    Ok(dup2_stdout(null)?)
}

fn refuse(source: io::Error) -> ProcError {
    ProcError::Spawn { program: PathBuf::from("/bin/sh"), source }
}
