//! What a writer and an exporter ask of whoever knows what is secret.
//!
//! [`line()`] and [`event`] make sure that what a redactor gives is the same event still.
//!
//! The rules are not here: this crate knows which strings of a history are text and which are not, and hands the texts
//! to a [`Redact`]. `session-secrets` is one; an agent may bring its own.

use crate::json::{self, Cursor, StringSpan};
use crate::{Event, Item, Role, scan_bytes};
use std::borrow::Cow;
use std::error::Error;

/// Why a text was not redacted. Whoever gets one keeps the text to itself: it does not write it.
pub type RedactError = Box<dyn Error + Send + Sync>;

/// Who takes secrets out of texts.
pub trait Redact: Send + Sync {
    /// The text without its secrets; everything else in it stays as it is.
    ///
    /// # Errors
    /// That it cannot tell. The text may hold a secret then, and is not to be passed on.
    fn text<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, RedactError>;

    /// A JSON text without the secrets in its strings. It stays JSON, and the strings that [`is_opaque`] names stay.
    ///
    /// # Errors
    /// As [`Redact::text`].
    fn json<'a>(&self, json: &'a str) -> Result<Cow<'a, str>, RedactError> {
        strings_redacted(self, json)
    }
}

/// The line of an event, without its newline, as a redactor gives it.
///
/// # Errors
/// What the redactor says; or that it gave something that is not the same event: another kind, time, effect or id, no
/// JSON, or more than a line.
pub fn line<'a>(redactor: &dyn Redact, event: &Event, line: &'a str) -> Result<Cow<'a, str>, RedactError> {
    match redactor.json(line)? {
        Cow::Owned(redacted) if read_again(event, &redacted).is_none() => Err(DIFFERENT.into()),
        redacted => Ok(redacted),
    }
}

/// An event as a redactor gives it.
///
/// # Errors
/// As [`line()`].
pub fn event(redactor: &dyn Redact, event: Event) -> Result<Event, RedactError> {
    let mut bytes = Vec::new();
    event.encode(&mut bytes);
    bytes.pop();
    match redactor.json(str::from_utf8(&bytes)?)? {
        Cow::Borrowed(_) => Ok(event),
        Cow::Owned(redacted) => read_again(&event, &redacted).ok_or_else(|| DIFFERENT.into()),
    }
}

const DIFFERENT: &str = "the redactor gave something that is not the same event";

/// What a line says, if that is an event of the same kind, time and effect, with the same ids.
fn read_again(event: &Event, line: &str) -> Option<Event> {
    let mut records = scan_bytes(line.as_bytes()).filter_map(|item| match item {
        Item::Record(record) => Some(record),
        Item::Defect(_) => None,
    });
    let other = *records.next()?.event;
    let is_same = (&other.kind, other.ts, other.dropped) == (&event.kind, event.ts, event.dropped);
    let is_one = records.next().is_none() && !line.contains('\n');
    (is_same && is_one && ids(&other) == ids(event)).then_some(other)
}

/// Who speaks, and the ids of calls.
fn ids(event: &Event) -> Option<(&Role, &str, Vec<&str>)> {
    event.message.as_deref().map(|message| {
        let calls = message.tool_calls.iter().map(|call| &*call.id).collect();
        (&message.role, &*message.tool_call_id, calls)
    })
}

/// Members that hold what is not text: ids and names that others refer to, and what only its maker can read.
const OPAQUE: [&str; 30] = [
    "call_id",
    "checkpoint",
    "content_id",
    "encrypted",
    "encrypted_content",
    "id",
    "inbox",
    "item_id",
    "kind",
    "media_type",
    "message_id",
    "mime_type",
    "name",
    "parent",
    "parent_id",
    "path",
    "previous_response_id",
    "request_id",
    "response",
    "response_id",
    "role",
    "session_id",
    "signature",
    "succeeded_by",
    "thinking_signature",
    "thought_signature",
    "tool_call_id",
    "ts",
    "type",
    "uuid",
];

/// How many letters of base64 a blob has at least.
const BLOB: usize = 64;

/// Whether a member's string, as it is written, is no text: an id, a name, a signature, something encrypted. Case and
/// underscores count for nothing in the member's name. What has white space in it is text, whatever it is called.
/// `data` is opaque where all of it is base64: a picture, or reasoning that is hidden.
///
/// ```
/// use session_core::redact::is_opaque;
/// assert!(is_opaque(b"tool_call_id", b"call_1"));
/// assert!(is_opaque(b"thoughtSignature", b"EpwBCk"));
/// assert!(!is_opaque(b"content", b"call_1"));
/// assert!(!is_opaque(b"response", b"three oaks"));
/// assert!(!is_opaque(b"data", b"three oaks"));
/// ```
pub fn is_opaque(member: &[u8], string: &[u8]) -> bool {
    let letters =
        |name: &[u8]| -> Vec<u8> { name.iter().filter(|&&byte| byte != b'_').map(u8::to_ascii_lowercase).collect() };
    let member = letters(member);
    if member == b"data" {
        return string.len() >= BLOB && string.iter().all(|&byte| is_base64(byte));
    }
    OPAQUE.iter().any(|opaque| letters(opaque.as_bytes()) == member) && !has_white_space(string)
}

