//! Values that are checked and passed over.

use super::cursor::{Cursor, Malformed, Shape};

impl<'a> Cursor<'a> {
    /// Any value, checked and passed over; its text. Nesting is counted, not recursed into.
    pub(crate) fn skip(&mut self) -> Result<&'a [u8], Malformed> {
        self.space();
        let start = self.at;
        let outer = self.depth;
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.shape()? {
                Shape::Null => self.literal(b"null")?,
                Shape::Bool => drop(self.bool()?),
                Shape::Number => self.number()?,
                Shape::String => self.skip_string()?,
                shape @ (Shape::Array | Shape::Object) => {
                    let close = if shape == Shape::Array { b']' } else { b'}' };
                    if !self.enter(close)? {
                        open.push(close);
                        self.skip_key(close)?;
                        continue;
                    }
                }
            }
            // A value is complete: close what it completes, or go on to the next one.
            loop {
                let Some(&close) = open.last() else {
                    debug_assert_eq!(self.depth, outer, "every bracket was closed");
                    return Ok(&self.bytes[start..self.at]);
                };
                if self.leave(close)? {
                    open.pop();
                } else {
                    self.skip_key(close)?;
                    break;
                }
            }
        }
    }

    /// Inside an object, a key and its colon stand before the value.
    fn skip_key(&mut self, close: u8) -> Result<(), Malformed> {
        if close == b'}' { self.key().map(drop) } else { Ok(()) }
    }

    pub(super) fn skip_string(&mut self) -> Result<(), Malformed> {
        let kept = std::mem::replace(&mut self.keep, false);
        let skipped = self.string().map(drop);
        self.keep = kept;
        skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skips(text: &str) -> bool {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.skip().and_then(|_| cursor.end()).is_ok()
    }

    #[test]
    fn skipping_accepts_json_and_nothing_else() {
        for good in
            ["null", " true ", "[]", "{}", "[1,2]", r#"{"a":[{"b":null}],"c":-0.5e+3}"#, r#""\u00e9\n""#, "[[],[{}]]"]
        {
            assert!(skips(good), "{good}");
        }
        for bad in [
            "", "nul", "[1,]", "{,}", "{\"a\"}", "{\"a\":}", "[1 2]", "01", "1.", "+1", ".5", "1e", "NaN", "\"\\x\"",
            "\"a", "[}", "{]", "1 2", "'a'", "\"\t\"",
        ] {
            assert!(!skips(bad), "{bad}");
        }
    }

    #[test]
    fn nesting_is_bounded_at_ten_thousand() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(skips(&nested(10_000)));
        assert!(!skips(&nested(10_001)));
    }
}
