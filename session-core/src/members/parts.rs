//! The parts of a content.

use super::keys::find;
use super::notes::{Member, record};
use crate::Fields;
use crate::json::{Cursor, Shape};

/// The texts of the parts of type `text`, joined.
pub(crate) fn text_of_parts(parts: &str) -> String {
    let mut all = String::new();
    each_text_of_parts(parts, |text| all.push_str(text));
    all
}

/// Gives the text of each part of type `text`.
pub(crate) fn each_text_of_parts(parts: &str, mut each: impl FnMut(&str)) {
    let mut cursor = Cursor::new(parts.as_bytes());
    let read = (cursor.shape() == Ok(Shape::Array)).then(|| {
        cursor.array(|cursor| {
            let (mut part_type, mut text) = (String::new(), String::new());
            record(cursor, &mut Fields::new(), |cursor, notes, key| {
                const KEYS: [(&str, u8); 2] = [("type", 0), ("text", 1)];
                let member = Member::new(cursor, notes).side("content");
                Some(member.string_into(if find(&KEYS, key)? == 0 { &mut part_type } else { &mut text }))
            })?;
            if part_type == "text" {
                each(&text);
            }
            Ok(())
        })
    });
    debug_assert!(read.is_none_or(|read| read.is_ok()), "parts are kept only when they are valid JSON");
}
