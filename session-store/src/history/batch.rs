//! The bytes of one call.

use crate::{LongLines, Redaction, Result, StoreError};
use session_core::{Event, layout};
use std::path::Path;

/// The lines of a call's events, ready to be written at once.
#[derive(Debug)]
pub(super) struct Batch {
    /// A newline that is written only where it has to end somebody else's line, and then the lines.
    bytes: Vec<u8>,
    /// Where the first line of the caller's own events begins: behind those of others, if there are any.
    own: usize,
    /// Where the line of each of the caller's events ends, its newline included.
    ends: Vec<usize>,
}

impl Batch {
    /// Encodes events, without what the redactor takes out. `path` is for the error.
    pub(super) fn new(events: &[Event], redaction: &Redaction, long_lines: LongLines, path: &Path) -> Result<Self> {
        let mut batch = Batch { bytes: vec![b'\n'], own: 1, ends: Vec::with_capacity(events.len()) };
        for (n, event) in events.iter().enumerate() {
            let from = batch.bytes.len();
            push(event, redaction, &mut batch.bytes, (n, path))?;
            let len = (batch.bytes.len() - from - 1) as u64;
            if len >= layout::MAX_REFERENCE_LINE && long_lines == LongLines::Refuse {
                return Err(StoreError::LineTooLong {
                    event: n,
                    bytes: len,
                    limit: layout::MAX_REFERENCE_LINE,
                    path: path.to_owned(),
                });
            }
            batch.ends.push(batch.bytes.len());
        }
        Ok(batch)
    }

    /// Puts lines that the caller did not give before its own, such as those that begin a history.
    pub(super) fn begin_with(&mut self, first: &[Event], redaction: &Redaction, path: &Path) -> Result<()> {
        if first.is_empty() {
            return Ok(());
        }
        let mut bytes = vec![b'\n'];
        first.iter().try_for_each(|event| push(event, redaction, &mut bytes, (0, path)))?;
        let own = bytes.len();
        bytes.extend_from_slice(&self.bytes[self.own..]);
        self.ends.iter_mut().for_each(|end| *end = *end - self.own + own);
        self.bytes = bytes;
        self.own = own;
        Ok(())
    }

    /// How many events the caller gave.
    pub(super) fn events(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes the first of the caller's events take.
    pub(super) fn bytes_of_first(&self, events: usize) -> u64 {
        let end = events.checked_sub(1).and_then(|last| self.ends.get(last));
        end.map_or(0, |end| (end - self.own) as u64)
    }

    /// What is written, with or without the newline in front.
    pub(super) fn written(&self, newline_first: bool) -> Written<'_> {
        let from = usize::from(!newline_first);
        Written { batch: self, from }
    }
}

/// Adds the line of an event.
fn push(event: &Event, redaction: &Redaction, lines: &mut Vec<u8>, place: (usize, &Path)) -> Result<()> {
    let from = lines.len();
    event.encode(lines);
    lines.pop();
    redaction.line(event, lines, from, place)?;
    lines.push(b'\n');
    Ok(())
}

/// What is written of a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written<'a> {
    batch: &'a Batch,
    /// The first byte of the batch that is written.
    from: usize,
}

impl<'a> Written<'a> {
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.batch.bytes[self.from..]
    }

    /// How many bytes come before the caller's own events.
    pub(super) fn before_own(self) -> usize {
        self.batch.own - self.from
    }

    /// How many of the caller's events lie whole in the first `len` bytes of what is written.
    pub(super) fn whole_events(self, len: usize) -> usize {
        self.batch.ends.iter().take_while(|&&end| end - self.from <= len).count()
    }
}
