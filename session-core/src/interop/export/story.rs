//! A conversation as it is told to a person: turns, and in them messages with what their calls came to.

use super::{Aside, Entry, Figures, is_failure};
use crate::{Effect, Extension, Kind, Message, Role, Timestamp, TurnPhase, TurnSpan, prompt_of};
use std::collections::BTreeSet;

/// A conversation, cut into turns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Story {
    /// The turns of which anything is shown, and what stands before the first.
    pub chapters: Vec<Chapter>,
    /// What all of it comes to, turns of which nothing is shown included: what they cost was spent.
    pub figures: Figures,
    /// The models that it names, in order.
    pub models: Vec<String>,
}

/// A turn, or what stands before the first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chapter {
    /// The number of the turn.
    pub number: Option<u64>,
    /// How the turn ended, where that is known.
    pub outcome: Option<String>,
    /// What the person asked for, as far as it is shown.
    pub prompt: String,
    /// What is shown, in order.
    pub pieces: Vec<Piece>,
    /// What it comes to.
    pub figures: Figures,
}

/// Something that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A message, and for each of its calls the result, where there is one.
    Message(Entry, Vec<Option<Entry>>),
    /// A result that belongs to no call that is shown.
    Result(Entry),
    /// What an event without a message says.
    Aside(u64, Aside),
}

impl Story {
    /// Tells the entries of an export; `rollbacks` are the numbers of the events that took something back.
    ///
    /// A result belongs to the nearest call before it with its id that has none yet, in the last message that makes
    /// calls. Usage that names the same response counts once.
    pub fn new(entries: Vec<Entry>, turns: &[TurnSpan], rollbacks: &[u64]) -> Self {
        let mut teller = Teller::default();
        let mut coming = turns.iter().peekable();
        let mut rollbacks = rollbacks.iter().copied().peekable();
        for entry in entries {
            while let Some(turn) = coming.next_if(|turn| turn.first <= entry.number) {
                teller.rollbacks(&mut rollbacks, turn.first);
                teller.begin(turn);
            }
            teller.rollbacks(&mut rollbacks, entry.number);
            teller.entry(entry);
        }
        teller.rollbacks(&mut rollbacks, u64::MAX);
        teller.close();
        teller.story
    }
}

#[derive(Default)]
struct Teller {
    story: Story,
    open: Chapter,
    /// Whether an `x.turn` event began the turn, so that a prompt in it came while it ran.
    is_marked: bool,
    /// When the message before this one was there.
    before: Option<Timestamp>,
    responses: BTreeSet<String>,
}

impl Teller {
    fn begin(&mut self, turn: &TurnSpan) {
        self.close();
        self.is_marked = turn.id.is_some();
        self.before = turn.started;
        self.open = Chapter { number: Some(turn.number), outcome: turn.outcome.clone(), ..Chapter::default() };
    }

    fn close(&mut self) {
        let chapter = std::mem::take(&mut self.open);
        self.story.figures += &chapter.figures;
        if !chapter.pieces.is_empty() {
            self.story.chapters.push(chapter);
        }
    }

    fn rollbacks(&mut self, coming: &mut std::iter::Peekable<impl Iterator<Item = u64>>, upto: u64) {
        while coming.next_if(|number| *number <= upto).is_some() {
            self.open.figures.rollbacks += 1;
        }
    }

    fn entry(&mut self, entry: Entry) {
        let event = &entry.event;
        let figures = &mut self.open.figures;
        if let Some(ts) = event.ts {
            figures.seen(ts);
        }
        match event.extension() {
            Some(Extension::Usage(usage)) => {
                if usage.response.is_empty() || self.responses.insert(usage.response.clone()) {
                    figures.usage(&usage);
                }
                self.model(&usage.model);
            }
            Some(Extension::Checkpoint(mark)) if mark.action != "failed" => figures.checkpoints += 1,
            Some(Extension::Turn(mark)) if mark.phase == TurnPhase::Start => self.before = event.ts,
            _ => {}
        }
        if event.kind == Kind::Settings {
            self.model(&entry.event.model);
        }
        match (&entry.event.message, entry.event.effect()) {
            (Some(_), Effect::Adds) => self.message(entry),
            _ => {
                if let Some(aside) = Aside::of(&entry.event) {
                    self.open.pieces.push(Piece::Aside(entry.number, aside));
                }
            }
        }
    }

    fn model(&mut self, model: &str) {
        if !model.is_empty() && !self.story.models.iter().any(|known| known == model) {
            self.story.models.push(model.to_owned());
        }
    }

    fn message(&mut self, entry: Entry) {
        let Some(message) = entry.event.message.as_deref() else { return };
        self.count(&entry, message);
        if message.role == Role::Tool {
            let id = message.tool_call_id.clone();
            match self.open_call(&id) {
                Some(place) => *place = Some(entry),
                None => self.open.pieces.push(Piece::Result(entry)),
            }
            return;
        }
        let results = vec![None; message.tool_calls.len()];
        self.open.pieces.push(Piece::Message(entry, results));
    }

