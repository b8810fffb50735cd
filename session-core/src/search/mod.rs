//! Searching a history: events whose decoded texts match, with their numbers and the text around the match.
//!
//! A block of the file is looked through as it is for what every match must have ([`Anchor`]). Only a line that has it is
//! decoded and searched; the events before it are counted, as cheaply as `count` does it, and only if there is such a line
//! behind them. That a text is found does not depend on how it was written: an escaped quotation mark, `\u00e9`, and a
//! JSON text inside the arguments of a call are what they stand for.

mod anchor;
mod escapes;
mod excerpt;
mod folded;
mod text;
mod walk;

pub use anchor::Anchor;
pub use excerpt::Excerpt;
pub use text::{Scope, TextKind};

use crate::{Defect, Limits, Place, Timestamp};
use std::io::{self, Read, Seek};
use std::ops::{ControlFlow, Range};

/// What is looked for in a text.
pub trait Pattern {
    /// The first match that begins at or behind `from`, a boundary of characters. Its ends are boundaries, too.
    fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>>;

    /// What every match has in the bytes of its line.
    fn anchor(&self) -> &Anchor;
}

/// A search, which can go through one history after the other with one buffer.
///
/// ```
/// use session_core::Limits;
/// use session_core::search::{Anchor, Pattern, Scope, Search, Seen};
/// use std::ops::{ControlFlow, Range};
///
/// struct Word(&'static str, Anchor);
/// impl Pattern for Word {
///     fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>> {
///         text[from..].find(self.0).map(|at| from + at..from + at + self.0.len())
///     }
///     fn anchor(&self) -> &Anchor {
///         &self.1
///     }
/// }
///
/// let history = br#"{"kind":"notice","text":"rain"}
/// {"kind":"message","message":{"role":"user","content":"plant three \"oaks\""}}
/// "#;
/// let mut hits = Vec::new();
/// let mut search = Search::new(Word("\"oaks\"", Anchor::exact("\"oaks\"")), Scope::default(), Limits::default());
/// search.read(std::io::Cursor::new(&history[..]), &mut |seen| {
///     if let Seen::Hit(hit) = seen {
///         hits.push((hit.event, hit.excerpt.text));
///     }
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(hits, [(2, "plant three \"oaks\"".to_owned())]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Search<P> {
    pattern: P,
    scope: Scope,
    limits: Limits,
    /// What is looked through at once.
    block: Vec<u8>,
}

/// What a search comes upon.
#[derive(Debug)]
pub enum Seen {
    /// A text with a match.
    Hit(Hit),
    /// So many bytes more were looked through.
    Bytes(u64),
}

/// A text of an event with a match.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The event's number in its history, from 1. Defects are not counted.
    pub event: u64,
    /// Where the event stands.
    pub place: Place,
    /// When it happened.
    pub ts: Option<Timestamp>,
    /// What the text is.
    pub kind: TextKind,
    /// The tool that it belongs to, for a result and for arguments.
    pub tool: Option<String>,
    /// The text around the first match.
    pub excerpt: Excerpt,
}

/// How much of a history was searched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Coverage {
    /// Bytes that were looked through.
    pub bytes: u64,
    /// How many lines could not be read that may have held a match.
    pub unread: u64,
    /// The first of them.
    pub first_unread: Option<Defect>,
    /// Whether the search was told to stop before the end.
    pub stopped: bool,
}

impl<P: Pattern> Search<P> {
    /// A search for a pattern in some texts.
    pub fn new(pattern: P, scope: Scope, limits: Limits) -> Self {
        Search { pattern, scope, limits, block: Vec::new() }
    }

    /// Searches a history from its start to its end, and tells `seen` what comes, in file order, until it says
    /// [`ControlFlow::Break`].
    ///
    /// Memory is one block of a megabyte, and the longest line that may hold a match or stands before one.
    ///
    /// # Errors
    /// What the reader reports. Content is never an error.
    pub fn read(
        &mut self,
        history: impl Read + Seek,
        seen: &mut dyn FnMut(Seen) -> ControlFlow<()>,
    ) -> io::Result<Coverage> {
        walk::walk(self, history, seen)
    }
}
