//! From a text that somebody gave to the name of a file.

use session_core::SessionName;

/// How much of the text is kept.
const KEPT: usize = 48;

/// A name that reminds of a text: letters, digits, `_`, `.` and `-` of ASCII, everything else is a dash. It is one
/// component of a path, is not hidden and leads nowhere. `otherwise` is used for a text that leaves nothing.
pub(crate) fn from_hint(hint: &str, otherwise: &str) -> SessionName {
    let mut name = String::new();
    for c in hint.chars() {
        let c = if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' };
        if c != '-' || !name.ends_with('-') {
            name.push(c);
        }
        if name.len() >= KEPT + 8 {
            break;
        }
    }
    let name = name.trim_start_matches(['.', '-']);
    let name = name[..name.len().min(KEPT)].trim_end_matches(['.', '-']);
    SessionName::new(name)
        .or_else(|_| SessionName::new(otherwise))
        .expect("the other name is a constant of this crate's, and a good one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_becomes_one_component_that_leads_nowhere() {
        let names = [
            ("shell", "shell"),
            ("cargo test --all", "cargo-test-all"),
            ("../../etc/passwd", "etc-passwd"),
            ("/abs", "abs"),
            (".hidden", "hidden"),
            ("-rf", "rf"),
            ("a\0b\nc", "a-b-c"),
            ("...", "output"),
            ("", "output"),
            ("木木", "output"),
            ("x.", "x"),
        ];
        for (hint, name) in names {
            assert_eq!(from_hint(hint, "output").as_str(), name, "{hint:?}");
        }
        assert_eq!(from_hint(&"a-".repeat(500), "output").as_str(), "a-".repeat(24).trim_end_matches('-'));
    }
}
