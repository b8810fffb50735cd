//! Finding secrets in a text, whatever they are wrapped in.

use crate::base64;
use crate::found::Found;
use crate::known::Literals;
use crate::mask::{self, Edit};
use crate::rules::{BUILT_IN, Rules};
use crate::texts::Texts;
use crate::view::View;
use crate::wrapped::wrapped;
use crate::{Known, Secret, SecretsError};
use std::ops::Range;

/// How often a text is looked through again after something in it was masked, since a secret may hide another one. A text
/// that still shows a new one then is masked as a whole.
const ROUNDS: usize = 64;

/// How deep texts in base64 in texts are followed.
const NESTED: usize = 3;

/// What the bytes are that are looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text, such as the output of a process.
    Text,
    /// A JSON text, such as a line of a history. What is no JSON is taken for a text.
    Json,
}

/// What was found in some bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Examined {
    /// The secrets, in the order of the bytes.
    pub found: Vec<Found>,
    /// The bytes with all of them masked, as many as there were; `None` where there is none.
    pub masked: Option<Vec<u8>>,
}

/// Finds secrets.
///
/// ```
/// use session_secrets::{Finder, Form};
/// let token = ["ghp", "_q7Zr2LmX9", "aBv4Kd8TyW3", "nHs6Pj1FcG5uEoRt"].concat();
/// let line = format!(r#"{{"role":"tool","content":"token: {token}\n"}}"#);
/// let examined = Finder::new().examine(line.as_bytes(), Form::Json)?;
/// assert_eq!(examined.found[0].rule, "github-pat");
/// assert_eq!(examined.found[0].secret.to_string(), "ghp_… (40 bytes)");
/// let masked = String::from_utf8(examined.masked.expect("something was found")).expect("it is text");
/// assert_eq!(masked, format!(r#"{{"role":"tool","content":"token: {}\n"}}"#, "*".repeat(40)));
/// # Ok::<(), session_secrets::SecretsError>(())
/// ```
pub struct Finder {
    rules: &'static Rules,
    literals: Option<Literals>,
}

impl Default for Finder {
    fn default() -> Self {
        Finder::new()
    }
}

impl Finder {
    /// One that knows the rules.
    pub fn new() -> Self {
        Finder { rules: &BUILT_IN, literals: None }
    }

    /// One that also knows secrets by themselves.
    pub fn knowing(known: &Known) -> Self {
        Finder { rules: &BUILT_IN, literals: Literals::new(known) }
    }

    /// Looks for secrets. In JSON, only strings that are text are looked at: see [`session_core::redact::is_opaque`].
    ///
    /// Memory is some times that of the bytes.
    ///
    /// # Errors
    /// [`SecretsError`], which is not expected: then nothing is known about the bytes.
    pub fn examine(&self, bytes: &[u8], form: Form) -> Result<Examined, SecretsError> {
        let (mut found, masked) = self.rounds(bytes, form, 0)?;
        if found.is_empty() {
            return Ok(Examined::default());
        }
        found.sort_by_key(|found| (found.at.start, found.at.end));
        Ok(Examined { found, masked: Some(masked) })
    }

    /// Masks and looks again, until nothing is found.
    fn rounds(&self, bytes: &[u8], form: Form, nested: usize) -> Result<(Vec<Found>, Vec<u8>), SecretsError> {
        let mut found: Vec<Found> = Vec::new();
        if !self.may_hold(bytes) {
            return Ok((found, Vec::new()));
        }
        let texts = if form == Form::Json { Texts::of(bytes) } else { None };
        let mut masked = bytes.to_vec();
        for round in 0.. {
            let mut new = self.look(&masked, texts.as_ref(), nested)?;
            if round >= ROUNDS {
                let unmasked = new.iter_mut().filter(|found| found.changes(&masked));
                unmasked.for_each(|found| found.widen(&masked, texts.as_ref()));
            }
            // What is masked but for escapes, which stay, may look like a secret still. Whatever a round changes becomes
            // asterisks in the end, so that there is a last one.
            if !new.iter().any(|found| found.changes(&masked)) {
                break;
            }
            mask_all(&new, &mut masked, texts.is_some())?;
            new.into_iter().for_each(|new| add(&mut found, new));
        }
        Ok((found, masked))
    }

    /// Whether a closer look is worth it.
    fn may_hold(&self, bytes: &[u8]) -> bool {
        self.rules.has_word(bytes)
            || self.literals.as_ref().is_some_and(|literals| literals.is_in(bytes))
            || !base64::encoded(bytes).is_empty()
            // A secret that is known may be written with escapes.
            || (self.literals.is_some() && memchr::memchr(b'\\', bytes).is_some())
    }

