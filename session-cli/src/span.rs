//! Durations, dates, sizes and ranges, as flags take them.

use chrono::{DateTime, Local, NaiveDate, NaiveTime, TimeZone as _, Utc};
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
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

/// A point in time that has passed: [`instant`], but not now and nothing that is to come.
pub(crate) fn past(text: &str) -> Result<DateTime<Utc>, String> {
    let time = instant(text)?;
    if Utc::now() - time < chrono::TimeDelta::seconds(1) {
        return Err(format!("{text:?} is no time that has passed; write it like 2h, 30d or 2026-11-01"));
    }
    Ok(time)
}

/// A number of bytes with its unit: `500kB`, `10MiB`, `2G`. A bare number could mean anything, and 0 says nothing.
pub(crate) fn size(text: &str) -> Result<NonZeroU64, String> {
    let wrong = || format!("{text:?} is no size; write it like 500kB, 10MiB or 2GB");
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let unit: u64 = match text[digits..].trim_start() {
        "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "k" | "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    number.checked_mul(unit).and_then(NonZeroU64::new).ok_or_else(wrong)
}

/// Numbers of events: `3..10`, with both ends, `3..` or `..10`.
pub(crate) fn events(text: &str) -> Result<RangeInclusive<u64>, String> {
    let wrong = || format!("{text:?} is no range of events; write it like 3..10, 3.. or ..10");
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    let number =
        |text: &str, missing: u64| if text.is_empty() { Ok(missing) } else { text.parse().map_err(|_| wrong()) };
    Ok(number(first, 1)?..=number(last, u64::MAX)?)
}

fn wrong(text: &str) -> String {
    format!("{text:?} is no time; write it like 2h, 3d, 2026-11-01 or 2026-11-01T08:00:00Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r01_a_size_has_a_unit_and_a_past_time_has_passed() {
        assert_eq!(size("10MiB").map(NonZeroU64::get), Ok(10 << 20));
        assert_eq!(size("500 kB").map(NonZeroU64::get), Ok(500_000));
        for text in ["", "0", "30", "-1MB", "0MB", "MB", "1.5GB", "1TB", "99999999999GB"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(past("30d").is_ok());
        for text in ["", "0", "0s", "30", "-1", "-30d", "2999-01-01"] {
            assert!(past(text).is_err(), "{text}");
        }
    }

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
