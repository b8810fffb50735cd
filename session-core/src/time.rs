//! Times as the format writes them: RFC 3339, up to nanoseconds, trailing zeros of the fraction dropped.

use chrono::{DateTime, Datelike as _, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike as _};

/// A point in time with the offset it was written with.
pub type Timestamp = DateTime<FixedOffset>;

/// Reads a time in the form that the reference accepts: `YYYY-MM-DDThh:mm:ss[.fraction](Z|±hh:mm)`, capital letters,
/// no leap second. Digits of the fraction beyond nanoseconds are dropped.
///
/// ```
/// let ts = session_core::parse_time("2026-09-03T08:15:01.5+05:30").expect("it is well formed");
/// assert_eq!(session_core::format_time(&ts), "2026-09-03T08:15:01.5+05:30");
/// assert_eq!(session_core::parse_time("2026-09-03 08:15:01Z"), None);
/// ```
pub fn parse_time(text: &str) -> Option<Timestamp> {
    let Written { year, month, day, hour, minute, second, nanos, offset_seconds } = Written::read(text.as_bytes())?;
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    let local = NaiveDateTime::new(date, NaiveTime::from_hms_nano_opt(hour, minute, second, nanos)?);
    local.and_local_timezone(FixedOffset::east_opt(offset_seconds)?).single()
}

/// Whether a time stands here that [`parse_time`] would read.
pub(crate) fn is_time(text: &[u8]) -> bool {
    Written::read(text).is_some()
}

/// The numbers of a time, each in its range.
struct Written {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanos: u32,
    offset_seconds: i32,
}

impl Written {
    fn read(text: &[u8]) -> Option<Self> {
        let (head, rest) = text.split_first_chunk::<19>()?;
        let pair = |at: usize| pair(head[at], head[at + 1]);
        if [head[4], head[7], head[10], head[13], head[16]] != *b"--T::" {
            return None;
        }
        let (year, month, day) = (pair(0)? * 100 + pair(2)?, pair(5)?, pair(8)?);
        let (hour, minute, second) = (pair(11)?, pair(14)?, pair(17)?);
        let (nanos, rest) = fraction(rest)?;
        let offset_seconds = offset_seconds(rest)?;
        let right = (1..=12).contains(&month) && day >= 1 && day <= days_of(year, month);
        (right && hour < 24 && minute < 60 && second < 60).then_some(Written {
            year,
            month,
            day,
            hour,
            minute,
            second,
            nanos,
            offset_seconds,
        })
    }
}

/// The days of a month, in the calendar that RFC 3339 counts by for all years.
fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The number that two digits write.
fn pair(tens: u8, ones: u8) -> Option<u32> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
}

/// Nanoseconds, if a fraction of a second stands here, and what follows it.
fn fraction(text: &[u8]) -> Option<(u32, &[u8])> {
    let Some(digits) = text.strip_prefix(b".") else { return Some((0, text)) };
    let (mut nanos, mut unit, mut count) = (0, 100_000_000, 0);
    while let Some(digit) = digits.get(count).filter(|digit| digit.is_ascii_digit()) {
        nanos += u32::from(digit - b'0') * unit;
        unit /= 10;
        count += 1;
    }
    (count > 0).then(|| (nanos, &digits[count..]))
}

