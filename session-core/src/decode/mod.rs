//! From the bytes of a line to events and defects: the one judgement that every reader shares.

mod canonical;
mod event;
mod message;

pub(crate) use canonical::{Said, Text, is_message, message};

use crate::{Defect, Event, Fault, Outcome, Place};
use event::{Broken, Decoded};
use memchr::memmem;

/// The bytes with which every event begins that this project or the reference writes. Raw, they cannot stand inside a
/// string, so that they mark where an event begins that was glued to what is before it.
const EVENT_START: &[u8] = b"{\"ts\":\"";

/// A line as it stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawLine<'a> {
    /// Where it stands.
    pub place: Place,
    /// Its bytes, without the newline.
    pub bytes: &'a [u8],
    /// Whether a newline ends it.
    pub terminated: bool,
}

/// An event, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Where it stands: the line, or the part of a line, whose JSON it is.
    pub place: Place,
    /// How many bytes of the file it takes, without the newline.
    pub len: u64,
    /// The event.
    pub event: Box<Event>,
}

/// What a line gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// An event.
    Record(Record),
    /// Something that is wrong. In file order, the defect of a repaired event comes right before the event;
    /// [`crate::ScanBackwards`] gives it right after.
    Defect(Defect),
}

/// Judges one line: gives its events and defects to `emit`, in file order. A blank line, and `null`, give nothing.
///
/// With `bodies` false the texts of the events are checked but not kept.
pub(crate) fn line(line: RawLine<'_>, bodies: bool, mut emit: impl FnMut(Item)) {
    if bodies
        && line.terminated
        && let Some(event) = usual(line.bytes)
    {
        return emit(Item::Record(Record { place: line.place, len: line.bytes.len() as u64, event: Box::new(event) }));
    }
    carefully(line, bodies, emit);
}

/// The event of a line in the writers' own shape.
fn usual(line: &[u8]) -> Option<Event> {
    let mut scratch = Vec::new();
    message::<String>(line, &mut scratch)?.into_event(&mut scratch)
}

/// The same, whatever the line looks like.
fn carefully(line: RawLine<'_>, bodies: bool, mut emit: impl FnMut(Item)) {
    let whole = Span::new(line).trim(char::is_whitespace);
    if whole.bytes.is_empty() {
        return;
    }
    let mut judge = Judge { line, bodies, emit: &mut emit };
    let around = if line.bytes.ends_with(b"\r") { Some(Fault::CarriageReturn) } else { None };
    let broken = match judge.decode(whole, around) {
        Ok(()) => return,
        Err(broken) => broken,
    };
    let (bare, around) = whole.without_padding();
    if let Some(padding) = around {
        if bare.bytes.is_empty() {
            return judge.defect(whole, padding, Outcome::Repaired);
        }
        if judge.decode(bare, Some(padding)).is_ok() {
            return;
        }
    }
    let cuts: Vec<usize> = memmem::find_iter(whole.bytes, EVENT_START).filter(|&at| at > 0).collect();
    if cuts.is_empty() {
        return judge.broken(whole, broken);
    }
    judge.glued(whole, &cuts);
}

/// Part of a line.
#[derive(Clone, Copy)]
struct Span<'a> {
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> Span<'a> {
    fn new(line: RawLine<'a>) -> Self {
        Span { bytes: line.bytes, offset: line.place.offset }
    }

    fn part(self, from: usize, to: usize) -> Self {
        Span { bytes: &self.bytes[from..to], offset: self.offset + from as u64 }
    }

    /// The place in the file where it ends.
    fn end(self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Without white space, as Unicode has it, at both ends.
    fn trim(self, is_space: impl Fn(char) -> bool) -> Self {
        let space = |b: &u8| b.is_ascii() && is_space(char::from(*b));
        let mut from = self.bytes.iter().take_while(|b| space(b)).count();
        let mut to = self.bytes.len() - self.bytes[from..].iter().rev().take_while(|b| space(b)).count();
        // White space beyond ASCII is rare: look for it only where such a byte stands at an end.
        while let Some(width) = first_char(&self.bytes[from..to]).filter(|c| is_space(*c)).map(char::len_utf8) {
            from += width;
        }
        while let Some(width) = last_char(&self.bytes[from..to]).filter(|c| is_space(*c)).map(char::len_utf8) {
            to -= width;
        }
        self.part(from, to)
    }

    /// Without a byte order mark and without NUL bytes around it, and which of them there was.
    fn without_padding(self) -> (Self, Option<Fault>) {
        let mark = if self.bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let inner = self.part(mark, self.bytes.len()).trim(|c| c == '\0' || c.is_whitespace());
        let fault = match (mark, self.bytes.len() - inner.bytes.len()) {
            (0, 0) => None,
            (3, _) => Some(Fault::ByteOrderMark),
            _ => Some(Fault::NulPadding),
        };
        (inner, fault)
    }
}

