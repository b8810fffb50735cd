//! Going back.

use super::document::{Done, Planned, plan_lines};
use super::{Work, release};
use crate::confirm::Answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use session_core::Point;
use session_core::checkpoint::Checkpointer;
use session_store::{LockGuard, Rewind, StoreError};

impl Work<'_> {
    pub(super) fn back(&self, to: Point) -> Result<Exit, Failure> {
        let rewind = Rewind { to, parts: self.parts(), force: self.force() };
        // Held from before the plan, so that it is done as it was shown.
        let held = if self.flags.consent.is_dry_run() { None } else { self.hold()? };
        let exit = self.planned(&rewind, held.as_ref());
        release(held)?;
        exit
    }

    fn planned(&self, rewind: &Rewind, held: Option<&LockGuard>) -> Result<Exit, Failure> {
        let to = rewind.to;
        let watch = interrupt::watch()?;
        let mut own = self.checkpoints(&watch)?;
        let plan = self.session.plan_rewind(rewind, own.as_mut().map(|own| own as &mut dyn Checkpointer));
        drop(watch);
        let plan = match plan {
            Ok(plan) => plan,
            Err(StoreError::RewindInterrupted { .. }) => {
                let line = format!("go on with the rewind to {to}, which was interrupted");
                return match self.flags.consent.ask(self.context, &[line])? {
                    Answer::Stop => Ok(Exit::Done),
                    Answer::Go => self.go(rewind, held, None),
                };
            }
            Err(error) => return Err(error.into()),
        };
        let planned = Planned::of(&plan);
        if plan.is_empty() {
            self.context.out.note(&format!("nothing to do: it stands at {to}"));
            self.print(Some(&planned), None, &to.to_string())?;
            return Ok(Exit::No);
        }
        if !self.flags.consent.is_dry_run() {
            self.refuse(&plan.refusals)?;
        }
        if self.flags.consent.ask(self.context, &plan_lines(&planned))? == Answer::Stop {
            if self.context.out.is_json() {
                self.print(Some(&planned), None, &to.to_string())?;
            }
            return Ok(Exit::Done);
        }
        self.go(rewind, held, Some(&planned))
    }

    fn go(&self, rewind: &Rewind, held: Option<&LockGuard>, planned: Option<&Planned>) -> Result<Exit, Failure> {
        let watch = interrupt::watch()?;
        let mut own = self.checkpoints(&watch)?;
        let own = own.as_mut().map(|own| own as &mut dyn Checkpointer);
        let rewound = self.session.rewind(held, rewind, own)?;
        drop(watch);
        self.print(planned, Some(&Done::of(&rewound)), &rewind.to.to_string())
    }
}
