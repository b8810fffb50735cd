//! Showing a name that is no session name.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

/// A name of the file system as printable text, such that no two names give the same: a backslash is doubled, a byte
/// that is not UTF-8 becomes `\xNN`, a control character `\u{N}`, and so does a space at the end.
pub(crate) fn escaped(name: &OsStr) -> String {
    let mut out = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str(r"\\"),
                c if c.is_control() => push(&mut out, format_args!("\\u{{{:x}}}", u32::from(c))),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            push(&mut out, format_args!("\\x{byte:02x}"));
        }
    }
    if out.ends_with(' ') {
        out.pop();
        out.push_str("\\u{20}");
    }
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_become_printable_and_stay_apart() {
        for (name, shown) in [
            (&b"demo"[..], "demo"),
            ("日本".as_bytes(), "日本"),
            (b"a\nb", r"a\u{a}b"),
            (b"a\\u{a}b", r"a\\u{a}b"),
            (b"\xff\xfe", r"\xff\xfe"),
            (b"\\xff", r"\\xff"),
            ("\u{9b}2J".as_bytes(), r"\u{9b}2J"),
            (b"end ", r"end\u{20}"),
            (b"", ""),
        ] {
            assert_eq!(escaped(OsStr::from_bytes(name)), shown);
        }
    }
}
