//! A command that runs below its supervisor, until nothing of it is left.

use crate::dossier::{End, Origin};
use crate::entry::Entry;
use crate::id::Paths;
use crate::identity::own_pid;
use crate::launch::put_down;
use crate::log_writer::{LogWriter, RECORDS_BYTES};
use crate::spawn;
use crate::{Identity, ProcError, State, dir_lock, mark, procfs, settle};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{SigHandler, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::dup2_stdout;
use rustix::process::{WaitOptions, wait};
use session_disk::{Durability, replace};
use std::env;
use std::fs::File;
use std::io::{self, PipeReader, Read as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::Stdio;

/// As much as a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;
/// How often an end is tried to be written that the disk did not take, and how long to wait between.
const END_TRIES: u32 = 60;
const BETWEEN_TRIES_MS: u16 = 1000;

/// What the supervisor of a command has in hand.
pub(crate) struct Supervised {
    paths: Paths,
    token: String,
    leader: Identity,
    output: Option<PipeReader>,
    log: LogWriter,
    children: SignalFd,
    end: Option<UnwrittenEnd>,
    has_ended: bool,
}

/// How the command ended, for as long as nobody else can know it.
struct UnwrittenEnd {
    end: End,
    tries_left: u32,
}

impl Supervised {
    /// Starts the command and records it.
    pub(crate) fn start(paths: &Paths, origin: &Origin) -> Result<Supervised, ProcError> {
        let children = prepare().map_err(|errno| refused(errno.into()))?;
        let (output, input) = io::pipe().map_err(refused)?;
        let log = LogWriter::open(paths.log(), paths.cut(), origin.log_cap_bytes)?;
        let second = input.try_clone().map_err(refused)?;
        let output_ends = [Stdio::from(input), Stdio::from(second)];
        let process = spawn::supervised_command(&origin.command, (&origin.token, paths), output_ends)?;
        let leader = process.identity().clone();
        if let Err(error) = put_down(paths, &leader) {
            process.kill();
            return Err(error);
        }
        Ok(Supervised {
            paths: paths.clone(),
            token: origin.token.clone(),
            leader,
            output: Some(output),
            log,
            children,
            end: None,
            has_ended: false,
        })
    }

    /// Stays until nothing of it is left.
    pub(crate) fn stay(mut self) -> Result<(), ProcError> {
        // Nothing is to be kept busy or open by a process that only waits.
        env::set_current_dir("/").ok();
        silence().ok();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let has_children = self.reap();
            self.write_end();
            if self.output.is_none() && self.end.is_none() && !(has_children && self.has_own_children()) {
                return Ok(());
            }
            self.wait_for_news()?;
            self.take_output(&mut chunk);
        }
    }

    /// Sleeps until there is output, a child has ended, or the end is to be written again.
    fn wait_for_news(&self) -> Result<(), ProcError> {
        let mut fds = vec![PollFd::new(self.children.as_fd(), PollFlags::POLLIN)];
        fds.extend(self.output.as_ref().map(|output| PollFd::new(output.as_fd(), PollFlags::POLLIN)));
        let timeout = if self.end.is_some() { PollTimeout::from(BETWEEN_TRIES_MS) } else { PollTimeout::NONE };
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(refused(errno.into())),
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
            // The number may come again, among the orphans.
            if pid.as_raw_nonzero().get() == self.leader.pid && !self.has_ended {
                self.has_ended = true;
                let end = End::now(status);
                self.drain();
                self.end = Some(UnwrittenEnd { end, tries_left: END_TRIES });
            }
        }
    }

    /// Whether a child belongs to the command. What was started as another background process is given to this one when
    /// its starter has ended, and has a record of its own, and as a rule a supervisor. A child that has ended counts: it
    /// is reaped first, and may have left children. So do those that cannot be seen.
    fn has_own_children(&self) -> bool {
        let is_own = |pid| !mark::of(pid).is_some_and(|mark| mark.is_of_another_start(Some(&self.token)));
        let children = || procfs::children(own_pid());
        !self.has_ended || children().map_or(true, |children| children.into_iter().any(is_own))
    }

    /// Brings what the command has written into the log before its end is known.
    fn drain(&mut self) {
        let mut chunk = vec![0; CHUNK_BYTES];
        // What the command itself wrote is in the pipe, which holds one chunk. Others may go on writing for ever.
        for _ in 0..4 {
            self.take_output(&mut chunk);
        }
    }

    /// Writes down the end, if need be at the cost of the end of the log. What the disk does not take even so is tried
    /// again later; in the end there is nobody to tell, and whoever looks finds the process gone.
    fn write_end(&mut self) {
        let Some(UnwrittenEnd { end, tries_left }) = self.end.take() else { return };
        if self.put_down_end(&end).is_ok() {
            return;
        }
        self.log.make_room(RECORDS_BYTES);
        let is_written = self.put_down_end(&end).is_ok();
        if self.output.is_none() {
            self.log.finish();
        }
        if !is_written && tries_left > 1 {
            self.end = Some(UnwrittenEnd { end, tries_left: tries_left - 1 });
        }
    }

    fn put_down_end(&self, end: &End) -> Result<(), ProcError> {
        // Whoever holds the lock for longer than all patience must not cost the status.
        let _lock = dir_lock::lock(&self.paths.dir).ok();
        let Some(before) = Entry::load(&self.paths)? else { return Ok(()) };
        let was_stopped = before.dossier.stop.as_ref().is_some_and(|stop| stop.explains(end.ended));
        if !was_stopped {
            // The reference reads this file and nothing else of ours.
            replace(&self.paths.exit(), end.code.to_string().as_bytes(), Durability::Data)?;
        }
        let mut after = before.clone();
        settle::conclude(&mut after, end.clone());
        if before.record.as_ref().is_some_and(|record| record.state == State::Killed) {
            // The reference killed it, and has said so.
            after.record = before.record.clone();
        }
        after.save(Some(&before), Durability::Data)
    }
}

/// Makes this process deaf to requests to end and to limits of files, a parent for orphans, and awake when a child
/// ends.
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

/// Lets go of the pipe to the starter.
fn silence() -> io::Result<()> {
    let null = File::options().write(true).open("/dev/null")?;
    Ok(dup2_stdout(null)?)
}

fn refused(source: io::Error) -> ProcError {
    ProcError::Spawn { program: PathBuf::from("/bin/sh"), source }
}
