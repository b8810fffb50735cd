//! The redactor of those who write.
//!
//! It is asked about each line before it is written, and about the texts of the metadata. What it answers is written only
//! if it is still the same event: a redactor that loses an id, or breaks the line, is refused like one that fails.

use crate::{Result, StoreError};
use session_core::{Event, Item, Redact, RedactError, scan_bytes};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A redactor, or none.
#[derive(Clone, Default)]
pub(crate) struct Redaction(Option<Arc<dyn Redact>>);

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Redaction(some)" } else { "Redaction(none)" })
    }
}

impl Redaction {
    pub(crate) fn by(redactor: Arc<dyn Redact>) -> Self {
        Redaction(Some(redactor))
    }

    /// Redacts the line of an event, without its newline, that stands at the end of `lines` from `from` on. `number` and
    /// `path` are for the error, after which the line must not be written.
    pub(crate) fn line(
        &self,
        event: &Event,
        lines: &mut Vec<u8>,
        from: usize,
        (number, path): (usize, &Path),
    ) -> Result<()> {
        let Some(redactor) = &self.0 else { return Ok(()) };
        let redacted =
            str::from_utf8(&lines[from..]).map_err(RedactError::from).and_then(|line| match redactor.json(line)? {
                Cow::Borrowed(_) => Ok(None),
                Cow::Owned(redacted) if says_the_same(event, &redacted) => Ok(Some(redacted)),
                Cow::Owned(_) => Err("the redactor gave something that is not the same event".into()),
            });
        match redacted {
            Ok(None) => {}
            Ok(Some(redacted)) => {
                lines.truncate(from);
                lines.extend_from_slice(redacted.as_bytes());
            }
            Err(source) => return Err(StoreError::NotRedacted { event: number, path: path.to_owned(), source }),
        }
        Ok(())
    }

    /// Redacts a text of the metadata.
    pub(crate) fn text(&self, text: &mut String, path: &Path) -> Result<()> {
        let Some(redactor) = &self.0 else { return Ok(()) };
        match redactor.text(text) {
            Ok(Cow::Borrowed(_)) => Ok(()),
            Ok(Cow::Owned(redacted)) => {
                *text = redacted;
                Ok(())
            }
            Err(source) => Err(StoreError::NotRedacted { event: 0, path: path.to_owned(), source }),
        }
    }
}

/// Whether a line is an event of the same kind and effect, with the same ids.
fn says_the_same(event: &Event, line: &str) -> bool {
    let ids = |event: &Event| {
        let calls = |message: &session_core::Message| message.tool_calls.iter().map(|call| call.id.clone()).collect();
        let of = |message: &session_core::Message| {
            let ids: Vec<String> = calls(message);
            (message.role.clone(), message.tool_call_id.clone(), ids)
        };
        event.message.as_deref().map(of)
    };
    let mut items = scan_bytes(line.as_bytes());
    let (Some(Item::Record(record)), None) = (items.find(|item| matches!(item, Item::Record(_))), items.next()) else {
        return false;
    };
    let other = &record.event;
    let is_one_line = !line.contains('\n');
    is_one_line
        && (&other.kind, other.ts, other.dropped) == (&event.kind, event.ts, event.dropped)
        && ids(other) == ids(event)
}
