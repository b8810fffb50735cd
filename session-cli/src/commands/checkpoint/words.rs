//! What the checkpoints say, in words for people: the same words as in JSON.

use super::place::EXTERNAL;
use crate::output::size;
use serde::Serialize;
use serde_json::Value;
use session_checkpoint::{Change, ChangeKind, Conflict, Kept, RelPath, Skipped};
use std::fmt::Write as _;

/// A path: that of an external file is absolute. Bytes that are no text are shown as escapes.
pub(super) fn path(path: &RelPath) -> String {
    let outside = path.as_bytes().strip_prefix(EXTERNAL.as_bytes()).filter(|rest| rest.starts_with(b"/"));
    text(outside.unwrap_or(path.as_bytes()))
}

/// Bytes as text, those that are none as escapes.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out += chunk.valid();
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}").expect("writing to a String cannot fail");
        }
    }
    out
}

/// A reason as JSON names it, with spaces.
pub(super) fn reason(reason: &impl Serialize) -> String {
    match serde_json::to_value(reason) {
        Ok(Value::String(word)) => word.replace('_', " "),
        Ok(Value::Object(members)) => {
            let parts =
                members.iter().map(|(name, value)| format!("{}: {}", name.replace('_', " "), self::reason(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

/// One letter, as git has them.
pub(super) fn letter(change: &Change) -> &'static str {
    match change.kind {
        ChangeKind::Added => "A",
        ChangeKind::Modified => "M",
        ChangeKind::Deleted => "D",
        ChangeKind::TypeChanged => "T",
    }
}

pub(super) fn skipped(skipped: &Skipped) -> String {
    let size = if skipped.size > 0 { format!(", {}", size::words(skipped.size)) } else { String::new() };
    format!("{}: {}{size}", path(&skipped.path), reason(&skipped.reason))
}

pub(super) fn conflict(conflict: &Conflict) -> String {
    format!("conflict {}: {}", path(&conflict.path), reason(&conflict.kind))
}

pub(super) fn kept(kept: &Kept) -> String {
    format!("keep {}: {}", path(&kept.path), reason(&kept.reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use session_checkpoint::{ConflictKind, SkipReason};

    #[test]
    fn reasons_are_words_and_paths_are_whole() {
        assert_eq!(reason(&ConflictKind::NotStorable(SkipReason::TooBig)), "not storable: too big");
        let rel = |bytes: &[u8]| RelPath::new(bytes).expect("a good path");
        assert_eq!(path(&rel(b".session-external/etc/a")), "/etc/a");
        assert_eq!(path(&rel(b"a\xff/b")), "a\\xff/b");
    }
}
