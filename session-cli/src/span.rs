//! Durations and dates, as flags take them.

use chrono::{DateTime, Local, NaiveDate, NaiveTime, TimeZone as _, Utc};
use std::time::Duration;

/// `90s`, `2h`, `3d`, `1h 30m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error}; write it like 90s, 2h or 3d"))
}

/// A point in time: a duration back from now (`2h`, `3d`), a date in the local zone (`2026-11-01`), or RFC 3339.
pub(crate) fn instant(text: &str) -> Result<DateTime<Utc>, String> {
    if let Some(ts) = session_core::parse_time(text) {
        return Ok(ts.with_timezone(&Utc));
    }
    if let Ok(date) = text.parse::<NaiveDate>() {
        let midnight = Local.from_local_datetime(&date.and_time(NaiveTime::MIN)).earliest();
        return midnight
            .map(|ts| ts.with_timezone(&Utc))
            .ok_or_else(|| format!("{text} has no midnight in the local zone"));
    }
    let back = chrono::TimeDelta::from_std(duration(text).map_err(|_| wrong(text))?).map_err(|_| wrong(text))?;
    Utc::now().checked_sub_signed(back).ok_or_else(|| wrong(text))
}

fn wrong(text: &str) -> String {
    format!("{text:?} is no time; write it like 2h, 3d, 2026-11-01 or 2026-11-01T08:00:00Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_read_and_others_refused() {
        let ago = Utc::now() - instant("2h").expect("two hours back");
        assert!((7_190..7_210).contains(&ago.num_seconds()));
        assert!(instant("2026-11-01").is_ok() && instant("2026-11-01T08:00:00Z").is_ok());
        for text in ["", "30", "-1", "yesterday", "2026-13-01"] {
            assert!(instant(text).is_err(), "{text}");
        }
    }
}