/// How far the local time is ahead of UTC.
fn offset_seconds(text: &[u8]) -> Option<i32> {
    match *text {
        [b'Z'] => Some(0),
        [sign @ (b'+' | b'-'), h, hh, b':', m, mm] => {
            let (hours, minutes) = (pair(h, hh)?, pair(m, mm)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
            Some(if sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

/// What the reference writes where it has no time.
pub(crate) const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Whether a time is the one that the reference writes where it has none.
pub(crate) fn is_zero_time(ts: &Timestamp) -> bool {
    ts.timestamp() == -62_135_596_800 && ts.timestamp_subsec_nanos() == 0 && ts.offset().local_minus_utc() == 0
}

/// Writes a time: `Z` for no offset, else `±hh:mm`; no trailing zeros in the fraction.
///
/// The point in time is kept whatever the offset is: seconds of an offset, which RFC 3339 does not have, go to the local
/// time. A local time before the year 0 or after the year 9999, which it does not have either, becomes the nearest that
/// it has.
pub fn format_time(ts: &Timestamp) -> String {
    let mut out = Vec::with_capacity(35);
    push_time(&mut out, ts);
    String::from_utf8(out).unwrap_or_default()
}

pub(crate) fn push_time(out: &mut Vec<u8>, ts: &Timestamp) {
    let offset_minutes = ts.offset().local_minus_utc() / 60;
    let local = written_local(ts, offset_minutes);
    let mut digits = |n: u32, width: u32| {
        for place in (0..width).rev() {
            out.push(b'0' + u8::try_from(n / 10_u32.pow(place) % 10).unwrap_or(0));
        }
    };
    digits(local.year().unsigned_abs(), 4);
    let parts = [
        (b'-', local.month()),
        (b'-', local.day()),
        (b'T', local.hour()),
        (b':', local.minute()),
        (b':', local.second()),
    ];
    for (mark, n) in parts {
        out.push(mark);
        out.extend_from_slice(&[b'0' + u8::try_from(n / 10).unwrap_or(0), b'0' + u8::try_from(n % 10).unwrap_or(0)]);
    }
    let nanos = local.nanosecond().min(999_999_999);
    if nanos != 0 {
        out.extend_from_slice(format!(".{nanos:09}").trim_end_matches('0').as_bytes());
    }
    match offset_minutes {
        0 => out.push(b'Z'),
        minutes => {
            let sign = if minutes < 0 { '-' } else { '+' };
            let minutes = minutes.abs();
            out.extend_from_slice(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60).as_bytes());
        }
    }
}

/// The local time that stands before an offset of whole minutes, inside the years that can be written.
fn written_local(ts: &Timestamp, offset_minutes: i32) -> NaiveDateTime {
    let utc = ts.naive_utc();
    let local = utc.checked_add_signed(TimeDelta::minutes(i64::from(offset_minutes))).unwrap_or(utc);
    match local.year() {
        ..0 => NaiveDate::from_ymd_opt(0, 1, 1).and_then(|day| day.and_hms_opt(0, 0, 0)).unwrap_or(local),
        0..=9999 => local,
        10_000.. => NaiveDate::from_ymd_opt(9999, 12, 31).and_then(|day| day.and_hms_opt(23, 59, 59)).unwrap_or(local),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_reference_accepts_comes_back_as_it_would_write_it() {
        for (text, again) in [
            ("2026-09-03T08:15:01Z", "2026-09-03T08:15:01Z"),
            ("2026-09-03T08:15:01.120Z", "2026-09-03T08:15:01.12Z"),
            ("2026-09-03T08:15:01.1234567891Z", "2026-09-03T08:15:01.123456789Z"),
            ("2026-09-03T08:15:01.000Z", "2026-09-03T08:15:01Z"),
            ("2026-09-03T08:15:01-00:00", "2026-09-03T08:15:01Z"),
            ("2026-09-03T08:15:01.25-11:00", "2026-09-03T08:15:01.25-11:00"),
            ("0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00+01:00"),
            ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
        ] {
            let ts = parse_time(text).unwrap_or_else(|| panic!("{text} is a time"));
            assert_eq!(format_time(&ts), again);
        }
    }

    #[test]
    fn what_the_reference_refuses_is_refused() {
        for text in [
            "",
            "2026-09-03",
            "2026-09-03 08:15:01Z",
            "2026-09-03t08:15:01Z",
            "2026-09-03T08:15:01z",
            "2026-09-03T08:15:01",
            "2026-06-30T23:59:60Z",
            "2026-09-03T08:15:01+0200",
            "2026-09-03T08:15Z",
            "12026-09-03T08:15:01Z",
            "2026-09-03T08:15:01.Z",
            "2026-02-30T08:15:01Z",
            "2026-09-03T24:15:01Z",
            "2026-09-03T08:15:01+24:00",
            "2026-09-03T08:15:01Zx",
            "2026-09-03T08:15:é1Z",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn a_month_has_the_days_that_the_calendar_gives_it() {
        for (year, month) in (0..=2400).flat_map(|year| (0..=13).map(move |month| (year, month))) {
            for day in [0, 1, 28, 29, 30, 31, 32] {
                let text = format!("{year:04}-{month:02}-{day:02}T00:00:00Z");
                let exists = NaiveDate::from_ymd_opt(year, month, day).is_some();
                assert_eq!((is_time(text.as_bytes()), parse_time(&text).is_some()), (exists, exists), "{text}");
            }
        }
    }

    #[test]
    fn every_time_is_written_as_one_that_can_be_read() {
        let of = |utc: DateTime<chrono::Utc>, east: i32| {
            utc.with_timezone(&FixedOffset::east_opt(east).unwrap_or_else(|| panic!("{east} is an offset")))
        };
        let noon = parse_time("1890-06-01T12:00:00Z").expect("it is a time").to_utc();
        for (ts, text) in [
            (of(noon, 1172), "1890-06-01T12:19:00+00:19"),
            (of(noon, -59), "1890-06-01T12:00:00Z"),
            (of(noon, -1172), "1890-06-01T11:41:00-00:19"),
            (of(DateTime::<chrono::Utc>::MAX_UTC, 0), "9999-12-31T23:59:59Z"),
            (of(DateTime::<chrono::Utc>::MIN_UTC, 0), "0000-01-01T00:00:00Z"),
            (of(DateTime::<chrono::Utc>::MAX_UTC, 86_340), "9999-12-31T23:59:59+23:59"),
        ] {
            assert_eq!(format_time(&ts), text);
            let again = parse_time(text).unwrap_or_else(|| panic!("{text} is a time"));
            assert!(ts.to_utc() != noon || again.to_utc() == noon, "{text} is the same point in time");
        }
    }
}
