//! Which time is counted.

use crate::Timestamp;
use chrono::NaiveDate;

/// Which time is counted, and how it is cut into days. What has no time counts only where neither bound is set.
#[derive(Clone, Copy)]
pub struct Period<'a> {
    /// The day that a time belongs to.
    pub day_of: &'a dyn Fn(&Timestamp) -> NaiveDate,
    /// The first moment that counts; `None` where there is no such bound.
    pub from: Option<Timestamp>,
    /// The last moment that counts, itself included; `None` where there is no such bound.
    pub upto: Option<Timestamp>,
}

impl Period<'_> {
    /// All time, in days of each time's own zone.
    pub const ALL: Period<'static> = Period { day_of: &|ts| ts.date_naive(), from: None, upto: None };

    /// Whether a time is in it. What has no time is only in all time.
    pub(super) fn has(&self, ts: Option<Timestamp>) -> bool {
        match ts {
            Some(ts) => self.from.is_none_or(|from| from <= ts) && self.upto.is_none_or(|upto| ts <= upto),
            None => self.from.is_none() && self.upto.is_none(),
        }
    }
}
