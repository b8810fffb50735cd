//! Until when, and for which turn, a message is meant.

use super::Unfit;
use serde_json::{Map, Value};
use session_core::json::push_string;
use session_core::{Timestamp, format_time, parse_time};

/// Until when, and for which turn, a message is meant. Without either it is for whichever turn comes next.
///
/// A message that nobody has taken by then is never given out: it is moved aside, and that is one rename, as taking it
/// is, so that only one of the two happens. The reference knows no terms and gives it out late.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// The first moment at which it is too late to take it.
    pub expires: Option<Timestamp>,
    /// The id of the turn that may take it.
    pub turn: Option<String>,
}

impl Terms {
    /// Why a message on these terms may not be taken any more: at `now`, in the turn of that id.
    pub(super) fn broken(&self, now: &Timestamp, turn: Option<&str>) -> Option<Unfit> {
        if let Some(at) = self.expires
            && at <= *now
        {
            return Some(Unfit::Expired { at });
        }
        match &self.turn {
            Some(meant) if turn != Some(meant) => Some(Unfit::OtherTurn { turn: meant.clone() }),
            Some(_) | None => None,
        }
    }

    /// As the last member of a message. Nothing where there are none.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let members = [("expires", self.expires.as_ref().map(format_time)), ("turn", self.turn.clone())];
        let members = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
        for (at, (name, value)) in members.enumerate() {
            out.extend_from_slice(if at == 0 { b",\"x\":{" } else { b"," });
            push_string(out, name);
            out.push(b':');
            push_string(out, &value);
        }
        if *self != Terms::default() {
            out.push(b'}');
        }
    }

    /// Out of the member `x` of a message. What is none of ours is passed over.
    pub(super) fn decode(x: Option<&Map<String, Value>>) -> Self {
        let text = |name| x.and_then(|x| x.get(name)).and_then(Value::as_str);
        Terms { expires: text("expires").and_then(parse_time), turn: text("turn").map(str::to_owned) }
    }
}
