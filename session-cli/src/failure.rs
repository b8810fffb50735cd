//! A verb that did not do what it was asked: what to say, what to suggest, and the exit status.

use crate::exit::Exit;
use session_checkpoint::Error as CheckpointError;
use session_core::NameError;
use session_proc::ProcError;
use session_store::StoreError;
use std::error::Error;
use std::io;

/// Why a verb ended without doing its work.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What happened, on which path. Empty where there is nothing to say.
    pub(crate) text: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, text: impl Into<String>) -> Self {
        Failure { exit, text: text.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The verb has done its work and the answer is this exit status; everything is said already.
    pub(crate) fn quiet(exit: Exit) -> Self {
        Failure::new(exit, "")
    }

    /// Stdout cannot be written to. A reader that went away, as `head` does, is nothing to speak of.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::quiet(Exit::Done);
        }
        Failure::new(Exit::Usage, chain("cannot write to standard output", error))
    }

    pub(crate) fn bug(error: impl Error) -> Self {
        Failure::new(Exit::Bug, chain("this is a bug", &error))
    }

    /// Input that cannot be read.
    pub(crate) fn input(what: &str, error: &io::Error) -> Self {
        Failure::new(Exit::Usage, chain(&format!("cannot read {what}"), error))
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Failure::new(Exit::Usage, error.to_string())
    }
}

impl From<ProcError> for Failure {
    fn from(error: ProcError) -> Self {
        StoreError::from(error).into()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let inside = match &error {
            StoreError::Checkpoint { source, .. } => source.downcast_ref::<CheckpointError>(),
            _ => None,
        };
        let (exit, hint) = match inside {
            // Only verbs that are about the workspace alone take their flags.
            Some(inside @ (CheckpointError::OtherWorkspace { .. } | CheckpointError::Conflicts { .. })) => (
                checkpoint_advice(inside).0,
                Some("`session checkpoint restore` says more about it; nothing was changed"),
            ),
            Some(inside) => checkpoint_advice(inside),
            None => advice(&error),
        };
        let (exit, hint) = unready((exit, hint), &error);
        Failure { exit, text: causes(&error), hint: hint.map(str::to_owned) }
    }
}

/// The exit status and the advice that go with an error of the store: the one place that decides it.
fn advice(error: &StoreError) -> (Exit, Option<&'static str>) {
    match error {
        StoreError::Name(_) => (Exit::Usage, None),
        StoreError::NoHome => (Exit::Usage, Some("name the directory with --dir or KVIT_CODER_SESSIONS_DIR")),
        StoreError::NotADirectory { .. } => {
            (Exit::Usage, Some("--dir or KVIT_CODER_SESSIONS_DIR names the directory of all sessions"))
        }
        StoreError::NotFound { .. } => (Exit::NotFound, Some("`session list` shows all, `session new` creates one")),
        StoreError::Exists { .. } => (Exit::Busy, Some("choose another name, or none: one is made up then")),
        StoreError::Deleted { .. } => (Exit::Busy, Some("`session trash list` shows what was moved to the trash")),
        StoreError::Succeeded { .. } => (Exit::Busy, Some("append to the session that goes on with it")),
        StoreError::SuccessorLoop { .. } | StoreError::ChainTooLong { .. } => {
            (Exit::Busy, Some("`session doctor` shows the chain"))
        }
        StoreError::NewerFormat { .. } => {
            (Exit::Busy, Some("it can be read; a newer version of this program can write it"))
        }
        StoreError::LineTooLong { .. } => (
            Exit::Usage,
            Some("nothing was appended; `session spill` keeps large output, --allow-long-lines writes it anyway"),
        ),
        StoreError::MessageTooLarge { .. } => (Exit::Usage, Some("`session spill` keeps large texts; send its path")),
        StoreError::NoSuchClaim { .. } => (Exit::No, Some("`session inbox SESSION list` shows what was claimed")),
        StoreError::Locked { .. } | StoreError::LiveTurn { .. } => (Exit::Busy, Some("--wait 30s waits for it")),
        StoreError::LockLost { .. } | StoreError::LockUnsupported { .. } => (Exit::Busy, None),
        StoreError::LiveProcesses { .. } => (Exit::Busy, Some("`session ps SESSION` shows them")),
        StoreError::Survivors { .. } => (Exit::Busy, Some("it was not deleted; end them by other means")),
        StoreError::Process(error) => process_advice(error),
        StoreError::NotOfTheTurn { .. } => (Exit::Busy, Some("--force drains it all the same")),
        StoreError::InChain { .. } => {
            (Exit::Refused, Some("delete the earlier one first, or --force; then the earlier one leads nowhere"))
        }
        StoreError::PruneTime { .. } => (Exit::Usage, Some("write it like 30d or 2026-11-01")),
        StoreError::PruneChanged { .. } | StoreError::Moved { .. } => (Exit::Busy, Some("look at the plan again")),
        StoreError::Escapes { .. } => (Exit::Refused, None),
        StoreError::Cut { .. } => {
            (Exit::No, Some("`session rewind SESSION` lists the turns, `session events` the events"))
        }
        StoreError::Damaged { .. } => {
            (Exit::Refused, Some("--force does it all the same; `session doctor` shows the lines"))
        }
        StoreError::NoCheckpoint { .. } => (Exit::No, Some("--chat goes back with the conversation alone")),
        StoreError::Running { .. } => (Exit::Busy, Some("`session kill SESSION --all` ends them")),
        StoreError::RewindRefused { reasons, .. } => {
            let exit = if reasons.iter().all(session_store::Refusal::is_busy) { Exit::Busy } else { Exit::Refused };
            (exit, Some("nothing was changed; --force does it all the same"))
        }
        StoreError::RewindInterrupted { .. } => {
            (Exit::Busy, Some("the same `session rewind` does the rest, `session rewind SESSION --undo` takes it back"))
        }
        StoreError::RestoreInterrupted { .. } => (Exit::Busy, Some(END_RESTORE)),
        StoreError::NothingToUndo { .. } => (Exit::No, None),
        StoreError::Threads { .. } => (Exit::Busy, Some("there may be too many processes; try again")),
        StoreError::KeepsChanging { .. } => (Exit::Busy, Some("somebody writes to it; try again when that has ended")),
        StoreError::NotRedacted { .. } => (Exit::Refused, Some("nothing was written")),
        StoreError::NotMasked { .. } | StoreError::SecretInCheckpoint { .. } => {
            (Exit::Refused, Some("nothing was exported; --no-redact takes everything as it is"))
        }
        _ => (Exit::Usage, None),
    }
}

