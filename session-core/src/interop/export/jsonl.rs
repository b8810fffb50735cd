//! JSON lines: our own events.

use super::{End, Entry, Export, Head};

/// A history again: each event that is shown, as a line in the format of `history.jsonl`.
///
/// What was taken back is left out together with the rollbacks, so that a reader who takes every line for a message
/// reads the conversation as it stands.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonLines;

impl Export for JsonLines {
    fn begin(&mut self, _: &Head, _: &mut Vec<u8>) {}

    fn entry(&mut self, entry: &Entry, out: &mut Vec<u8>) {
        entry.event.encode(out);
    }

    fn end(&mut self, _: &End, _: &mut Vec<u8>) {}
}
