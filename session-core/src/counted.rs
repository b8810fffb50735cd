//! A number and its noun, for people. Shared by our own crates, which have this rule in one place, and no part of what
//! this one promises to others.

/// A number and its noun: `1 line`, `3 lines`, `0 lines`.
///
/// ```
/// assert_eq!(session_core::counted(1, "line was", "lines were"), "1 line was");
/// assert_eq!(session_core::counted(3, "line was", "lines were"), "3 lines were");
/// ```
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", noun(number, one, many))
}

/// The word that a number takes, for who writes the number in another way.
pub fn noun<'a>(number: u64, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}
