//! Tree objects: their entries, their order, their bytes.

use crate::Oid;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// What an entry of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A regular file.
    File,
    /// A regular file that its owner may execute.
    Exec,
    /// A symbolic link.
    Link,
    /// A directory.
    Dir,
    /// A commit of another repository. Checkpoints never hold one; the reference's repository may.
    Gitlink,
}

impl Mode {
    /// The mode as git writes it.
    pub const fn octal(self) -> &'static str {
        match self {
            Mode::File => "100644",
            Mode::Exec => "100755",
            Mode::Link => "120000",
            Mode::Dir => "40000",
            Mode::Gitlink => "160000",
        }
    }

    fn parse(octal: &[u8]) -> Option<Self> {
        match octal {
            b"100644" | b"100664" | b"100600" => Some(Mode::File),
            b"100755" => Some(Mode::Exec),
            b"120000" => Some(Mode::Link),
            b"40000" => Some(Mode::Dir),
            b"160000" => Some(Mode::Gitlink),
            _ => None,
        }
    }
}

/// One entry of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeEntry<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) mode: Mode,
    pub(crate) oid: Oid,
}

/// Git's order: by name, a directory as if its name ended in a slash.
pub(crate) fn order(a: &[u8], a_is_dir: bool, b: &[u8], b_is_dir: bool) -> Ordering {
    let common = a.len().min(b.len());
    a[..common].cmp(&b[..common]).then_with(|| {
        let next = |name: &[u8], is_dir: bool| match name.get(common) {
            Some(byte) => Some(*byte),
            None if is_dir => Some(b'/'),
            None => None,
        };
        next(a, a_is_dir).cmp(&next(b, b_is_dir))
    })
}

/// Appends one entry to a tree's bytes. The caller keeps the order.
pub(crate) fn push(tree: &mut Vec<u8>, entry: TreeEntry<'_>) {
    tree.extend_from_slice(entry.mode.octal().as_bytes());
    tree.push(b' ');
    tree.extend_from_slice(entry.name);
    tree.push(0);
    tree.extend_from_slice(entry.oid.as_bytes());
}

/// The entries of a tree; `None` where the bytes are no tree.
pub(crate) fn parse(mut bytes: &[u8]) -> Option<Vec<TreeEntry<'_>>> {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|byte| *byte == b' ')?;
        let end = space + bytes[space..].iter().position(|byte| *byte == 0)?;
        let mode = Mode::parse(&bytes[..space])?;
        let oid = Oid::from_slice(bytes.get(end + 1..end + 21)?)?;
        let name = &bytes[space + 1..end];
        if name.is_empty() {
            return None;
        }
        entries.push(TreeEntry { name, mode, oid });
        bytes = &bytes[end + 21..];
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oid::{Kind, hash};

    #[test]
    fn a_directory_sorts_as_if_it_ended_in_a_slash() {
        assert_eq!(order(b"a", true, b"a.b", false), Ordering::Greater);
        assert_eq!(order(b"a", false, b"a.b", false), Ordering::Less);
        assert_eq!(order(b"a", true, b"a0", false), Ordering::Less);
        assert_eq!(order(b"a", true, b"a", true), Ordering::Equal);
    }

    #[test]
    fn bytes_read_back_and_cut_bytes_do_not() {
        let oid = hash(Kind::Blob, b"x");
        let mut bytes = Vec::new();
        let entries = [
            TreeEntry { name: b"a\xff", mode: Mode::File, oid },
            TreeEntry { name: b"b", mode: Mode::Dir, oid },
            TreeEntry { name: b"c", mode: Mode::Link, oid },
        ];
        entries.iter().for_each(|entry| push(&mut bytes, *entry));
        assert_eq!(parse(&bytes), Some(entries.to_vec()));
        assert_eq!(parse(&bytes[..bytes.len() - 1]), None);
    }
    #[test]
    fn every_mode_that_git_writes_reads_back_and_no_other_makes_a_tree() {
        let oid = hash(Kind::Blob, b"x");
        for mode in [Mode::File, Mode::Exec, Mode::Link, Mode::Dir, Mode::Gitlink] {
            let (mut bytes, entry) = (Vec::new(), TreeEntry { name: b"oak", mode, oid });
            push(&mut bytes, entry);
            assert_eq!(parse(&bytes), Some(vec![entry]));
        }
        let raw = |head: &[u8]| [head, oid.as_bytes()].concat();
        // Early versions of git wrote these of files.
        for old in [&b"100664 oak\0"[..], b"100600 oak\0"] {
            assert_eq!(parse(&raw(old)), Some(vec![TreeEntry { name: b"oak", mode: Mode::File, oid }]));
        }
        for bad in [&b"100777 oak\0"[..], b"010644 oak\0", b" oak\0", b"100644 \0", b"100644oak\0"] {
            assert_eq!(parse(&raw(bad)), None, "{}", String::from_utf8_lossy(bad));
        }
    }
}
