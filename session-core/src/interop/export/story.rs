//! A conversation as it is told to a person: turns, and in them messages with what their calls came to.

use super::{Aside, End, Entry, Figures};
use crate::{Effect, Extension, Kind, Message, Role, Spent, Timestamp, TurnPhase, TurnSpan, is_failure, prompt_of};

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
    /// Tells the entries of an export.
    ///
    /// A result belongs to the first call with its id that has none yet, in the last message that makes calls.
    pub fn new(entries: Vec<Entry>, turns: &[TurnSpan], end: &End) -> Self {
        let mut teller = Teller { rollbacks: &end.rollbacks, spent: &end.spent, ..Teller::default() };
        let mut coming = turns.iter().peekable();
        for entry in entries {
            while let Some(turn) = coming.next_if(|turn| turn.first <= entry.number) {
                teller.unseen(turn.first.saturating_sub(1));
                teller.begin(turn);
            }
            teller.unseen(entry.number);
            teller.entry(entry);
        }
        teller.unseen(u64::MAX);
        teller.close();
        teller.story
    }
}

#[derive(Default)]
struct Teller<'a> {
    story: Story,
    open: Chapter,
    /// Whether an `x.turn` event began the turn, so that a prompt in it came while it ran.
    is_marked: bool,
    /// When the message before this one was there.
    before: Option<Timestamp>,
    /// Rollbacks, and what responses cost, that are not accounted for yet.
    rollbacks: &'a [u64],
    spent: &'a [Spent],
}

impl Teller<'_> {
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

    /// Accounts for what happened up to an event whether it is shown or not.
    fn unseen(&mut self, upto: u64) {
        let rollbacks = self.rollbacks.partition_point(|event| *event <= upto);
        self.open.figures.rollbacks += rollbacks as u64;
        self.rollbacks = &self.rollbacks[rollbacks..];
        let (now, later) = self.spent.split_at(self.spent.partition_point(|spent| spent.event <= upto));
        self.spent = later;
        for spent in now {
            self.open.figures.usage(&spent.usage);
            self.model(&spent.usage.model);
        }
    }

    fn entry(&mut self, entry: Entry) {
        let event = &entry.event;
        let figures = &mut self.open.figures;
        if let Some(ts) = event.ts {
            figures.seen(ts);
        }
        match event.extension() {
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
            Role::System | Role::Missing | Role::Other(_) => {}
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
        let index = calls.iter().zip(results.iter()).position(|(call, result)| *call.id == *id && result.is_none())?;
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
        let story = Story::new(entries(told.to_vec()), &[], &End::default());
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
        let story = Story::new(entries(told), &[turn], &End::default());
        let figures = &story.chapters[0].figures;
        assert_eq!((figures.model_ms, figures.tools_ms, figures.waiting_ms), (Some(5_000), Some(1_000), Some(4_000)));
        assert_eq!((figures.messages, figures.calls, figures.failures), (4, 1, 1));
        assert_eq!(figures, &story.figures);
    }

    #[test]
    fn what_is_not_shown_counts_where_it_happened() {
        let spent = |event, input, cost| {
            let usage = crate::Usage { input, cost, ..crate::Usage::default() };
            Spent { usage, ts: None, event, discarded: false }
        };
        let told = vec![at(0, Message::user("plant")), at(1, Message::user("and a birch"))];
        let turn = |number, first| TurnSpan { number, first, last: first, ..TurnSpan::default() };
        let spent = vec![spent(1, Some(5), None), spent(2, Some(6), Some(0.5)), spent(9, None, Some(0.25))];
        let end = End { rollbacks: vec![1, 7], spent, ..End::default() };
        let story = Story::new(entries(told), &[turn(1, 1), turn(2, 2)], &end);
        let sums = |figures: &Figures| (figures.input, figures.output, figures.cost, figures.rollbacks);
        let chapters: Vec<_> = story.chapters.iter().map(|chapter| sums(&chapter.figures)).collect();
        assert_eq!(chapters, [(Some(5), None, None, 1), (Some(6), None, Some(0.75), 1)]);
        assert_eq!(sums(&story.figures), (Some(11), None, Some(0.75), 2));
    }
}
