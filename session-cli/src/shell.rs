//! Commands as a person can paste them into a shell.

/// A word as a shell would need it.
pub(crate) fn quoted(word: &str) -> String {
    // A word with `=` may be taken for a variable.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