fn first_char(bytes: &[u8]) -> Option<char> {
    bytes[..bytes.len().min(4)].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next())
}

fn last_char(bytes: &[u8]) -> Option<char> {
    (1..=bytes.len().min(4)).find_map(|width| std::str::from_utf8(&bytes[bytes.len() - width..]).ok()?.chars().next())
}

struct Judge<'a, 'e, F> {
    line: RawLine<'a>,
    bodies: bool,
    emit: &'e mut F,
}

impl<F: FnMut(Item)> Judge<'_, '_, F> {
    /// Emits what the span gives if it is JSON. `around` is a fault outside of it.
    fn decode(&mut self, span: Span<'_>, around: Option<Fault>) -> Result<(), Broken> {
        match event::event(span.bytes, self.bodies)? {
            Decoded::Nothing => {}
            Decoded::Skipped { fault, rollback } => self.defect(span, fault, skipped(rollback)),
            Decoded::Event(event, repaired) => {
                if let Some(fault) = repaired.or(around).or_else(|| self.unterminated(span)) {
                    self.defect(span, fault, Outcome::Repaired);
                }
                let place = self.place(span);
                (self.emit)(Item::Record(Record { place, len: span.bytes.len() as u64, event }));
            }
        }
        Ok(())
    }

    /// Cuts the line where events begin and judges each piece for itself.
    fn glued(&mut self, whole: Span<'_>, cuts: &[usize]) {
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain(std::iter::once(whole.bytes.len()));
        // Good pieces need one word for the whole line; a bad one speaks for itself.
        let mut told = false;
        for (from, to) in starts.zip(ends) {
            let (piece, _) = whole.part(from, to).without_padding();
            if piece.bytes.is_empty() {
                continue;
            }
            let around = (!told).then_some(Fault::Glued);
            told = true;
            if let Err(broken) = self.decode(piece, around) {
                self.broken(piece, broken);
            }
        }
    }

    /// Whether the file ends behind the span: no newline follows, and nothing else but white space and NUL bytes.
    fn is_last(&self, span: Span<'_>) -> bool {
        !self.line.terminated && span.end() >= Span::new(self.line).without_padding().0.end()
    }

    fn unterminated(&self, span: Span<'_>) -> Option<Fault> {
        self.is_last(span).then_some(Fault::Unterminated)
    }

    fn broken(&mut self, span: Span<'_>, broken: Broken) {
        let Broken { malformed, rollback } = broken;
        let fault = if self.is_last(span) {
            Fault::Torn
        } else {
            Fault::NotJson { at: malformed.at as u64, what: malformed.what }
        };
        self.defect(span, fault, skipped(rollback));
    }

    fn place(&self, span: Span<'_>) -> Place {
        Place { line: self.line.place.line, offset: span.offset }
    }

    fn defect(&mut self, span: Span<'_>, fault: Fault, outcome: Outcome) {
        let place = self.place(span);
        (self.emit)(Item::Defect(Defect { place, len: span.bytes.len() as u64, fault, outcome }));
    }
}

fn skipped(rollback: bool) -> Outcome {
    if rollback { Outcome::SkippedRollback } else { Outcome::Skipped }
}
