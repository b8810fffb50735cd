//! `meta.json`: what a session is, for quick reading and for the reference.

use crate::json::{Cursor, Malformed, Shape, push_string};
use crate::members::{Member, Notes, Weight, find};
use crate::time::{ZERO_TIME, format_time, is_zero_time, parse_time};
use crate::{Fields, Timestamp};

/// A session's metadata. Everything in it is a copy; facts that must last are events in the history.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Meta {
    /// The session's name. The directory's name is the authority.
    pub name: String,
    /// When the session was created. `None` where it is not known.
    pub created: Option<Timestamp>,
    /// When it was last touched. `None` where it is not known.
    pub updated: Option<Timestamp>,
    /// The directory that it works in.
    pub workspace: String,
    /// The model that it uses.
    pub model: String,
    /// The first prompt.
    pub first_prompt: String,
    /// Its title.
    pub title: String,
    /// What its turns cost so far, in US dollars; 0 where it is not known.
    pub cost: f64,
    /// A summary of what it was compacted from.
    pub summary: String,
    /// The session that it was forked or compacted from. Not checked: see [`crate::SessionName`].
    pub parent: String,
    /// The session that goes on with it. Not checked: see [`crate::SessionName`].
    pub succeeded_by: String,
    /// Members that this version has no name for.
    pub extra: Fields,
    /// This project's own member `x`, an object.
    pub x: Fields,
}

/// Bytes that are no metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetaFault {
    /// They are not JSON.
    #[error("not JSON: {what}, {at} bytes in")]
    NotJson {
        /// The first byte that breaks the grammar.
        at: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// They are JSON, but no object.
    #[error("JSON, but not an object")]
    NotAnObject,
    /// A member has a type, or a time a form, that it cannot have.
    #[error("{field} has the wrong type")]
    WrongType {
        /// The member.
        field: &'static str,
    },
}

const KEYS: [(&str, &str); 11] = [
    ("name", "name"),
    ("created", "created"),
    ("updated", "updated"),
    ("workspace", "workspace"),
    ("model", "model"),
    ("first_prompt", "first_prompt"),
    ("title", "title"),
    ("cost", "cost"),
    ("summary", "summary"),
    ("parent", "parent"),
    ("succeeded_by", "succeeded_by"),
];

impl Meta {
    /// Reads the bytes of a `meta.json` as the reference does: names match whatever their case is, the last of several
    /// wins, null is absent (a file that is nothing but `null` is empty metadata), what is no text in a string becomes
    /// U+FFFD.
    ///
    /// # Errors
    /// What makes the bytes no metadata; nothing of them can be trusted then.
    pub fn parse(bytes: &[u8]) -> Result<Meta, MetaFault> {
        let mut cursor = Cursor::new(bytes);
        let mut meta = Meta::default();
        let mut notes = Notes::default();
        let read = meta.read(&mut cursor, &mut notes);
        match (read, notes.skipped) {
            (Err(Malformed { at, what }), _) => Err(MetaFault::NotJson { at: at as u64, what }),
            (Ok(false), _) => Err(MetaFault::NotAnObject),
            (Ok(true), Some(crate::Fault::WrongType { field })) => Err(MetaFault::WrongType { field }),
            (Ok(true), _) => Ok(meta),
        }
    }

    fn read(&mut self, cursor: &mut Cursor<'_>, notes: &mut Notes) -> Result<bool, Malformed> {
        match cursor.shape()? {
            Shape::Object => {}
            shape => {
                cursor.skip()?;
                return cursor.end().map(|()| shape == Shape::Null);
            }
        }
        cursor.object(|cursor, key| match find(&KEYS, &key) {
            Some(name) => self.member(cursor, notes, name),
            None if key == "x" && cursor.shape()? == Shape::Object => {
                self.x = Fields::new();
                cursor.object(|cursor, key| {
                    let value = cursor.skip()?;
                    self.x.push(key.into_owned(), &cursor.text_of(value));
                    Ok(())
                })
            }
            None => {
                let value = cursor.skip()?;
                self.extra.push(key.into_owned(), &cursor.text_of(value));
                Ok(())
            }
        })?;
        cursor.end().map(|()| true)
    }

