//! The redactor of those who write.
//!
//! It is asked about each line before it is written, and about the texts of the metadata. What it answers is written only
//! if it is still the same event (see [`session_core::redact::line`]): a redactor that loses an id, or breaks the line, is
//! refused like one that fails.

use crate::{Result, StoreError};
use session_core::{Event, Redact, RedactError, redact};
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
        let line = str::from_utf8(&lines[from..]).map_err(RedactError::from);
        let redacted = line.and_then(|line| redact::line(&**redactor, event, line)).map(|redacted| match redacted {
            Cow::Borrowed(_) => None,
            Cow::Owned(redacted) => Some(redacted),
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