    fn count(&mut self, entry: &Entry, message: &Message) {
        let event = &entry.event;
        let figures = &mut self.open.figures;
        if let (Some(before), Some(ts)) = (self.before, event.ts) {
            let gap = u64::try_from(ts.signed_duration_since(before).num_milliseconds()).unwrap_or(0);
            figures.took(event, &message.role, gap);
        }
        self.before = event.ts.or(self.before);
        figures.messages += 1;
        figures.calls += message.tool_calls.len() as u64;
        match message.role {
            Role::User => {
                figures.prompts += 1;
                let is_late = self.is_marked && figures.replies > 0 && prompt_of(message).is_some();
                let is_flagged = ["inbox", "steered"].iter().any(|flag| event.x.get(flag).is_some());
                figures.steered += u64::from(is_late || is_flagged);
                if self.open.prompt.is_empty() {
                    self.open.prompt = prompt_of(message).unwrap_or_default();
                }
            }
            Role::Assistant => figures.replies += 1,
            Role::Tool => figures.failures += u64::from(is_failure(event)),
            Role::System | Role::Other(_) => {}
        }
    }

    /// Where the result of a call goes: the call waits in the last message that makes calls.
    fn open_call(&mut self, id: &str) -> Option<&mut Option<Entry>> {
        let calls = self.open.pieces.iter_mut().rev().find_map(|piece| match piece {
            Piece::Message(entry, results) if !results.is_empty() => Some((entry, results)),
            _ => None,
        });
        let (entry, results) = calls?;
        let calls = &entry.event.message.as_deref()?.tool_calls;
        let index = calls.iter().zip(results.iter()).position(|(call, result)| call.id == id && result.is_none())?;
        results.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, ToolCall, parse_time};

    fn at(seconds: u32, message: Message) -> Event {
        let ts = format!("2026-01-02T03:00:{seconds:02}Z");
        Event::message(parse_time(&ts).expect("it is well formed"), message)
    }

    fn asks(ids: &[&str]) -> Message {
        let call = |id: &&str| ToolCall { id: (*id).into(), name: "Shell".into(), ..ToolCall::default() };
        Message { tool_calls: ids.iter().map(call).collect(), ..Message::assistant("digging") }
    }

    fn entries(events: Vec<Event>) -> Vec<Entry> {
        (1..).zip(events).map(|(number, event)| Entry { number, live: Some(true), event }).collect()
    }

    #[test]
    fn results_go_to_the_calls_that_wait_for_them() {
        let result = |text: &str| Message::tool_result("c1", "Shell", text);
        let told = [at(0, asks(&["c1", "c1"])), at(1, result("a")), at(2, result("b")), at(3, result("late"))];
        let story = Story::new(entries(told.to_vec()), &[], &[]);
        let [Piece::Message(_, results), Piece::Result(late)] = &story.chapters[0].pieces[..] else {
            panic!("{story:?}");
        };
        let numbers: Vec<_> = results.iter().flatten().map(|entry| entry.number).collect();
        assert_eq!((numbers, late.number), (vec![2, 3], 4));
    }

    #[test]
    fn time_is_the_models_the_tools_or_spent_waiting() {
        let mut result = at(9, Message::tool_result("c1", "Shell", "error: no spade"));
        result.ms = 1_000;
        let told =
            vec![at(0, Message::user("plant")), at(4, asks(&["c1"])), result, at(10, Message::assistant("done"))];
        let turn = TurnSpan { number: 1, first: 1, last: 4, started: told[0].ts, ..TurnSpan::default() };
        let story = Story::new(entries(told), &[turn], &[]);
        let figures = &story.chapters[0].figures;
        assert_eq!((figures.model_ms, figures.tools_ms, figures.waiting_ms), (Some(5_000), Some(1_000), Some(4_000)));
        assert_eq!((figures.messages, figures.calls, figures.failures), (4, 1, 1));
        assert_eq!(figures, &story.figures);
    }

    #[test]
    fn usage_of_a_response_counts_once_and_what_is_unknown_stays_so() {
        let usage = |response: &str, cost| {
            let usage = crate::Usage { response: response.into(), input: Some(5), cost, ..crate::Usage::default() };
            Extension::Usage(usage).into_event(parse_time("2026-01-02T03:00:00Z").expect("it is well formed"))
        };
        let story = Story::new(entries(vec![usage("r1", None), usage("r1", None), usage("r2", None)]), &[], &[]);
        assert_eq!((story.figures.input, story.figures.output, story.figures.cost), (Some(10), None, None));
        assert_eq!(story.chapters, []);
        let story = Story::new(entries(vec![usage("", Some(0.5)), usage("", None)]), &[], &[1]);
        assert_eq!((story.figures.cost, story.figures.rollbacks), (Some(0.5), 1));
    }
}
