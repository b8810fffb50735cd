//! Where the strings of a JSON text stand.

use super::cursor::{Cursor, Malformed, Shape};
use std::ops::Range;

/// A string of a JSON text: a name of a member, or a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StringSpan {
    /// The bytes between the quotes, as they are written.
    pub inside: Range<usize>,
    /// What the value is called: the name of the innermost member around it, as its bytes between the quotes. `None`
    /// for a name, and for a value that no object holds.
    pub member: Option<Range<usize>>,
    /// Whether it is itself the name of a member.
    pub is_name: bool,
}

/// The strings of a JSON text, in the order of the text; `None` if it is no JSON.
///
/// ```
/// let text = br#"{"role":"user","parts":["plant","three \"oaks\""]}"#;
/// let strings = session_core::json::strings(text).expect("it is JSON");
/// let of = |range: &std::ops::Range<usize>| std::str::from_utf8(&text[range.clone()]).expect("it is text");
/// let last = strings.last().expect("there are some");
/// assert_eq!(of(&last.inside), r#"three \"oaks\""#);
/// assert_eq!(last.member.as_ref().map(of), Some("parts"));
/// ```
pub fn strings(text: &[u8]) -> Option<Vec<StringSpan>> {
    let mut walk = Walk { cursor: Cursor::new(text).without_bodies(), spans: Vec::new(), open: Vec::new() };
    walk.value().and_then(|()| walk.cursor.end()).ok()?;
    Some(walk.spans)
}

struct Walk<'a> {
    cursor: Cursor<'a>,
    spans: Vec<StringSpan>,
    /// The containers around the place, each with its closing bracket and the name that its values go by.
    open: Vec<(u8, Option<Range<usize>>)>,
}

impl Walk<'_> {
    /// Any value. Nesting is counted, not recursed into.
    fn value(&mut self) -> Result<(), Malformed> {
        loop {
            match self.cursor.shape()? {
                Shape::String => self.string()?,
                shape @ (Shape::Array | Shape::Object) => {
                    let close = if shape == Shape::Array { b']' } else { b'}' };
                    let member = self.member();
                    if !self.cursor.enter(close)? {
                        self.open.push((close, member));
                        self.name()?;
                        continue;
                    }
                }
                Shape::Null | Shape::Bool | Shape::Number => drop(self.cursor.skip()?),
            }
            // A value is complete: close what it completes, or go on to the next one.
            loop {
                let Some(&(close, _)) = self.open.last() else { return Ok(()) };
                if !self.cursor.leave(close)? {
                    self.name()?;
                    break;
                }
                self.open.pop();
            }
        }
    }

    fn member(&self) -> Option<Range<usize>> {
        self.open.last().and_then(|(_, member)| member.clone())
    }

    fn string(&mut self) -> Result<(), Malformed> {
        let member = self.member();
        let inside = self.cursor.skip()?.len();
        let end = self.cursor.at - 1;
        self.spans.push(StringSpan { inside: end + 2 - inside..end, member, is_name: false });
        Ok(())
    }

    /// Inside an object, a name and its colon stand before the value.
    fn name(&mut self) -> Result<(), Malformed> {
        if let Some((b'}', member)) = self.open.last_mut() {
            let inside = self.cursor.name()?;
            *member = Some(inside.clone());
            self.spans.push(StringSpan { inside, member: None, is_name: true });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<Vec<String>> {
        let told = strings(text.as_bytes())?.into_iter().map(|span| {
            let member = span.member.map_or("-", |member| &text[member]);
            let inside = &text[span.inside];
            if span.is_name { format!("{inside}:") } else { format!("{member}={inside}") }
        });
        Some(told.collect())
    }

    #[test]
    fn every_string_is_told_with_the_name_it_goes_by() {
        assert_eq!(told(r#""a\"b""#), Some(vec![r#"-=a\"b"#.into()]));
        assert_eq!(
            told(r#" { "a" : "1" , "b" : [ "2", {"c":{"d":"3"}}, ["4", []], "5" ], "e":{}, "f": null, "g":"" } "#),
            Some(
                ["a:", "a=1", "b:", "b=2", "c:", "d:", "d=3", "b=4", "b=5", "e:", "f:", "g:", "g="]
                    .map(String::from)
                    .to_vec()
            )
        );
    }

    #[test]
    fn what_is_no_json_has_no_strings() {
        for text in ["", "{", r#"{"a":"1""#, r#"{"a" "1"}"#, r#"["a",]"#, r#""a" "b""#, r#"["a}"#] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = |n: usize| format!("{}\"x\"{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(told(&deep(10_000)), Some(vec!["-=x".into()]));
        assert_eq!(told(&deep(10_001)), None);
    }
}
