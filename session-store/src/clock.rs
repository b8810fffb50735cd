//! What time it is.

use chrono::{Local, Utc};
use session_core::Timestamp;
use std::fmt;
use std::sync::Arc;

/// Where the store takes the time from: the system, or what a test says.
#[derive(Clone)]
pub(crate) struct Clock(Option<Arc<dyn Fn() -> Timestamp + Send + Sync>>);

impl Clock {
    pub(crate) const SYSTEM: Clock = Clock(None);

    pub(crate) fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Clock(Some(Arc::new(now)))
    }

    /// Now, in the local time zone.
    pub(crate) fn local(&self) -> Timestamp {
        self.0.as_ref().map_or_else(|| Local::now().fixed_offset(), |now| now())
    }

    /// Now, as every stored time is: UTC.
    pub(crate) fn utc(&self) -> Timestamp {
        self.local().with_timezone(&Utc).fixed_offset()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Clock(injected)" } else { "Clock(system)" })
    }
}
