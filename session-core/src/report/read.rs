//! A report from the arguments of its call.

use super::{Block, Choice, Report};
use crate::Fields;
use crate::json::{Cursor, Malformed, Shape};
use crate::members::{Member, Notes, find, record};

impl Report {
    /// Reads the arguments of a report call and normalizes what they say. `None` where they are not JSON, a member has
    /// a type that it cannot have, or there is neither a headline nor a block.
    pub fn from_arguments(arguments: &str) -> Option<Report> {
        let mut cursor = Cursor::new(arguments.as_bytes());
        let mut report = Report::default();
        let right = read(&mut cursor, &mut report).and_then(|right| cursor.end().map(|()| right));
        let says_something =
            !report.headline.is_empty() || report.blocks.as_ref().is_some_and(|blocks| !blocks.is_empty());
        (right == Ok(true) && says_something).then(|| {
            report.normalize();
            report
        })
    }
}

fn member<'c, 'a, 'n>(cursor: &'c mut Cursor<'a>, notes: &'n mut Notes) -> Member<'c, 'a, 'n> {
    Member::new(cursor, notes).vital("report")
}

fn read(cursor: &mut Cursor<'_>, to: &mut Report) -> Result<bool, Malformed> {
    const KEYS: [(&str, u8); 3] = [("task_status", 0), ("headline", 1), ("blocks", 2)];
    let Report { task_status, headline, blocks } = to;
    record(cursor, &mut Fields::new(), |cursor, notes, key| {
        Some(match find(&KEYS, key)? {
            0 => member(cursor, notes).string_into(task_status),
            1 => member(cursor, notes).string_into(headline),
            _ => match cursor.shape() {
                Ok(Shape::Null) => {
                    *blocks = None;
                    cursor.skip().map(drop)
                }
                _ => member(cursor, notes).list_into(blocks.get_or_insert_default(), block),
            },
        })
    })
}

fn block(cursor: &mut Cursor<'_>, to: &mut Block) -> Result<bool, Malformed> {
    const KEYS: [(&str, u8); 7] =
        [("type", 0), ("id", 1), ("summary", 2), ("status", 3), ("details", 4), ("related_files", 5), ("options", 6)];
    record(cursor, &mut Fields::new(), |cursor, notes, key| {
        let name = find(&KEYS, key)?;
        let member = member(cursor, notes);
        Some(match name {
            0 => member.string_into(&mut to.block_type),
            1 => member.string_into(&mut to.id),
            2 => member.string_into(&mut to.summary),
            3 => member.string_into(&mut to.status),
            4 => member.string_into(&mut to.details),
            5 => member.list_into(&mut to.related_files, text),
            _ => member.list_into(&mut to.options, choice),
        })
    })
}

fn choice(cursor: &mut Cursor<'_>, to: &mut Choice) -> Result<bool, Malformed> {
    const KEYS: [(&str, u8); 6] =
        [("id", 0), ("label", 1), ("description", 2), ("preview", 3), ("effect", 4), ("instruction", 5)];
    record(cursor, &mut Fields::new(), |cursor, notes, key| {
        let to = match find(&KEYS, key)? {
            0 => &mut to.id,
            1 => &mut to.label,
            2 => &mut to.description,
            3 => &mut to.preview,
            4 => &mut to.effect,
            _ => &mut to.instruction,
        };
        Some(member(cursor, notes).string_into(to))
    })
}

fn text(cursor: &mut Cursor<'_>, to: &mut String) -> Result<bool, Malformed> {
    match cursor.shape()? {
        Shape::String => cursor.string().map(|text| {
            *to = text.into_owned();
            true
        }),
        shape => cursor.skip().map(|_| shape == Shape::Null),
    }
}
