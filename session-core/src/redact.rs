//! What a writer and an exporter ask of whoever knows what is secret.
//!
//! The rules are not here: this crate knows which strings of a history are text and which are not, and hands the texts
//! to a [`Redact`]. `session-secrets` is one; an agent may bring its own.

use crate::json::{self, Cursor, StringSpan};
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
    fn a_blob_is_opaque_and_a_short_or_odd_text_is_not() {
        let blob = "iVBORw0KGgo".repeat(6);
        assert!(is_opaque(b"data", blob.as_bytes()));
        assert!(!is_opaque(b"data", &blob.as_bytes()[..63]));
        assert!(!is_opaque(b"data", format!("{blob} ").as_bytes()));
        assert!(!is_opaque(b"text", blob.as_bytes()));
    }
}
