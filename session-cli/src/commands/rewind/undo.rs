//! Taking a rewind back.

use super::document::{Done, Planned, plan_lines};
use super::{Work, release};
use crate::confirm::Answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use session_core::checkpoint::Checkpointer;
use session_store::LockGuard;

/// What the answer calls the point that is gone back to.
const UNDO: &str = "undo";

impl Work<'_> {
    pub(super) fn undo(&self) -> Result<Exit, Failure> {
        let held = if self.flags.consent.is_dry_run() { None } else { self.hold()? };
        let exit = self.undone(held.as_ref());
        release(held)?;
        exit
    }

    fn undone(&self, held: Option<&LockGuard>) -> Result<Exit, Failure> {
        let watch = interrupt::watch()?;
        let mut own = self.checkpoints(&watch)?;
        let plan = self.session.plan_rewind_undo(own.as_mut().map(|own| own as &mut dyn Checkpointer))?;
        drop(watch);
        let planned = Planned::of_undo(&plan);
        if !self.flags.consent.is_dry_run() {
            self.refuse(&plan.refusals)?;
        }
        let lines = match plan.interrupted {
            true => vec!["take back the rewind that was interrupted".to_owned()],
            false => plan_lines(&planned),
        };
        if self.flags.consent.ask(self.context, &lines)? == Answer::Stop {
            if self.context.out.is_json() {
                self.print(Some(&planned), None, UNDO)?;
            }
            return Ok(Exit::Done);
        }
        let watch = interrupt::watch()?;
        let mut own = self.checkpoints(&watch)?;
        let own = own.as_mut().map(|own| own as &mut dyn Checkpointer);
        let undone = self.session.undo_rewind(held, self.force(), own)?;
        drop(watch);
        self.print(Some(&planned), Some(&Done::of(&undone)), UNDO)
    }
}
