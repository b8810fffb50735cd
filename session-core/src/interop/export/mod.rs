//! Conversations outwards: as Markdown, as JSON, as JSON lines, and as the messages that a model endpoint takes.
//!
//! An exporter is given the events that are to be shown, one after the other, and appends text to a buffer; the caller
//! writes it wherever it wants, and what was written need not be held. Which events are shown, and how much of each, is
//! decided once for all formats, by a [`Selection`].
//!
//! An exporter changes no text of its own accord. Whoever must not let secrets out replaces them in the events and the
//! [`Head`] before they come here.
//!
//! ```
//! use session_core::interop::export::{Detail, End, Export as _, Head, Markdown, Selection};
//! use session_core::{Item, Limits, LiveEvents, Meta, Scan};
//!
//! let history = br#"{"kind":"message","message":{"role":"user","content":"plant three oaks"}}
//! {"kind":"message","message":{"role":"assistant","content":"digging"}}
//! {"kind":"rollback","dropped":1}
//! "#;
//! let live = LiveEvents::read(&history[..], Limits::default())?;
//! let mut selection = Selection::new(&live).detail(Detail::Full);
//! let head = Head { rolled_back: selection.rolled_back(), ..Head::of(Meta::default()) };
//!
//! let (mut exporter, mut text) = (Markdown::new(), Vec::new());
//! exporter.begin(&head, &mut text);
//! for item in Scan::with_limits(&history[..], Limits::default()) {
//!     if let Item::Record(record) = item? {
//!         let shown = selection.next(*record.event);
//!         shown.iter().for_each(|entry| exporter.entry(entry, &mut text));
//!     }
//! }
//! exporter.end(&End::default(), &mut text);
//! let text = String::from_utf8_lossy(&text);
//! assert!(text.contains("> plant three oaks") && !text.contains("digging"));
//! assert!(text.contains("- Left out: 1 message that was taken back"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod aside;
mod detail;
mod figures;
mod json;
mod jsonl;
mod markdown;
mod openai;
mod quoted;
mod select;
mod story;

pub use aside::Aside;
pub use detail::Detail;
pub use figures::Figures;
pub use json::{Json, SCHEMA};
pub use jsonl::JsonLines;
pub use markdown::Markdown;
pub use openai::OpenAi;
pub use select::{Entry, Selection};
pub use story::{Chapter, Piece, Story};

use crate::{Defect, Meta, Spent, TurnSpan};
use std::ops::RangeInclusive;

/// A format: appends the text of what it is given.
///
/// [`Export::begin`] is called once, then [`Export::entry`] for each event in the order of the file, then
/// [`Export::end`] once.
pub trait Export {
    /// What stands before the first event.
    fn begin(&mut self, head: &Head, out: &mut Vec<u8>);

    /// One event.
    fn entry(&mut self, entry: &Entry, out: &mut Vec<u8>);

    /// What stands behind the last event.
    fn end(&mut self, end: &End, out: &mut Vec<u8>);
}

/// What is known of an export before its first event.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The session's metadata.
    pub meta: Meta,
    /// The turns of the whole history.
    pub turns: Vec<TurnSpan>,
    /// How many events the history has.
    pub events: u64,
    /// The numbers of the events that were asked for.
    pub range: RangeInclusive<u64>,
    /// How many messages among those were taken back. They are left out, unless `is_raw`.
    pub rolled_back: u64,
    /// Whether what was taken back is shown.
    pub is_raw: bool,
    /// How much of each event is shown.
    pub detail: Detail,
}

impl Head {
    /// The head of a whole history of which nothing but the metadata is known.
    pub fn of(meta: Meta) -> Self {
        Head {
            meta,
            turns: Vec::new(),
            events: 0,
            range: 1..=u64::MAX,
            rolled_back: 0,
            is_raw: false,
            detail: Detail::Full,
        }
    }

    /// Whether every event of the history was asked for.
    pub fn is_whole(&self) -> bool {
        *self.range.start() <= 1 && *self.range.end() >= self.events
    }
}

/// What is known of an export after its last event.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct End {
    /// The numbers of the events that took something back, whether they are shown or not.
    pub rollbacks: Vec<u64>,
    /// What the responses in the range cost, in the order of their events, whether those are shown or not.
    pub spent: Vec<Spent>,
    /// What was wrong with lines of the history.
    pub defects: Vec<Defect>,
    /// Whether a rollback reached back across a line that could not be read, so that what is live is a guess.
    pub uncertain: bool,
}

impl End {
    /// How many of the defects are skipped ([`Defect::is_skipped`]). One line can have several.
    pub fn skipped(&self) -> usize {
        self.defects.iter().filter(|defect| defect.is_skipped()).count()
    }

    /// Whether everything that was asked for is there.
    pub fn is_complete(&self) -> bool {
        !self.uncertain && self.skipped() == 0
    }
}
