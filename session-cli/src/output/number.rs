//! Numbers for people.

/// A whole number, its digits in threes.
pub(crate) fn number(n: u64) -> String {
    indicatif::HumanCount(n).to_string()
}

/// A number and its noun.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {many}", number(n)) }
}
