//! Numbers and times in words.

pub(super) use crate::output::number::{counted, number};
use session_core::Timestamp;

/// A time of day, in UTC.
pub(super) fn clock(ts: &Timestamp) -> String {
    ts.to_utc().format("%H:%M:%S").to_string()
}

/// A date.
pub(super) fn date(ts: &Timestamp) -> String {
    ts.to_utc().format("%-d %B %Y").to_string()
}

/// From one point in time to another; the date once where it is the same.
pub(super) fn period(first: &Timestamp, last: &Timestamp) -> String {
    let minute = |ts: &Timestamp| ts.to_utc().format("%H:%M").to_string();
    let (first_day, last_day) = (date(first), date(last));
    match (minute(first), minute(last)) {
        (from, to) if first_day == last_day && from == to => format!("{first_day}, {from} UTC"),
        (from, to) if first_day == last_day => format!("{first_day}, {from} to {to} UTC"),
        (from, to) => format!("{first_day}, {from} to {last_day}, {to} UTC"),
    }
}

/// A length of time.
pub(super) fn span(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms} ms"),
        1..10 => format!("{}.{} s", seconds, ms % 1_000 / 100),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Dollars; of small amounts enough digits to say something.
pub(super) fn dollars(cost: f64) -> String {
    if cost > 0.0 && cost < 0.1 { format!("${cost:.4}") } else { format!("${cost:.2}") }
}

/// What is known, or that nothing is.
pub(super) fn or_unknown(text: Option<String>) -> String {
    text.unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_and_amounts_are_short() {
        let spans = [7, 1_250, 59_000, 61_000, 3_700_000].map(span);
        assert_eq!(spans, ["7 ms", "1.2 s", "59 s", "1 min 1 s", "1 h 1 min"]);
        assert_eq!([0.0, 0.00123, 1.239].map(dollars), ["$0.00", "$0.0012", "$1.24"]);
        assert_eq!(counted(1_234, "line", "lines"), "1,234 lines");
    }

    #[test]
    fn a_period_names_its_day_once() {
        let at = |text: &str| session_core::parse_time(text).expect("it is well formed");
        let first = at("2026-01-02T03:04:05Z");
        assert_eq!(period(&first, &at("2026-01-02T05:04:05Z")), "2 January 2026, 03:04 to 05:04 UTC");
        assert_eq!(period(&first, &at("2026-01-02T03:04:50Z")), "2 January 2026, 03:04 UTC");
        assert_eq!(period(&first, &at("2026-01-03T03:04:50Z")), "2 January 2026, 03:04 to 3 January 2026, 03:04 UTC");
    }
}
