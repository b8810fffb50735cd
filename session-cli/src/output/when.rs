//! Times for people and for machines.

use chrono::{DateTime, Local, TimeDelta, Utc};
use session_core::{Timestamp, format_time};

/// RFC 3339 in UTC.
pub(crate) fn machine(ts: &Timestamp) -> String {
    format_time(&ts.with_timezone(&Utc).fixed_offset())
}

/// A time for a person, in the local zone.
pub(crate) fn local(ts: &Timestamp) -> String {
    ts.with_timezone(&Local).format("%Y-%m-%d %H:%M:%S").to_string()
}

/// How long ago, for a person: `now`, `5m ago`, `3h ago`, `2d ago`, and the date beyond 30 days or in the future.
pub(crate) fn relative(ts: &Timestamp, now: DateTime<Utc>) -> String {
    let seconds = now.signed_duration_since(ts).num_seconds();
    match seconds {
        ..-60 => ts.with_timezone(&Local).format("%Y-%m-%d").to_string(),
        -60..60 => "now".to_owned(),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        86_400..2_592_000 => format!("{}d ago", seconds / 86_400),
        _ => ts.with_timezone(&Local).format("%Y-%m-%d").to_string(),
    }
}

/// A length of time for a person: `5s`, `3m`, `2h`, `4d`.
pub(crate) fn span(span: TimeDelta) -> String {
    match span.num_seconds().max(0) {
        seconds @ ..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m", seconds / 60),
        seconds @ 3_600..86_400 => format!("{}h", seconds / 3_600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// How long until then, for a person: `in 20s`, `in 5m`, `in 3h`, `in 2d`; `over` for what is past.
pub(crate) fn ahead(ts: &Timestamp, now: DateTime<Utc>) -> String {
    let seconds = ts.signed_duration_since(now).num_seconds();
    match seconds {
        ..=0 => "over".to_owned(),
        1..60 => format!("in {seconds}s"),
        60..3_600 => format!("in {}m", seconds / 60),
        3_600..86_400 => format!("in {}h", seconds / 3_600),
        _ => format!("in {}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_reads_how_long_ago() {
        let now = Utc::now();
        let ago = |seconds| relative(&(now - TimeDelta::seconds(seconds)).fixed_offset(), now);
        assert_eq!([ago(5), ago(61), ago(7_300), ago(200_000)], ["now", "1m ago", "2h ago", "2d ago"]);
        assert_eq!(ago(40 * 86_400).len(), "2026-01-02".len());
        let long = |seconds| span(TimeDelta::seconds(seconds));
        assert_eq!([long(-5), long(59), long(60), long(7_300), long(200_000)], ["0s", "59s", "1m", "2h", "2d"]);
        let ahead = |seconds| ahead(&(now + TimeDelta::seconds(seconds)).fixed_offset(), now);
        assert_eq!([ahead(-5), ahead(20), ahead(301), ahead(200_000)], ["over", "in 20s", "in 5m", "in 2d"]);
    }
}
