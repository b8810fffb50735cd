//! The redactor that knows the rules.

use crate::{Examined, Finder, Form, Known, SecretsError};
use session_core::{Redact, RedactError};
use std::borrow::Cow;

/// Masks secrets in texts, for exporters and writers.
///
/// ```
/// use session_core::Redact;
/// let redactor = session_secrets::Redactor::new();
/// let text = redactor.text("https://oak:hunter2@example.org/")?;
/// assert_eq!(text, "https://oak:*******@example.org/");
/// # Ok::<(), session_core::RedactError>(())
/// ```
#[derive(Default)]
pub struct Redactor {
    finder: Finder,
}

impl Redactor {
    /// One that knows the rules.
    pub fn new() -> Self {
        Redactor::default()
    }

    /// One that also knows secrets that were found elsewhere.
    pub fn knowing(known: &Known) -> Self {
        Redactor { finder: Finder::knowing(known) }
    }

    fn redacted<'a>(&self, text: &'a str, form: Form) -> Result<Cow<'a, str>, RedactError> {
        let Examined { masked, .. } = self.finder.examine(text.as_bytes(), form)?;
        match masked {
            None => Ok(Cow::Borrowed(text)),
            Some(masked) => Ok(Cow::Owned(as_text(masked)?)),
        }
    }
}

/// What was masked in a text has to be one.
fn as_text(masked: Vec<u8>) -> Result<String, SecretsError> {
    String::from_utf8(masked).map_err(|_| SecretsError::BrokenText)
}

impl Redact for Redactor {
    fn text<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, RedactError> {
        self.redacted(text, Form::Text)
    }

    fn json<'a>(&self, json: &'a str) -> Result<Cow<'a, str>, RedactError> {
        self.redacted(json, Form::Json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_an_error() {
        assert_eq!(as_text("oäk".into()).as_deref(), Ok("oäk"));
        assert_eq!(as_text(vec![b'*', 0xA4, b'k']), Err(SecretsError::BrokenText));
    }
}
