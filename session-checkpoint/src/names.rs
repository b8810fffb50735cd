//! Names that a checkpoint never holds.

use crate::layout::EXTERNAL;

/// The beginning of the names of our temporary files in a workspace.
const TEMP_PREFIX: &[u8] = b".ckpt-";

/// How a name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameClass {
    Plain,
    /// `.git` in any case: another repository's own directory, never entered, read or written.
    GitDir,
    /// A name that git or this store keeps for itself.
    Reserved,
}

pub(crate) fn classify(name: &[u8], at_root: bool) -> NameClass {
    // Nearly all names end here.
    if !matches!(name.first(), Some(b'.' | b'g' | b'G' | 0x80..)) {
        return NameClass::Plain;
    }
    if name.eq_ignore_ascii_case(b".git") {
        return NameClass::GitDir;
    }
    let reserved = is_git_on_windows(name) || is_git_on_mac(name) || is_temp(name) || (at_root && name == EXTERNAL);
    if reserved { NameClass::Reserved } else { NameClass::Plain }
}

/// The name of a temporary file of the restore with this token.
pub(crate) fn temp(token: u64, n: u64) -> Vec<u8> {
    format!(".ckpt-{token:016x}-{n}.tmp").into_bytes()
}

/// Whether a name is that of a temporary file, of the restore with this token or of any.
pub(crate) fn is_temp_of(name: &[u8], token: u64) -> bool {
    is_temp(name) && name[TEMP_PREFIX.len()..].starts_with(format!("{token:016x}-").as_bytes())
}

fn is_temp(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(TEMP_PREFIX).and_then(|rest| rest.strip_suffix(b".tmp")) else { return false };
    let Some((token, count)) = rest.split_at_checked(16) else { return false };
    let Some((b'-', digits)) = count.split_first() else { return false };
    token.iter().all(u8::is_ascii_hexdigit) && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Names that Windows takes for `.git`: its short name, a stream of it, or dots and spaces behind it.
fn is_git_on_windows(name: &[u8]) -> bool {
    let name = name.split(|byte| *byte == b':').next().unwrap_or_default();
    let end = name.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |at| at + 1);
    let name = &name[..end];
    name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1")
}

/// Names that macOS takes for `.git`: it ignores some code points.
fn is_git_on_mac(name: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(name) else { return false };
    let ignored =
        |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    !text.is_ascii() && text.chars().filter(|c| !ignored(*c)).collect::<String>().eq_ignore_ascii_case(".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_git_is_known() {
        for name in [&b".git"[..], b".GIT", b".Git"] {
            assert_eq!(classify(name, false), NameClass::GitDir);
        }
        for name in
            [&b"git~1"[..], b"GIT~1", b".git ", b".git...", b".git::$INDEX_ALLOCATION", ".g\u{200c}it".as_bytes()]
        {
            assert_eq!(classify(name, false), NameClass::Reserved, "{}", String::from_utf8_lossy(name));
        }
        for name in [&b".gitignore"[..], b".gitmodules", b"git", b"git~2", b".github", b"x.git", b".g\xffit"] {
            assert_eq!(classify(name, false), NameClass::Plain, "{}", String::from_utf8_lossy(name));
        }
    }

    #[test]
    fn our_own_names_are_reserved_and_near_misses_are_not() {
        assert_eq!(classify(&temp(7, 12), false), NameClass::Reserved);
        assert!(is_temp_of(&temp(7, 12), 7) && !is_temp_of(&temp(7, 12), 8));
        for name in [&b".ckpt-x.tmp"[..], b".ckpt-0000000000000007-.tmp", b".ckpt-0000000000000007-1", b".ckpt-.tmp"] {
            assert_eq!(classify(name, true), NameClass::Plain);
        }
        assert_eq!(classify(EXTERNAL, true), NameClass::Reserved);
        assert_eq!(classify(EXTERNAL, false), NameClass::Plain);
    }
}
