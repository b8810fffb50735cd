//! What is looked for.

use super::required::required;
use regex::{Regex, RegexBuilder};
use session_core::search::{Anchor, Pattern, Scope};
use std::ops::Range;

/// What a search looks for, and in which texts.
///
/// A match lies in one text of one event, as it is decoded. Letters are compared as Unicode's simple case folding has
/// them, so that `é` finds `É`.
///
/// ```
/// use session_store::{Case, Form, Query, Words};
/// assert!(Query::new("three \"oaks\"", Form::Literal, Case::Smart, Words::Any).is_ok());
/// let error = Query::new("oaks(", Form::Regex, Case::Smart, Words::Any).expect_err("a group is not closed");
/// assert!(error.to_string().contains("unclosed group"));
/// ```
#[derive(Debug, Clone)]
pub struct Query {
    regex: Regex,
    anchor: Anchor,
    scope: Scope,
}

/// How a query is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// As the text itself.
    #[default]
    Literal,
    /// As a regular expression, in the syntax of the crate `regex`. `^` and `$` match at line breaks, too, and `.` does
    /// not match one.
    Regex,
}

/// Whether the case of letters counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Only if the query has an upper-case letter.
    #[default]
    Smart,
    /// No.
    Any,
    /// Yes.
    Exact,
}

/// Where matches may begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Words {
    /// Anywhere.
    #[default]
    Any,
    /// Where no part of a word precedes or follows.
    Whole,
}

/// A query that cannot be looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Nothing is looked for.
    #[error("there is nothing to look for")]
    Empty,
    /// It is no regular expression.
    #[error("{reason}")]
    Regex {
        /// What is wrong, and where: several lines, with a mark under the place.
        reason: String,
    },
    /// The regular expression takes too much memory.
    #[error("the regular expression is larger than {limit} bytes when it is compiled")]
    TooLarge {
        /// How much is allowed.
        limit: usize,
    },
}

impl Query {
    /// Looks for a text or a regular expression in all texts.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str, form: Form, case: Case, words: Words) -> Result<Self, QueryError> {
        if text.is_empty() {
            return Err(QueryError::Empty);
        }
        let (pattern, every_match_has, is_upper) = match form {
            Form::Literal => (regex::escape(text), text.to_owned(), text.chars().any(char::is_uppercase)),
            Form::Regex => {
                // By itself first, so that what is said about it is about what was written.
                compile(text, false)?;
                (text.to_owned(), required(text), names_upper_case(text))
            }
        };
        let any_case = match case {
            Case::Smart => !is_upper,
            Case::Any => true,
            Case::Exact => false,
        };
        let pattern = match words {
            Words::Any => pattern,
            Words::Whole => format!(r"\b{{start-half}}(?:{pattern})\b{{end-half}}"),
        };
        // Without letters there are no cases, and looking for bytes as they are is the faster way.
        let any_case = any_case && text.chars().any(|c| c.is_lowercase() || c.is_uppercase());
        let anchor = if any_case { Anchor::any_case(&every_match_has) } else { Anchor::exact(&every_match_has) };
        Ok(Query { regex: compile(&pattern, any_case)?, anchor, scope: Scope::default() })
    }

    /// The same in some texts only.
    #[must_use]
    pub fn within(self, scope: Scope) -> Self {
        Query { scope, ..self }
    }

    pub(super) fn scope(&self) -> &Scope {
        &self.scope
    }
}

impl Pattern for &Query {
    fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>> {
        self.regex.find_at(text, from).map(|found| found.range())
    }

    fn anchor(&self) -> &Anchor {
        &self.anchor
    }
}

fn compile(pattern: &str, any_case: bool) -> Result<Regex, QueryError> {
    RegexBuilder::new(pattern).case_insensitive(any_case).multi_line(true).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(limit) => QueryError::TooLarge { limit },
        other => QueryError::Regex { reason: other.to_string() },
    })
}

/// Whether a regular expression names an upper-case letter. `\S` and `\p{Lu}` name none.
fn names_upper_case(pattern: &str) -> bool {
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            if c.is_uppercase() {
                return true;
            }
            continue;
        }
        let digits = match rest.next() {
            Some('p' | 'P') => 1,
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => continue,
        };
        let mut braces = rest.clone();
        if braces.next() == Some('{') && braces.any(|c| c == '}') {
            rest = braces;
        } else {
            rest.by_ref().take(digits).for_each(drop);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::names_upper_case;

    #[test]
    fn classes_and_escapes_are_no_upper_case_letters() {
        for pattern in [r"oak\S\W\B\D", r"\p{Lu}+\PL\x{4F}\u004F", r"[a-z]", ""] {
            assert!(!names_upper_case(pattern), "{pattern}");
        }
        for pattern in ["Oak", r"\\Oak", r"[A-Z]", r"\p{Lu}É", r"\x{4F}O"] {
            assert!(names_upper_case(pattern), "{pattern}");
        }
    }
}
