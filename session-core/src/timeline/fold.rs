//! The fold behind a timeline.

use super::{Shown, Timeline, TurnSpan};
use crate::{Defect, Effect, Extension, Message, Record, Replay, Role, TurnMark, TurnPhase};

/// How many characters of a prompt are kept.
const PROMPT_CHARS: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct Fold {
    timeline: Timeline,
    /// The turn of each live message, as an index.
    live: Replay<Option<usize>>,
    open: Option<Open>,
}

/// The turn that events belong to now.
#[derive(Debug, Clone, Copy)]
struct Open {
    turn: usize,
    /// Whether an `x.turn` event began it, so that only another one ends it.
    is_marked: bool,
    /// Whether nothing but what an agent put there was said in it yet.
    is_preamble: bool,
}

impl Fold {
    pub(crate) fn event(&mut self, record: &Record) {
        let event = &record.event;
        let number = self.timeline.steps.len() as u64 + 1;
        let said = event.message.as_deref().filter(|_| event.effect() == Effect::Adds);
        match event.extension() {
            Some(Extension::Turn(mark)) => self.mark(mark, number, record),
            Some(Extension::Checkpoint(mark)) => {
                if let (Some(checkpoint), "taken" | "restored") = (mark.turn, mark.action.as_str()) {
                    self.show(number, checkpoint, mark.action == "restored");
                }
            }
            _ => {}
        }
        if let Some(message) = said {
            self.message(message, number, record);
        }
        match (event.effect(), self.open) {
            (Effect::Drops(_), Some(open)) if !open.is_marked => self.open = None,
            // A turn without marks reaches to its last message: what follows may be about the next one.
            (_, Some(open)) if open.is_marked || said.is_some() => self.turn(open).last = number,
            _ => {}
        }
        let turn = self.open.map(|open| open.turn);
        self.live.event(&event.effect(), || turn);
        if said.is_some_and(|message| matches!(message.role, Role::Assistant | Role::Tool)) {
            self.timeline.works.push(number);
        }
        self.timeline.steps.push(self.live.live().len() as u64);
    }

    /// How many turns have begun.
    pub(crate) fn turns(&self) -> usize {
        self.timeline.turns.len()
    }

    pub(super) fn defect(&mut self, defect: Defect) {
        self.live.defect(&defect);
        if defect.is_skipped() {
            self.timeline.gaps.push(self.timeline.steps.len() as u64, defect);
        }
    }

    pub(super) fn end(mut self) -> Timeline {
        for turn in self.live.live().iter().flatten() {
            self.timeline.turns[*turn].live += 1;
        }
        let ends = self
            .timeline
            .turns
            .iter()
            .map(|turn| (self.timeline.checkpoint_at(turn.first - 1), self.timeline.checkpoint_at(turn.last)));
        let ends: Vec<_> = ends.collect();
        for (turn, (before, after)) in self.timeline.turns.iter_mut().zip(ends) {
            // What a turn says of itself comes first.
            turn.before = turn.before.or(before);
            turn.after = turn.after.or(after);
        }
        self.timeline
    }

    fn mark(&mut self, mark: TurnMark, number: u64, record: &Record) {
        match mark.phase {
            TurnPhase::Start => {
                // A start may be written twice.
                let open = self.open.filter(|open| open.is_marked).map(|open| self.turn(open).id.clone());
                if open.flatten().as_deref() != Some(mark.id.as_str()) {
                    self.begin(Some(mark.id), number, record);
                    self.timeline.turns.iter_mut().rev().take(1).for_each(|turn| turn.before = mark.checkpoint);
                }
            }
            TurnPhase::End => {
                let turns = self.timeline.turns.iter_mut().rev();
                if let Some(turn) = turns.into_iter().find(|turn| turn.id.as_deref() == Some(mark.id.as_str())) {
                    turn.outcome = Some(mark.outcome);
                    turn.after = mark.checkpoint;
                    let turn = turn.number;
                    if let Some(open) = self.open.filter(|open| open.turn as u64 + 1 == turn) {
                        self.turn(open).last = number;
                        self.open = None;
                    }
                }
            }
        }
        if let Some(checkpoint) = mark.checkpoint {
            self.show(number, checkpoint, false);
        }
    }

    fn message(&mut self, message: &Message, number: u64, record: &Record) {
        let prompt = record.event.prompt();
        match self.open {
            Some(open) if open.is_marked => {}
            None if message.role == Role::User => self.begin(None, number, record),
            Some(open) if prompt.is_some() && !open.is_preamble => self.begin(None, number, record),
            Some(_) | None => {}
        }
        let Some(open) = &mut self.open else { return };
        open.is_preamble &= prompt.is_none() && message.role == Role::User;
        let turn = &mut self.timeline.turns[open.turn];
        turn.messages += 1;
        if turn.prompt.is_empty() {
            turn.prompt = prompt.iter().flat_map(|prompt| prompt.chars()).take(PROMPT_CHARS).collect();
        }
    }

    fn begin(&mut self, id: Option<String>, number: u64, record: &Record) {
        let turn = self.timeline.turns.len();
        self.open = Some(Open { turn, is_marked: id.is_some(), is_preamble: true });
        self.timeline.turns.push(TurnSpan {
            number: turn as u64 + 1,
            id,
            first: number,
            last: number,
            offset: record.place.offset,
            started: record.event.ts,
            ..TurnSpan::default()
        });
    }

    fn show(&mut self, event: u64, checkpoint: u64, restored: bool) {
        self.timeline.shown.push(Shown { event, checkpoint, restored });
    }

    fn turn(&mut self, open: Open) -> &mut TurnSpan {
        &mut self.timeline.turns[open.turn]
    }
}
