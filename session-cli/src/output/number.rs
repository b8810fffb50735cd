//! Numbers for people.

/// A whole number, its digits in threes.
pub(crate) fn number(n: u64) -> String {
    indicatif::HumanCount(n).to_string()
}

/// A number and its noun.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), session_core::noun(n, one, many))
}
