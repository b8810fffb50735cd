//! Slow families: more of the same on demand.

/// Whether the slow families are to run in full: `SESSION_LONG_TESTS` is set, as `cargo xtask test --long` sets it.
pub fn is_long() -> bool {
    std::env::var_os("SESSION_LONG_TESTS").is_some()
}

/// How much of a family is tried: so much usually, so much where the slow families run in full.
pub fn usually<T>(usually: T, long: T) -> T {
    if is_long() { long } else { usually }
}
