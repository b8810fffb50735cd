//! The name of a session: the one type that every path is built from.

use std::fmt;
use std::str::FromStr;

/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 128;

/// A session's name, which is its directory's name: 1 to 128 bytes of UTF-8 without `/`, `\`, NUL or other control
/// characters, not starting with `.` or `-`, not ending in a space or a dot.
///
/// A value of this type is safe to join to the store's directory: it is one component, is not hidden, cannot be taken
/// for an option, and cannot lead anywhere else. Names that come from a file (`parent`, `succeeded_by`) go through it
/// like those that a person types.
///
/// ```
/// use session_core::SessionName;
/// assert!(SessionName::new("2026-01-02-abc123").is_ok());
/// assert!(SessionName::new("../../etc").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionName(String);

impl SessionName {
    /// Checks a name.
    ///
    /// # Errors
    /// The rule that the name breaks.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        let name = name.into();
        let rule = match name.as_bytes() {
            [] => Some(NameRule::Empty),
            bytes if bytes.len() > MAX_NAME_BYTES => Some(NameRule::TooLong),
            [b'.', ..] => Some(NameRule::LeadingDot),
            [b'-', ..] => Some(NameRule::LeadingDash),
            [.., b' ' | b'.'] => Some(NameRule::TrailingSpaceOrDot),
            _ if name.contains(['/', '\\']) => Some(NameRule::Separator),
            _ if name.chars().any(char::is_control) => Some(NameRule::Control),
            _ => None,
        };
        match rule {
            Some(rule) => Err(NameError { name, rule }),
            None => Ok(SessionName(name)),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for SessionName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl AsRef<std::path::Path> for SessionName {
    fn as_ref(&self) -> &std::path::Path {
        self.0.as_ref()
    }
}

impl FromStr for SessionName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        SessionName::new(name)
    }
}

/// A text that is no session name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no session name: {rule}")]
pub struct NameError {
    /// The text.
    pub name: String,
    /// The rule that it breaks.
    pub rule: NameRule,
}

/// The rules of a session name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameRule {
    /// It must not be empty.
    Empty,
    /// It has at most [`MAX_NAME_BYTES`] bytes.
    TooLong,
    /// It does not start with a dot.
    LeadingDot,
    /// It does not start with a dash.
    LeadingDash,
    /// It does not end in a space or a dot.
    TrailingSpaceOrDot,
    /// It has no slash or backslash.
    Separator,
    /// It has no control character.
    Control,
}

impl fmt::Display for NameRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameRule::Empty => "it is empty",
            NameRule::TooLong => "it is longer than 128 bytes",
            NameRule::LeadingDot => "it starts with a dot",
            NameRule::LeadingDash => "it starts with a dash",
            NameRule::TrailingSpaceOrDot => "it ends in a space or a dot",
            NameRule::Separator => "it has a slash or a backslash in it",
            NameRule::Control => "it has a control character in it",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i18_each_rule_refuses_its_own_names() {
        for (name, rule) in [
            ("", NameRule::Empty),
            (&"x".repeat(129), NameRule::TooLong),
            (&"木".repeat(43), NameRule::TooLong),
            (".", NameRule::LeadingDot),
            ("..", NameRule::LeadingDot),
            (".hidden", NameRule::LeadingDot),
            ("../x", NameRule::LeadingDot),
            ("-rf", NameRule::LeadingDash),
            ("demo ", NameRule::TrailingSpaceOrDot),
            ("demo.", NameRule::TrailingSpaceOrDot),
            ("a/b", NameRule::Separator),
            ("/etc", NameRule::Separator),
            ("a\\b", NameRule::Separator),
            ("a\0b", NameRule::Control),
            ("a\nb", NameRule::Control),
            ("a\u{85}b", NameRule::Control),
        ] {
            assert_eq!(SessionName::new(name), Err(NameError { name: name.to_owned(), rule }), "{name:?}");
        }
    }

    #[test]
    fn ordinary_names_are_kept_as_they_are() {
        for name in ["a", "demo", "2026-01-02-abc123", "日本語", "a b", "~", "CON", "x.jsonl", &"x".repeat(128)] {
            assert_eq!(SessionName::new(name).map(|name| name.to_string()), Ok(name.to_owned()));
        }
    }

    #[test]
    fn each_rule_is_told_in_its_own_words() {
        let rules = [
            (NameRule::Empty, "it is empty"),
            (NameRule::TooLong, "it is longer than 128 bytes"),
            (NameRule::LeadingDot, "it starts with a dot"),
            (NameRule::LeadingDash, "it starts with a dash"),
            (NameRule::TrailingSpaceOrDot, "it ends in a space or a dot"),
            (NameRule::Separator, "it has a slash or a backslash in it"),
            (NameRule::Control, "it has a control character in it"),
        ];
        for (rule, said) in rules {
            let error = NameError { name: "oak\n".into(), rule };
            assert_eq!(error.to_string(), format!("\"oak\\n\" is no session name: {said}"));
        }
    }

    #[test]
    fn a_name_is_a_text_and_one_part_of_a_path() {
        let name = SessionName::new("oaks").expect("it is one");
        assert_eq!((name.as_str(), AsRef::<str>::as_ref(&name)), ("oaks", "oaks"));
        assert_eq!(std::path::Path::new("store").join(&name), std::path::Path::new("store/oaks"));
        assert_eq!("oaks".parse(), Ok(name));
    }
}
