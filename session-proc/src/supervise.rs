//! The supervisor: a small process that stays with a background process when everybody else is gone.

use crate::dossier::Origin;
use crate::entry::Entry;
use crate::id::Paths;
use crate::spawn::Launch;
use crate::supervised::Supervised;
use crate::{Identity, ProcError, ProcessId, dir_lock, procfs};
use nix::unistd::{ForkResult, fork};
use session_disk::Durability;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

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
/// - ends when nothing of the command is left: no descendant but what was started as another background process, which
///   has a supervisor of its own, and nobody who could write output.
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
        Ok(ForkResult::Child) => serve(&paths),
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

/// Starts the command, says how that went, and stays.
fn serve(paths: &Paths) -> Result<(), ProcError> {
    let started = match sign_up(paths) {
        Ok(Some(origin)) => Supervised::start(paths, &origin),
        Ok(None) => {
            tell(Launch::IdTaken);
            return Ok(());
        }
        Err(error) => Err(error),
    };
    tell(match &started {
        Ok(_) => Launch::Started,
        Err(ProcError::Spawn { source, .. }) => Launch::Refused(source.raw_os_error().unwrap_or(nix::libc::EIO)),
        Err(_) => Launch::NoRecord,
    });
    started?.stay()
}

/// Puts down that this process is the supervisor, and reads what is to be started. `None`: the id is somebody else's,
/// or its command was started before.
fn sign_up(paths: &Paths) -> Result<Option<Origin>, ProcError> {
    let _lock = dir_lock::lock(&paths.dir)?;
    let missing = || ProcError::NoProcess { id: paths.id.clone(), proc_dir: paths.dir.clone() };
    let before = Entry::load(paths)?.ok_or_else(missing)?;
    let is_used = before.record.is_some() || before.dossier.process.is_some() || before.dossier.supervisor.is_some();
    if is_used {
        return Ok(None);
    }
    let mut after = before.clone();
    after.dossier.supervisor = Some(Identity::own()?);
    after.save(Some(&before), Durability::Os)?;
    Ok(after.dossier.origin)
}

/// Tells the starter, who may be dead.
fn tell(launch: Launch) {
    let mut line = serde_json::to_vec(&launch).expect("a word and a number always serialize");
    line.push(b'\n');
    io::stdout().write_all(&line).and_then(|()| io::stdout().flush()).ok();
}
