//! The time and the boot, as the system tells them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970.
pub(crate) fn now_ns() -> i64 {
    let ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    now_ns() / 1_000_000
}

/// A number that is another one after each boot; zero where the system has none.
pub(crate) fn boot_id() -> u128 {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).unwrap_or(0)
}
