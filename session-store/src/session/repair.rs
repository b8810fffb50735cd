//! What a turn that crashed has left, and clearing it up at the start of the next one.

use super::turn_start;
use crate::{Result, Session, processes};
use session_core::{Event, TurnPhase, format_time};
use session_proc::{LeftTurn, Lost, LostWhy, Stop, Stopped, TurnMarker, Which};

/// How a turn ended whose process ended without ending it.
const CRASHED: &str = "crashed";

/// What a turn that crashed had left, and what became of it. The history has a notice that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnRepair {
    /// The turn, if its marker was still there.
    pub turn: Option<LeftTurn>,
    /// The background processes that should have ended with it, and have been stopped now, or not.
    pub stopped: Vec<Stopped>,
    /// What the turn had started by itself, without a record, and still runs. It was left alone: it may be meant to run.
    pub running: Vec<Lost>,
}

impl TurnRepair {
    /// What a person, or the model, should know.
    fn notice(&self) -> String {
        let mut sentences = Vec::new();
        let who = match &self.turn {
            Some(turn) => {
                let id = turn.turn_id.as_ref().map(|id| format!("{id}, ")).unwrap_or_default();
                let since = format_time(&turn.since.fixed_offset());
                sentences.push(format!("The turn before this one ({id}process {}, since {since}) crashed.", turn.pid));
                "it"
            }
            None => "an earlier turn",
        };
        let ended: Vec<_> = self.stopped.iter().filter(|one| one.survivors.is_empty()).map(named).collect();
        if !ended.is_empty() {
            let ended = ended.join(", ");
            sentences.push(format!("Background processes that {who} had left running were stopped: {ended}."));
        }
        let survivors = processes::survivors(&self.stopped).join("; ");
        if !survivors.is_empty() {
            sentences.push(format!("Some that {who} had left could not be stopped: {survivors}."));
        }
        let running: Vec<_> = self.running.iter().map(process).collect();
        if !running.is_empty() {
            sentences.push(format!("What was started without a record still runs: {}.", running.join(", ")));
        }
        sentences.join(" ")
    }

    /// Whether it is worth a history of its own.
    fn found_processes(&self) -> bool {
        !self.stopped.is_empty() || !self.running.is_empty()
    }
}

/// A background process, with its name or else its command.
fn named(stopped: &Stopped) -> String {
    let status = stopped.status.as_ref();
    let what = status.map(|status| status.name.as_ref().unwrap_or(&status.command).clone());
    what.map_or_else(|| stopped.id.to_string(), |what| format!("{} ({what})", stopped.id))
}

fn process(lost: &Lost) -> String {
    let command = lost.command.as_deref().map(|command| format!(" ({command})")).unwrap_or_default();
    format!("process {}{command}", lost.process.pid)
}

impl Session {
    /// Clears up what crashed turns have left. The session's lock is held, so no turn runs and none starts.
    ///
    /// On disk when it returns: the records of what was stopped; in the history, if there is one or anything was found
    /// running, the end of the turn and a notice. The marker stands until the next turn's takes its place, so that who
    /// dies in between leaves it all to be done again.
    pub(super) fn repair(&self) -> Result<Option<TurnRepair>> {
        let registry = self.registry()?;
        let turn = TurnMarker::left(&self.paths.proc())?;
        // No turn runs, so that what runs and belongs to one was left: also by a turn of this process that was dropped.
        let stopped = registry.stop_all(Which::LeftOver, &Stop::default())?;
        if turn.is_none() && stopped.is_empty() {
            return Ok(None);
        }
        let mut running = registry.lost()?;
        running.retain(|lost| lost.why == LostWhy::TurnOver);
        let repair = TurnRepair { turn, stopped, running };
        let mut events = Vec::new();
        // A start that still waits means that the turn appended nothing.
        if let Some(id) = repair.turn.as_ref().and_then(|turn| turn.turn_id.as_deref())
            && !turn_start::take_back(&self.paths, id)?
        {
            events.push(self.turn_event(id, TurnPhase::End, CRASHED, None));
        }
        if self.has_history()? || repair.found_processes() {
            events.push(Event::notice(self.clock.utc(), repair.notice()));
            self.append(&events)?;
        }
        Ok(Some(repair))
    }

    /// Tells the history that a turn whose marker stands is over. The marker is the caller's to move away, and so is the
    /// notice. The session's lock is held.
    ///
    /// On disk when it returns: the end of the turn, if it had begun to say anything.
    pub(crate) fn tell_left_turn(&self) -> Result<Option<LeftTurn>> {
        let turn = TurnMarker::left(&self.paths.proc())?;
        if let Some(id) = turn.as_ref().and_then(|turn| turn.turn_id.as_deref())
            && !turn_start::take_back(&self.paths, id)?
            && self.has_history()?
        {
            self.append_closing(&[self.turn_event(id, TurnPhase::End, CRASHED, None)])?;
        }
        Ok(turn)
    }
}
