//! A JSON value that keeps the order of its members and the digits of its numbers.
//!
//! Arguments of a call go on as text, and a model wrote them in an order; `serde_json`'s tree would sort them.

use crate::json::{Cursor, Malformed, Shape};

/// What is nested deeper is kept as text: no format has it, and reading it must not cost the stack.
const MAX_DEPTH: u32 = 100;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Json {
    #[default]
    Null,
    Bool(bool),
    /// A number, or a value that is nested too deep to be looked into: its JSON text.
    Raw(Box<str>),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// What a member that is not there is.
static NULL: Json = Json::Null;

impl Json {
    /// Reads one value and stops behind it.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Json, Malformed> {
        read(cursor, 0)
    }

    /// Reads a text that is one value and nothing else.
    pub(super) fn parse(text: &str) -> Option<Json> {
        let mut cursor = Cursor::new(text.as_bytes());
        let value = Json::read(&mut cursor).ok()?;
        cursor.end().ok().map(|()| value)
    }

    /// A member of an object, the last of its name; null where there is none.
    pub(super) fn get(&self, name: &str) -> &Json {
        let member = self.members().iter().rev().find(|(key, _)| key == name);
        member.map_or(&NULL, |(_, value)| value)
    }

    /// A member of a member.
    pub(super) fn at(&self, path: &[&str]) -> &Json {
        path.iter().fold(self, |value, name| value.get(name))
    }

    pub(super) fn members(&self) -> &[(String, Json)] {
        if let Json::Object(members) = self { members } else { &[] }
    }

    pub(super) fn list(&self) -> &[Json] {
        if let Json::List(list) = self { list } else { &[] }
    }

    /// The text of a string; empty for everything else.
    pub(super) fn text(&self) -> &str {
        if let Json::Text(text) = self { text } else { "" }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Json::Null
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self, Json::Object(_))
    }

    pub(super) fn is_true(&self) -> bool {
        *self == Json::Bool(true)
    }

    pub(super) fn integer(&self) -> Option<i64> {
        if let Json::Raw(text) = self { text.parse().ok() } else { None }
    }

    pub(super) fn count(&self) -> Option<u64> {
        self.integer().and_then(|number| u64::try_from(number).ok())
    }

    pub(super) fn number(&self) -> Option<f64> {
        let Json::Raw(text) = self else { return None };
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The value as JSON without white space, everything outside of ASCII as it is.
    pub(super) fn to_text(&self) -> String {
        let mut out = String::new();
        self.push(&mut out);
        out
    }

    /// The same value for those who keep `serde_json`'s.
    pub(super) fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.to_text()).unwrap_or_default()
    }

    fn push(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Raw(text) => out.push_str(text),
            Json::Text(text) => push_text(out, text),
            Json::List(list) => {
                out.push('[');
                for (at, value) in list.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    value.push(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    push_text(out, name);
                    out.push(':');
                    value.push(out);
                }
                out.push('}');
            }
        }
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

fn read(cursor: &mut Cursor<'_>, depth: u32) -> Result<Json, Malformed> {
    let shape = cursor.shape()?;
    let raw = |cursor: &mut Cursor<'_>| {
        let span = cursor.skip()?;
        let text = crate::json::without_lone_surrogates(&cursor.text_of(span));
        Ok(Json::Raw(text.into()))
    };
    Ok(match shape {
        Shape::Null => cursor.skip().map(|_| Json::Null)?,
        Shape::Bool => Json::Bool(cursor.bool()?),
        Shape::Number => return raw(cursor),
        Shape::Array | Shape::Object if depth == MAX_DEPTH => return raw(cursor),
        Shape::String => Json::Text(cursor.string()?.into_owned()),
        Shape::Array => {
            let mut list = Vec::new();
            cursor.array(|cursor| {
                list.push(read(cursor, depth + 1)?);
                Ok(())
            })?;
            Json::List(list)
        }
        Shape::Object => {
            let mut members = Vec::new();
            cursor.object(|cursor, key| {
                members.push((key.into_owned(), read(cursor, depth + 1)?));
                Ok(())
            })?;
            Json::Object(members)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> String {
        Json::parse(text).expect("it is JSON").to_text()
    }

    #[test]
    fn order_digits_and_letters_stay() {
        let text = r#"{"b":1.50,"a":[9e-06,null,true,"é <&> \n"],"":{}}"#;
        assert_eq!(again(text), text);
        assert_eq!(again(" [ 1 , { \"z\" : \"\\u00e9\" } ] "), r#"[1,{"z":"é"}]"#);
    }

    #[test]
    fn what_is_nested_deep_stays_as_text() {
        let text = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(again(&text), text);
    }

    #[test]
    fn half_a_pair_is_replaced_and_the_last_of_a_name_wins() {
        assert_eq!(again(r#""\ud83d""#), "\"\u{fffd}\"");
        assert_eq!(Json::parse(r#"{"a":1,"a":"x"}"#).expect("it is JSON").get("a").text(), "x");
        assert_eq!(Json::parse("{}{}"), None);
    }
}
