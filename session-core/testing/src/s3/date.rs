//! Times as S3 writes them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_SECONDS: u64 = 86_400;

/// Year, month from 1, day from 1, and the seconds of the day.
fn parts(time: SystemTime) -> (u64, usize, u64, u64) {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let mut days = seconds / DAY_SECONDS;
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month + 1, days + 1, seconds % DAY_SECONDS)
}

fn clock(seconds: u64) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// As documents have it.
pub(super) fn in_document(time: SystemTime) -> String {
    let (year, month, day, seconds) = parts(time);
    format!("{year}-{month:02}-{day:02}T{}.000Z", clock(seconds))
}

/// As headers have it; the day of the week may be left out.
pub(super) fn in_header(time: SystemTime) -> String {
    let (year, month, day, seconds) = parts(time);
    format!("{day:02} {} {year} {} GMT", MONTHS[month - 1], clock(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_it_is() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(in_document(at(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(in_document(at(951_782_400 + 3_661)), "2000-02-29T01:01:01.000Z");
        assert_eq!(in_document(at(1_767_225_599)), "2025-12-31T23:59:59.000Z");
        assert_eq!(in_header(at(1_767_225_600)), "01 Jan 2026 00:00:00 GMT");
    }
}