/// Whether there is white space in a string, raw or escaped.
fn has_white_space(string: &[u8]) -> bool {
    let escaped = |pair: &[u8]| matches!(pair, b"\\n" | b"\\r" | b"\\t");
    string.iter().any(u8::is_ascii_whitespace) || string.windows(2).any(escaped)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// Each string by itself, as a redactor does that knows texts only. What is no JSON is a text.
fn strings_redacted<'a, R: Redact + ?Sized>(redactor: &R, json: &'a str) -> Result<Cow<'a, str>, RedactError> {
    let Some(strings) = json::strings(json.as_bytes()) else { return redactor.text(json) };
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0;
    for StringSpan { inside, member, is_name } in strings {
        let opaque = member.is_some_and(|member| is_opaque(&json.as_bytes()[member], &json.as_bytes()[inside.clone()]));
        if is_name || opaque {
            continue;
        }
        let quoted = inside.start - 1..inside.end + 1;
        let decoded = Cursor::new(&json.as_bytes()[quoted.clone()]).string();
        let decoded = decoded.expect("it was read as a string before");
        if let Cow::Owned(redacted) = redactor.text(&decoded)?
            && redacted != decoded
        {
            out.extend_from_slice(&json.as_bytes()[copied..quoted.start]);
            json::push_string(&mut out, &redacted);
            copied = quoted.end;
        }
    }
    if copied == 0 {
        return Ok(Cow::Borrowed(json));
    }
    out.extend_from_slice(&json.as_bytes()[copied..]);
    Ok(Cow::Owned(String::from_utf8(out)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows one word, and fails over another.
    struct Word;

    impl Redact for Word {
        fn text<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, RedactError> {
            if text.contains("poison") {
                return Err("cannot tell".into());
            }
            Ok(if text.contains("hunter2") { text.replace("hunter2", "*\n*").into() } else { text.into() })
        }
    }

    #[test]
    fn s02_strings_are_redacted_one_by_one_and_everything_else_stays() {
        let json = r#" {"id":"hunter2", "content" :"a\u0041 hunter2", "n":1e3, "parts":[{"text":"\"hunter2\""},"x\/y"],
 "hunter2":null}"#;
        let wanted = r#" {"id":"hunter2", "content" :"aA *\n*", "n":1e3, "parts":[{"text":"\"*\n*\""},"x\/y"],
 "hunter2":null}"#;
        assert_eq!(Word.json(json).expect("it can tell"), wanted);
        let clean = r#"{"content":"a\u0041"}"#;
        assert!(matches!(Word.json(clean), Ok(Cow::Borrowed(text)) if text == clean));
        assert_eq!(Word.json("no JSON: hunter2").expect("it can tell"), "no JSON: *\n*");
    }

    #[test]
    fn s02_a_failure_is_passed_on_and_no_text_with_it() {
        let error = Word.json(r#"{"content":"hunter2","reasoning":"poison"}"#).expect_err("it cannot tell");
        assert_eq!(error.to_string(), "cannot tell");
    }

    #[test]
    fn s02_an_event_stays_the_event_that_it_was() {
        let said = |text: &str| Event { message: Some(Box::new(crate::Message::user(text))), ..Event::default() };
        let said = |text: &str| Event { kind: crate::Kind::Message, ..said(text) };
        assert_eq!(event(&Word, said("a hunter2")).expect("it can tell"), said("a *\n*"));
        assert_eq!(event(&Word, said("oak")).expect("it can tell"), said("oak"));
        assert!(event(&Word, said("poison")).is_err());
        struct Cuts;
        impl Redact for Cuts {
            fn text<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, RedactError> {
                Ok(text.into())
            }

            fn json<'a>(&self, json: &'a str) -> Result<Cow<'a, str>, RedactError> {
                Ok(json.replace("user", "system").into())
            }
        }
        let error = event(&Cuts, said("oak")).expect_err("somebody else speaks");
        assert_eq!(error.to_string(), DIFFERENT);
        assert!(line(&Cuts, &said("oak"), r#"{"kind":"message","message":{"role":"user","content":"oak"}}"#).is_err());
    }

    #[test]
    fn a_blob_is_opaque_and_a_short_or_odd_text_is_not() {
        let blob = "iVBORw0KGgo".repeat(6);
        assert!(is_opaque(b"data", blob.as_bytes()));
        assert!(!is_opaque(b"data", &blob.as_bytes()[..63]));
        assert!(!is_opaque(b"data", format!("{blob} ").as_bytes()));
        assert!(!is_opaque(b"text", blob.as_bytes()));
    }
}
