//! What a file of the inbox says.

use super::Terms;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use session_core::json::push_string;
use session_core::{Timestamp, format_time, parse_time};
use std::sync::atomic::{AtomicI64, Ordering};

/// The kind of a line that the user typed, and of everything that does not say what it is.
pub const USER_LINE: &str = "user_line";
/// The kind of news about a background process.
pub const PROCESS_EVENT: &str = "process_event";

/// A message for the running turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxMessage {
    /// What it is: [`USER_LINE`], [`PROCESS_EVENT`] or any other word.
    pub kind: String,
    /// What it says.
    pub text: String,
    /// When it was sent. Messages are taken in this order.
    pub at: Timestamp,
    /// Until when, and for which turn, it is meant.
    pub terms: Terms,
}

impl InboxMessage {
    /// A message that is sent now, in UTC. An empty kind is a line of the user.
    ///
    /// No two of one process are sent at the same time, and each is later than those before it, whatever the clock does:
    /// they are taken in the order in which they were made.
    pub fn now(kind: &str, text: impl Into<String>) -> Self {
        let kind = if kind.is_empty() { USER_LINE } else { kind };
        InboxMessage {
            kind: kind.to_owned(),
            text: text.into(),
            at: later_than_any(Utc::now()),
            terms: Terms::default(),
        }
    }

    /// The bytes of its file: to the byte those that the reference writes, unless it has terms.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::from(*b"{\"kind\":");
        push_string(&mut out, if self.kind.is_empty() { USER_LINE } else { &self.kind });
        out.extend_from_slice(b",\"text\":");
        push_string(&mut out, &self.text);
        out.extend_from_slice(b",\"at\":");
        push_string(&mut out, &format_time(&self.at));
        self.terms.encode(&mut out);
        out.push(b'}');
        out
    }

    /// Reads a file of the inbox: the JSON of a message with a kind, or, whatever else it is, a line of the user without
    /// the white space around it. `None`: there is nothing but white space.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let message = serde_json::from_str(text).ok().and_then(|members: Map<String, Value>| from_members(&members));
        Some(message.unwrap_or_else(|| InboxMessage::now(USER_LINE, text)))
    }
}

/// Keys match whatever their case, as in everything that the reference reads.
fn from_members(members: &Map<String, Value>) -> Option<InboxMessage> {
    let member = |name: &str| {
        let found = members.iter().rev().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value).filter(|value| !value.is_null())
    };
    let text_of = |name| member(name).map_or(Some(""), Value::as_str);
    let kind = text_of("kind").filter(|kind| !kind.is_empty())?;
    let mut message = InboxMessage::now(kind, text_of("text")?);
    if let Some(at) = member("at") {
        message.at = parse_time(at.as_str()?)?;
    }
    message.terms = Terms::decode(member("x").and_then(Value::as_object));
    Some(message)
}

/// The time, or, if that is not later than every time that this has given before, the one after the last.
fn later_than_any(now: DateTime<Utc>) -> Timestamp {
    static LAST_NS: AtomicI64 = AtomicI64::new(i64::MIN);
    let now_ns = now.timestamp_nanos_opt().unwrap_or(i64::MAX);
    let next = |last: i64| now_ns.max(last.saturating_add(1));
    let last = LAST_NS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
    DateTime::from_timestamp_nanos(last.map_or(now_ns, next)).fixed_offset()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    #[test]
    fn i05_a_clock_that_is_set_back_does_not_change_the_order_of_what_one_process_sends() {
        let mut times = vec![InboxMessage::now("", "").at];
        for step_s in [0, -3600, 0, -86_400] {
            times.push(later_than_any(Utc::now() + TimeDelta::seconds(step_s)));
        }
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    }

    #[test]
    fn a_message_with_terms_reads_back_and_what_is_no_term_is_passed_over() {
        let read = |text: &str| InboxMessage::parse(text.as_bytes()).expect("it is a message");
        let terms = Terms { expires: parse_time("2026-01-02T03:04:05Z"), turn: Some("t\"1".into()) };
        for terms in [terms.clone(), Terms { turn: None, ..terms.clone() }, Terms { expires: None, ..terms }] {
            let message = InboxMessage { terms, ..InboxMessage::now("k", "t") };
            assert_eq!(InboxMessage::parse(&message.to_json()), Some(message));
        }
        for other in [r#""x":5"#, r#""x":{"expires":"soon","turn":7,"more":1}"#, r#""x":null"#] {
            assert_eq!(read(&format!(r#"{{"kind":"k","text":"t",{other}}}"#)).terms, Terms::default(), "{other}");
        }
    }
}