    /// What the layers of a text hold, the deepest first: what is found there is cut at the right places.
    fn look(&self, bytes: &[u8], texts: Option<&Texts>, nested: usize) -> Result<Vec<Found>, SecretsError> {
        let mut found = Vec::new();
        for view in View::layers(bytes).iter().rev() {
            let mut here = self.look_at(view);
            if nested < NESTED {
                self.look_inside(view, nested, &mut here)?;
            }
            here.retain(|found| texts.is_none_or(|texts| texts.hold(&found.at)));
            here.into_iter().for_each(|here| add(&mut found, here));
        }
        Ok(found)
    }

    fn look_at(&self, view: &View<'_>) -> Vec<Found> {
        let text = &*view.text;
        let mut found = Vec::new();
        if let Some(literals) = &self.literals {
            let known = literals.find(text).into_iter();
            found
                .extend(known.map(|(range, named)| Found { by_itself: true, ..of_view(view, &[range], named, false) }));
        }
        let words = self.rules.words_in(text);
        for rule in self.rules.of_words(&words) {
            let secrets =
                self.rules.find(rule, text).into_iter().filter(|range| !mask::is_masked(&text[range.clone()]));
            found.extend(secrets.map(|range| of_view(view, &[range], rule.named(), rule.is_generic())));
        }
        for (n, parts) in wrapped(self.rules, text, &words) {
            found.push(of_view(view, &parts, self.rules.rules[n].named(), false));
        }
        // Of two at one place, the one that says more about it counts.
        found.sort_by_key(|found| (found.by_itself, found.is_generic, found.at.start));
        found
    }

    /// What is encoded in base64.
    fn look_inside(&self, view: &View<'_>, nested: usize, here: &mut Vec<Found>) -> Result<(), SecretsError> {
        for encoded in base64::encoded(&view.text) {
            let (inside, masked) = self.rounds(&encoded.decoded, Form::Text, nested + 1)?;
            if inside.is_empty() {
                continue;
            }
            let mut edits = mask::letters(view, &encoded.changes(&view.text, &masked));
            let at = view.origin(&encoded.at);
            for found in inside {
                here.push(Found { at: at.clone(), edits: std::mem::take(&mut edits), is_generic: false, ..found });
            }
        }
        Ok(())
    }
}

/// Masks everything that was found. JSON has to stay JSON: a history gets no line that nobody can read.
fn mask_all(found: &[Found], bytes: &mut [u8], is_json: bool) -> Result<(), SecretsError> {
    found.iter().for_each(|found| found.mask(bytes));
    match is_json && session_core::json::strings(bytes).is_none() {
        true => Err(SecretsError::BrokenJson),
        false => Ok(()),
    }
}

/// Something that was found in a view, in the places of the original.
fn of_view(
    view: &View<'_>,
    parts: &[Range<usize>],
    (rule, description): (&'static str, &'static str),
    is_generic: bool,
) -> Found {
    let secret: Vec<u8> = parts.iter().flat_map(|part| &view.text[part.clone()]).copied().collect();
    let edits: Vec<Edit> = parts.iter().flat_map(|part| mask::mask(view, part)).collect();
    let first = parts.first().map_or(0..0, |part| view.origin(part));
    let last = parts.last().map_or(0..0, |part| view.origin(part));
    let at = first.start..last.end;
    Found { rule, description, at, secret: Secret::new(&secret), by_itself: false, edits, is_generic }
}

/// Adds what was found, unless it is a part of something that was found before.
fn add(found: &mut Vec<Found>, new: Found) {
    let is_same = |known: &&mut Found| known.at == new.at && known.secret == new.secret;
    if let Some(known) = found.iter_mut().find(is_same) {
        known.by_itself &= new.by_itself;
        return;
    }
    let overlaps = |known: &&mut Found| known.at.start < new.at.end && new.at.start < known.at.end;
    match found.iter_mut().find(overlaps) {
        // Several secrets in one encoded text stand at one place, and the first has the changes of all.
        Some(known) if known.at != new.at || !new.edits.is_empty() => known.join(new),
        _ => found.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_masking_would_break_is_an_error_and_text_is_not() {
        let text = br#"{"content":"oak"}"#;
        let layers = View::layers(text);
        let mask = |range: Range<usize>| of_view(&layers[0], &[range], ("rule", "what it finds"), false);
        let masked = |found: Found, is_json| mask_all(&[found], &mut text.to_vec(), is_json);
        assert_eq!(masked(mask(12..15), true), Ok(()));
        assert_eq!(masked(mask(12..16), true), Err(SecretsError::BrokenJson), "the quotation mark goes with it");
        assert_eq!(masked(mask(12..16), false), Ok(()));
    }
}
