//! Times as other programs write them.

use super::value::Json;
use crate::{Timestamp, parse_time};
use chrono::DateTime;

/// Beyond this a number counts milliseconds, not seconds: seconds reach it in the year 5138.
const MILLISECONDS: f64 = 1e11;

/// A time: RFC 3339, the same without an offset (which is taken for UTC), or seconds or milliseconds since 1970.
pub(super) fn time_of(json: &Json) -> Option<Timestamp> {
    match json {
        Json::Text(text) => {
            let text = text.trim().replacen(' ', "T", 1);
            let capital = || parse_time(&text.to_ascii_uppercase());
            parse_time(&text).or_else(|| parse_time(&format!("{text}Z"))).or_else(capital)
        }
        Json::Raw(_) => {
            let number = json.number()?;
            let millis = if number.abs() >= MILLISECONDS { number } else { number * 1000.0 };
            #[expect(clippy::cast_possible_truncation, reason = "a float beyond the range becomes its end")]
            DateTime::from_timestamp_millis(millis as i64).map(|time| time.fixed_offset())
        }
        Json::Null | Json::Bool(_) | Json::List(_) | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format_time;

    #[test]
    fn every_form_of_a_time_is_read() {
        for (json, time) in [
            (r#""2026-01-02T03:04:05.678Z""#, "2026-01-02T03:04:05.678Z"),
            (r#""2026-01-02T03:04:05.292853""#, "2026-01-02T03:04:05.292853Z"),
            (r#""2026-01-02 03:04:05+02:00""#, "2026-01-02T03:04:05+02:00"),
            ("1767323045", "2026-01-02T03:04:05Z"),
            ("1767323045678", "2026-01-02T03:04:05.678Z"),
            ("1767323045.5", "2026-01-02T03:04:05.5Z"),
        ] {
            let read = time_of(&Json::parse(json).expect("it is JSON"));
            assert_eq!(read.as_ref().map(format_time).as_deref(), Some(time), "{json}");
        }
        for json in [r#""[trimmed]""#, "null", "1e300", "{}"] {
            assert_eq!(time_of(&Json::parse(json).expect("it is JSON")), None, "{json}");
        }
    }
}
