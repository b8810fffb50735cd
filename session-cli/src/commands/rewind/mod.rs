//! `session rewind`

mod back;
mod document;
mod turns;
mod undo;

use crate::commands::checkpoint::attach::{Missing, attached};
use crate::commands::checkpoint::hold::hold_session;
use crate::commands::opened;
use crate::confirm::Consent;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{interrupt, output, span, target};
use session_checkpoint::Attached;
use session_core::{Point, SessionName};
use session_store::{LockGuard, Options, Refusal, RewindForce, RewindParts, Session, Wait};
use std::time::Duration;

/// The flags of `rewind`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "turn:N is as that turn ended, a number is the last event that stays, 0 is before everything; without --to the turns are \
listed. Where a checkpoint shows the workspace at that point, it goes back too. The workspace as it is becomes a guard first, and --undo \
brings both back.\n\nWhat cannot be read, was edited by hand since, was changed by another session too, or is at work just now refuses \
it, by name; --force goes on.\n\nExamples:\n  session rewind @\n  session rewind @ --to turn:2 -n\n  session rewind oaks --to 17 --chat -y\n  session rewind @ --undo"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The last thing that stays
    #[arg(long, value_name = "EVENT|turn:N")]
    to: Option<Point>,
    /// Take the newest rewind back
    #[arg(long, conflicts_with_all = ["to", "chat", "files", "both"])]
    undo: bool,
    /// Only the conversation
    #[arg(long, requires = "to", conflicts_with_all = ["files", "both"])]
    chat: bool,
    /// Only the workspace
    #[arg(long, requires = "to", conflicts_with = "both")]
    files: bool,
    /// Both, or nothing [default: the workspace where a checkpoint shows it]
    #[arg(long, requires = "to")]
    both: bool,
    /// Also over what stands against it; the guard has what it overwrites
    #[arg(long)]
    force: bool,
    /// How long to wait for a turn that runs [default: not at all]
    #[arg(long, value_name = "DUR", value_parser = span::duration)]
    wait: Option<Duration>,
    #[command(flatten)]
    consent: Consent,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    if flags.to.is_none() && !flags.undo {
        return turns::list(context, &target::resolve(context, &flags.session)?);
    }
    let options = Options { wait: flags.wait.map_or(Wait::No, Wait::UpTo), ..Options::default() };
    let session = opened(context, &flags.session, options)?;
    let work = Work { context, flags, name: SessionName::new(session.name())?, session };
    match flags.to {
        Some(to) => work.back(to),
        None => work.undo(),
    }
}

/// A rewind or an undo, and everything that it is told.
struct Work<'a> {
    context: &'a Context,
    flags: &'a Flags,
    name: SessionName,
    session: Session,
}

impl Work<'_> {
    fn force(&self) -> RewindForce {
        if self.flags.force { RewindForce::Forced } else { RewindForce::Careful }
    }

    fn parts(&self) -> RewindParts {
        match (self.flags.chat, self.flags.files, self.flags.both) {
            (true, ..) => RewindParts::Chat,
            (_, true, _) => RewindParts::Files,
            (_, _, true) => RewindParts::Both,
            (false, false, false) => RewindParts::Auto,
        }
    }

    /// The session's checkpoints where files may change, for as long as somebody may stop the work with Ctrl-C.
    fn checkpoints(&self, watch: &interrupt::Watch) -> Result<Option<Attached>, Failure> {
        if self.flags.chat {
            return Ok(None);
        }
        attached(self.context, &self.name, Missing::Leave, watch.cancel())
    }

    /// Keeps turns out. When forced, one that runs goes on.
    fn hold(&self) -> Result<Option<LockGuard>, Failure> {
        match hold_session(&self.session) {
            Err(failure) if self.flags.force && failure.exit == Exit::Busy => Ok(None),
            held => held,
        }
    }

    /// Names everything that stands against it, each on a line of its own.
    fn refuse(&self, refusals: &[Refusal]) -> Result<(), Failure> {
        if self.flags.force || refusals.is_empty() {
            return Ok(());
        }
        document::refusal_lines(refusals).iter().for_each(|line| output::say(line));
        Err(session_store::StoreError::RewindRefused { name: self.name.to_string(), reasons: refusals.to_vec() }.into())
    }
}

fn release(held: Option<LockGuard>) -> Result<(), Failure> {
    Ok(held.map_or(Ok(()), LockGuard::release)?)
}
