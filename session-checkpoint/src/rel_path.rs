//! Paths inside a checkpoint: raw bytes, always relative, never able to climb out.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A path relative to the root of a checkpoint: components separated by `/`, none of them empty, `.` or `..`, and no
/// NUL byte. Any other byte is allowed, as a file system allows it.
///
/// As JSON it is a string where the bytes are UTF-8, else `{"hex":"…"}`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Vec<u8>);

impl RelPath {
    /// A path from its bytes; `None` where they are no such path.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        let bytes = bytes.into();
        let good = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
        (bytes.split(|byte| *byte == b'/').all(good) && !bytes.contains(&0)).then_some(RelPath(bytes))
    }

    /// A path from one that a person typed: `./`, doubled and trailing slashes are dropped first.
    pub fn from_user(path: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        for part in path.components() {
            match part {
                std::path::Component::CurDir => {}
                std::path::Component::Normal(name) => join(&mut bytes, name.as_bytes()),
                _ => return None,
            }
        }
        RelPath::new(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The same bytes as a path.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Whether this is `other` or lies below it.
    pub fn is_in(&self, other: &RelPath) -> bool {
        is_in(&self.0, &other.0)
    }
}

/// Whether `path` is `dir` or lies below it; everything lies below the empty path.
pub(crate) fn is_in(path: &[u8], dir: &[u8]) -> bool {
    dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Appends a component to a path that may be empty.
pub(crate) fn join(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// `dir` and `name` in one path.
pub(crate) fn joined(dir: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(dir.len() + name.len() + 1);
    path.extend_from_slice(dir);
    join(&mut path, name);
    path
}

/// The directory part (empty at the top) and the last component.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// The directories above a path, the topmost first.
pub(crate) fn parents(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..at])
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_path().display().fmt(f)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(&self.0), f)
    }
}

impl Borrow<[u8]> for RelPath {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Json {
    Text(String),
    Hex { hex: String },
}

/// Bytes as JSON: the text where they are UTF-8, else hexadecimal digits in an object.
pub(crate) mod json_bytes {
    use super::{Deserialize as _, Deserializer, Json, Serialize as _, Serializer};
    use serde::de::Error as _;
    use std::fmt::Write as _;

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => {
                let mut hex = String::with_capacity(bytes.len() * 2);
                for byte in bytes {
                    write!(hex, "{byte:02x}").expect("writing to a String cannot fail");
                }
                Json::Hex { hex }.serialize(serializer)
            }
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::Text(text) => Ok(text.into_bytes()),
            Json::Hex { hex } => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let byte = |pair: &[u8]| match *pair {
                    [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
                    _ => None,
                };
                hex.as_bytes().chunks(2).map(byte).collect::<Option<_>>().ok_or_else(|| D::Error::custom("bad hex"))
            }
        }
    }
}

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json_bytes::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = json_bytes::deserialize(deserializer)?;
        RelPath::new(bytes).ok_or_else(|| serde::de::Error::custom("not a relative path"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_could_climb_out_is_none() {
        for bad in ["", "/", "/a", "a/", "a//b", ".", "a/..", "../a", "a/./b", "a\0b"] {
            assert_eq!(RelPath::new(bad), None, "{bad:?}");
        }
        for good in ["a", "a/b", "...", "a/.b", "a\nb"] {
            assert!(RelPath::new(good).is_some(), "{good:?}");
        }
    }

    #[test]
    fn json_gives_every_byte_back() {
        for bytes in [&b"a/b"[..], b"\xff\xfe/x", "é".as_bytes()] {
            let path = RelPath::new(bytes).expect("a good path");
            let json = serde_json::to_string(&path).expect("a path is JSON");
            assert_eq!(serde_json::from_str::<RelPath>(&json).expect("its own JSON"), path);
        }
    }

    #[test]
    fn json_that_is_no_path_is_an_error() {
        for bad in [r#"{"hex":"6"}"#, r#"{"hex":"6f616"}"#, r#"{"hex":"zz"}"#, r#"{"hex":"2f61"}"#, r#""/oak""#, "7"] {
            assert!(serde_json::from_str::<RelPath>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_a_person_types_is_a_path_below_the_workspace_or_none() {
        let typed = |text: &str| RelPath::from_user(Path::new(text)).map(|path| path.to_string());
        for oak in ["bed/oak", "./bed//oak/", "bed/./oak"] {
            assert_eq!(typed(oak).as_deref(), Some("bed/oak"), "{oak}");
        }
        for none in ["/bed/oak", "../oak", "bed/../oak", ".", ""] {
            assert_eq!(typed(none), None, "{none}");
        }
    }

    #[test]
    fn a_path_is_found_by_its_bytes_and_shown_as_text() {
        let path = |bytes: &[u8]| RelPath::new(bytes).expect("a good path");
        let trees = std::collections::HashMap::from([(path(b"bed/oak"), 1)]);
        assert_eq!((trees.get(&b"bed/oak"[..]), trees.get(&b"bed"[..])), (Some(&1), None));
        assert_eq!(format!("{:?}", path(b"o\"ak\xff")), "\"o\\\"ak\u{fffd}\"");
    }

    #[test]
    fn below_means_whole_components() {
        assert!(is_in(b"a/b", b"a") && is_in(b"a", b"a") && is_in(b"a", b""));
        assert!(!is_in(b"ab", b"a") && !is_in(b"a", b"a/b"));
        assert_eq!(parents(b"a/b/c").collect::<Vec<_>>(), [&b"a"[..], b"a/b"]);
    }
}