    fn member(&mut self, cursor: &mut Cursor<'_>, notes: &mut Notes, name: &'static str) -> Result<(), Malformed> {
        let text = match name {
            "name" => &mut self.name,
            "workspace" => &mut self.workspace,
            "model" => &mut self.model,
            "first_prompt" => &mut self.first_prompt,
            "title" => &mut self.title,
            "summary" => &mut self.summary,
            "parent" => &mut self.parent,
            "succeeded_by" => &mut self.succeeded_by,
            "created" => return time(Member::new(cursor, notes).vital(name), &mut self.created),
            "updated" => return time(Member::new(cursor, notes).vital(name), &mut self.updated),
            _ => return price(Member::new(cursor, notes).vital(name), &mut self.cost),
        };
        Member::new(cursor, notes).vital(name).string_into(text)
    }

    /// The bytes of a `meta.json`: the reference's, to the byte, for what the reference can express; other members
    /// follow, and `x` comes last.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::from(*b"{\n  \"name\": ");
        push_string(&mut out, &self.name);
        for (name, ts) in [("created", &self.created), ("updated", &self.updated)] {
            push_name(&mut out, name);
            push_string(&mut out, &ts.as_ref().map_or_else(|| ZERO_TIME.to_owned(), format_time));
        }
        let texts = [
            ("workspace", &self.workspace),
            ("model", &self.model),
            ("first_prompt", &self.first_prompt),
            ("title", &self.title),
        ];
        texts.into_iter().for_each(|(name, text)| push_text(&mut out, name, text));
        // JSON has no infinity; a sum of prices that overflowed says nothing.
        if self.cost != 0.0 && self.cost.is_finite() {
            push_name(&mut out, "cost");
            out.extend_from_slice(price_text(self.cost).as_bytes());
        }
        let texts = [("summary", &self.summary), ("parent", &self.parent), ("succeeded_by", &self.succeeded_by)];
        texts.into_iter().for_each(|(name, text)| push_text(&mut out, name, text));
        for (name, text) in self.extra.iter() {
            push_name(&mut out, name);
            out.extend_from_slice(text.as_bytes());
        }
        if !self.x.is_empty() {
            push_name(&mut out, "x");
            out.push(b'{');
            self.x.push_members(&mut out);
            out.push(b'}');
        }
        out.extend_from_slice(b"\n}\n");
        out
    }
}

fn time(member: Member<'_, '_, '_>, to: &mut Option<Timestamp>) -> Result<(), Malformed> {
    let mut text = String::new();
    let (cursor, notes, field) = (member.cursor, member.notes, member.field);
    let is_string = cursor.shape()? == Shape::String;
    Member::new(cursor, notes).vital(field).string_into(&mut text)?;
    if is_string {
        *to = parse_time(&text);
        if to.is_none() {
            notes.wrong(Weight::Vital, field);
        }
        // The reference's zero time means that nobody knows.
        to.take_if(|ts| is_zero_time(ts));
    }
    Ok(())
}

fn price(member: Member<'_, '_, '_>, to: &mut f64) -> Result<(), Malformed> {
    match member.cursor.shape()? {
        Shape::Number => {
            let text = member.cursor.skip()?;
            let price =
                std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()).filter(|n| n.is_finite());
            match price {
                Some(price) => *to = price,
                None => member.notes.wrong(Weight::Vital, "cost"),
            }
            Ok(())
        }
        Shape::Null => member.cursor.skip().map(drop),
        _ => member.wrong_type(),
    }
}

/// The shortest text that reads back as the number, a finite one; with an exponent below 1e-6 and from 1e21 on.
fn price_text(n: f64) -> String {
    if (1e-6..1e21).contains(&n.abs()) {
        return n.to_string();
    }
    let text = format!("{n:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\n  ");
    push_string(out, name);
    out.extend_from_slice(b": ");
}

fn push_text(out: &mut Vec<u8>, name: &str, text: &str) {
    if !text.is_empty() {
        push_name(out, name);
        push_string(out, text);
    }
}