fn process_advice(error: &ProcError) -> (Exit, Option<&'static str>) {
    match error {
        ProcError::NoProcess { .. } => (Exit::NotFound, Some("`session ps SESSION` shows all of a session")),
        ProcError::NoFreeId { .. } | ProcError::IdTaken { .. } | ProcError::Busy { .. } => {
            (Exit::Busy, Some("another program works on the same records; try again"))
        }
        ProcError::Misplaced { .. } => (Exit::Refused, Some("it is not clear whose it is: rename the file")),
        ProcError::SupervisorSilent { .. } => (Exit::Usage, Some("it may run; `session ps SESSION` shows it")),
        _ => (Exit::Usage, None),
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        let (exit, hint) = unready(checkpoint_advice(&error), &error);
        Failure { exit, text: causes(&error), hint: hint.map(str::to_owned) }
    }
}

/// The same, unless a disk that is full or must not be written to is behind it: then the call is right, and may be made
/// again once the disk is as it has to be.
fn unready((exit, hint): (Exit, Option<&'static str>), error: &(dyn Error + 'static)) -> (Exit, Option<&'static str>) {
    match disk_fault(error) {
        Some(advice) if exit == Exit::Usage => (Exit::Busy, hint.or(Some(advice))),
        _ => (exit, hint),
    }
}

/// What to do about it, where the disk is the cause of an error.
pub(crate) fn disk_fault(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    while let Some(error) = next {
        match error.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied) => {
                return Some("it may not be written to, or read, as it is");
            }
            Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
                return Some(
                    "make room; `session prune` moves old sessions to the trash, which `session trash empty` empties",
                );
            }
            _ => next = error.source(),
        }
    }
    None
}

/// The exit status and the advice that go with an error of the checkpoints.
/// How a restore that was interrupted is ended.
const END_RESTORE: &str = "`session checkpoint undo` goes back, `session checkpoint restore --resume` goes on with it";

fn checkpoint_advice(error: &CheckpointError) -> (Exit, Option<&'static str>) {
    match error {
        CheckpointError::NoStore { .. } => (Exit::No, Some("`session checkpoint create` takes the first")),
        CheckpointError::NoTurn { .. } => (Exit::No, Some("`session checkpoint list` shows all")),
        CheckpointError::NothingToUndo => (Exit::No, None),
        CheckpointError::TurnPassed { .. } => (Exit::Busy, Some("without --turn the next number is taken")),
        CheckpointError::Busy { .. } => (Exit::Busy, Some("try again when it has ended")),
        CheckpointError::NewerFormat { .. } => (Exit::Busy, Some("a newer version of this program can read it")),
        CheckpointError::Interrupted { .. } => (Exit::Busy, Some(END_RESTORE)),
        CheckpointError::StoreFull { .. } | CheckpointError::NoSpace { .. } => {
            (Exit::Busy, Some("`session checkpoint prune` drops old checkpoints"))
        }
        CheckpointError::OtherWorkspace { .. } => {
            (Exit::Refused, Some("--adopt goes on with the directory that is there now; nothing was changed"))
        }
        CheckpointError::TooBroad { .. } => {
            (Exit::Refused, Some("--exclude leaves things out, --max-files and --max-bytes move the limits"))
        }
        CheckpointError::RefusedWorkspace { .. } | CheckpointError::ForeignStore { .. } => (Exit::Refused, None),
        CheckpointError::Conflicts { .. } => {
            (Exit::Refused, Some("--force overwrites them, --keep-mine leaves them as they are"))
        }
        CheckpointError::BrokenTurn { .. }
        | CheckpointError::Damaged { .. }
        | CheckpointError::MissingObject { .. }
        | CheckpointError::DamagedObject { .. } => {
            (Exit::Partial, Some("`session checkpoint verify` names what is damaged"))
        }
        CheckpointError::Cancelled => (Exit::Interrupted, None),
        CheckpointError::DeadlineExceeded => (Exit::TimedOut, None),
        _ => (Exit::Usage, None),
    }
}

/// An error and its causes on one line.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        // A transparent error says what its source says.
        let cause = error.to_string();
        if !text.ends_with(&cause) {
            text += &format!(": {cause}");
        }
        next = error.source();
    }
    text
}

/// What was attempted, an error, and its causes on one line.
fn chain(first: &str, error: &dyn Error) -> String {
    format!("{first}: {}", causes(error))
}

#[cfg(test)]
mod tests;
