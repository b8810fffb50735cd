//! The lines of one file's difference, and its headers, as git writes them.

use super::{FileDiff, NoText};
use crate::rel_path::RelPath;
use crate::turns::{Change, Content};

/// Git's own test: a NUL in the first 8,000 bytes.
fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(8000)].contains(&0)
}

pub(super) fn lines(diff: &mut FileDiff, old: &[u8], new: &[u8], context_lines: u32) {
    if is_binary(old) || is_binary(new) {
        diff.no_text = Some(NoText::Binary);
        diff.text.extend_from_slice(b"Binary files differ\n");
        return;
    }
    if old == new {
        return;
    }
    let mut git = git2::DiffOptions::new();
    git.context_lines(context_lines).force_text(true);
    let Ok(patch) = git2::Patch::from_buffers(old, None, new, None, Some(&mut git)) else {
        diff.no_text = Some(NoText::TooLarge);
        return;
    };
    names(diff);
    for hunk in 0..patch.num_hunks() {
        let (head, count) = patch.hunk(hunk).expect("it has so many hunks");
        diff.text.extend_from_slice(head.header());
        for n in 0..count {
            let line = patch.line_in_hunk(hunk, n).expect("the hunk has so many lines");
            // The note on a missing newline at the end has another origin, and carries its own text.
            if let sign @ (' ' | '+' | '-') = line.origin() {
                diff.added += u64::from(sign == '+');
                diff.removed += u64::from(sign == '-');
                diff.text.extend_from_slice(sign.to_string().as_bytes());
            }
            diff.text.extend_from_slice(line.content());
        }
    }
}

pub(super) fn header(change: &Change) -> Vec<u8> {
    let mut text = b"diff --git ".to_vec();
    text.extend(quoted(b"a/", &change.path));
    text.push(b' ');
    text.extend(quoted(b"b/", &change.path));
    let octal = |side: Content| side.mode.octal();
    let modes = match (change.before, change.after) {
        (None, Some(new)) => format!("\nnew file mode {}", octal(new)),
        (Some(old), None) => format!("\ndeleted file mode {}", octal(old)),
        (Some(old), Some(new)) if old.mode != new.mode => format!("\nold mode {}\nnew mode {}", octal(old), octal(new)),
        _ => String::new(),
    };
    let id = |side: Option<Content>| side.map_or_else(|| "0".repeat(40), |side| side.oid.to_string());
    let index = match (change.before, change.after) {
        (Some(old), Some(new)) if old.oid == new.oid => String::new(),
        (Some(old), Some(new)) if old.mode == new.mode => format!("\nindex {}..{} {}", old.oid, new.oid, octal(new)),
        (old, new) => format!("\nindex {}..{}", id(old), id(new)),
    };
    text.extend_from_slice(modes.as_bytes());
    text.extend_from_slice(index.as_bytes());
    text.push(b'\n');
    text
}

fn names(diff: &mut FileDiff) {
    let change = &diff.change;
    let side = |prefix: &[u8], there: bool| if there { quoted(prefix, &change.path) } else { b"/dev/null".to_vec() };
    let (old, new) = (side(b"a/", change.before.is_some()), side(b"b/", change.after.is_some()));
    for (mark, name) in [(&b"--- "[..], old), (&b"+++ "[..], new)] {
        diff.text.extend_from_slice(mark);
        diff.text.extend_from_slice(&name);
        // A name with a space ends in a tab, so that nobody takes a part of it for a date.
        if name.contains(&b' ') {
            diff.text.push(b'\t');
        }
        diff.text.push(b'\n');
    }
}

/// A name as git writes it: in quotes, with escapes, where it has anything that a line cannot hold as it is.
fn quoted(prefix: &[u8], path: &RelPath) -> Vec<u8> {
    let plain = [prefix, path.as_bytes()].concat();
    if !plain.iter().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\' | 0x7f..)) {
        return plain;
    }
    let mut out = vec![b'"'];
    for byte in plain {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\t' => out.extend(b"\\t"),
            0..0x20 | 0x7f.. => out.extend(format!("\\{byte:03o}").into_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_git_does() {
        let path = |bytes: &[u8]| RelPath::new(bytes).expect("a good path");
        assert_eq!(quoted(b"a/", &path(b"x y")), b"a/x y");
        assert_eq!(quoted(b"a/", &path(b"x\n\"\xff\\")), b"\"a/x\\n\\\"\\377\\\\\"");
        assert_eq!(quoted(b"b/", &path(b"oak\tash\x07")), b"\"b/oak\\tash\\007\"");
    }
}
