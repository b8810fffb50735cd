//! The names of objects. Who names one takes it from here.

use super::segment::Segment;
use super::sha::Sha;
use session_core::SessionName;
use std::fmt::Write as _;

/// The end of the name of an object that is compressed.
const PACKED: &str = ".zst";
/// The end of the name of a document.
const DOCUMENT: &str = ".json";
/// Below it, the manifest of each session.
pub(super) const MANIFESTS: &str = "manifests";

/// Below it, what sessions share.
pub(super) const OBJECTS: &str = "objects";
/// Below it, manifests as they were before histories were replaced.
pub(super) const GENERATIONS: &str = "generations";
/// Below it, the segments of histories.
pub(super) const HISTORIES: &str = "history";

/// The document that says that sessions are kept here.
pub(super) fn store() -> String {
    "store.json".to_owned()
}

/// What manifests say, in one object: a cache.
pub(super) fn index() -> String {
    format!("index{DOCUMENT}{PACKED}")
}

/// What no manifest names, and is going to be removed.
pub(super) fn condemned() -> String {
    format!("condemned{DOCUMENT}")
}

/// An object that a probe makes and removes.
pub(super) fn probe(token: &str) -> String {
    format!("probes/{token}")
}

/// The manifest of a session.
pub(super) fn manifest(name: &SessionName) -> String {
    format!("{MANIFESTS}/{}{DOCUMENT}", encoded(name.as_str()))
}

/// What the names of the manifests begin with of sessions whose names begin so.
pub(super) fn beginning(prefix: &str) -> String {
    encoded(prefix)
}

/// The session of a manifest; `None` for a name that is no manifest's.
pub(super) fn session_of(file: &str) -> Option<SessionName> {
    decoded(file.strip_suffix(DOCUMENT)?)
}

/// A manifest as it was before its history was replaced.
pub(super) fn former(name: &SessionName, generation: u64) -> String {
    format!("{}{generation}{DOCUMENT}", formers(name))
}

/// What the former manifests of a session begin with.
pub(super) fn formers(name: &SessionName) -> String {
    format!("{GENERATIONS}/{}/", encoded(name.as_str()))
}

/// The session of a manifest below [`GENERATIONS`].
pub(super) fn session_of_former(file: &str) -> Option<SessionName> {
    session_of_directory(file.split_once('/')?.0)
}

/// The session of a directory below [`HISTORIES`] or [`GENERATIONS`].
pub(super) fn session_of_directory(dir: &str) -> Option<SessionName> {
    decoded(dir)
}

/// A segment of a session's history.
pub(super) fn segment(name: &SessionName, segment: &Segment) -> String {
    format!("{}{segment}{PACKED}", segments(name))
}

/// What the segments of a session begin with.
pub(super) fn segments(name: &SessionName) -> String {
    format!("{HISTORIES}/{}/", encoded(name.as_str()))
}

/// The segment that an object below [`segments`] is.
pub(super) fn segment_of(file: &str) -> Option<Segment> {
    file.strip_suffix(PACKED)?.parse().ok()
}

/// Something that is named by what it holds, and shared by all sessions.
pub(super) fn object(sha: &Sha) -> String {
    let sha = sha.to_string();
    format!("{OBJECTS}/{}/{sha}{PACKED}", &sha[..2])
}

/// What an object below [`OBJECTS`] holds; `None` for one that is not named so.
pub(super) fn sha_of(file: &str) -> Option<Sha> {
    let sha: Sha = file.split_once('/')?.1.strip_suffix(PACKED)?.parse().ok()?;
    (object(&sha).strip_prefix(OBJECTS)?.strip_prefix('/') == Some(file)).then_some(sha)
}

/// A session's name in the letters that every object store and every shell takes: what is none of `A-Za-z0-9._-` is `=`
/// and two hexadecimal digits a byte.
fn encoded(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-".contains(&byte) {
            text.push(char::from(byte));
        } else {
            write!(text, "={byte:02X}").expect("writing to a string cannot fail");
        }
    }
    text
}

fn decoded(text: &str) -> Option<SessionName> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first == b'=' {
            let digits = str::from_utf8(behind.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &behind[2..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    let name = SessionName::new(String::from_utf8(bytes).ok()?).ok()?;
    // Another spelling of the same name would be a second manifest of one session.
    (encoded(name.as_str()) == text).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_one_name() {
        let sha = Sha::of(b"x");
        let key = object(&sha);
        let file = key.strip_prefix("objects/").expect("it is one of them");
        assert_eq!(sha_of(file), Some(sha));
        for wrong in [&file[3..], &file[..60], &format!("00/{}", &file[3..]), "probes/x"] {
            assert_eq!(sha_of(wrong), None, "{wrong}");
        }
        assert_eq!(session_of_former("two=20words/3.json"), SessionName::new("two words").ok());
    }

    #[test]
    fn every_name_has_one_spelling() {
        for name in ["demo", "2026-01-02-x7k2p9", "two words", "日本", "a=b%c~d", "Ärger#1"] {
            let name = SessionName::new(name).expect("it is a name");
            let spelling = encoded(name.as_str());
            assert!(spelling.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-=".contains(&byte)), "{spelling}");
            assert_eq!(decoded(&spelling), Some(name));
        }
        for wrong in ["", "=6", "=6G", "=61", "a/b", "=2E=2E", ".x", "=FF", "=2e"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
