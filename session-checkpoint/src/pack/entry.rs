//! The header in front of each object of a pack: kind and inflated size.

use crate::oid::Kind;

/// What an entry of a pack is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A whole object.
    Whole(Kind),
    /// A difference to another object. Only stock git writes those.
    Delta,
}

/// Appends the header of a whole object.
pub(crate) fn push_header(out: &mut Vec<u8>, kind: Kind, len: u64) {
    let low = u8::try_from(len & 0x0f).expect("four bits");
    let mut byte = (kind as u8) << 4 | low;
    let mut rest = len >> 4;
    while rest > 0 {
        out.push(byte | 0x80);
        byte = u8::try_from(rest & 0x7f).expect("seven bits");
        rest >>= 7;
    }
    out.push(byte);
}

/// Reads a header: the kind, the inflated size, and the length of the header itself.
pub(crate) fn parse_header(bytes: &[u8]) -> Option<(EntryKind, u64, usize)> {
    let first = *bytes.first()?;
    let kind = match (first >> 4) & 7 {
        1 => EntryKind::Whole(Kind::Commit),
        2 => EntryKind::Whole(Kind::Tree),
        3 => EntryKind::Whole(Kind::Blob),
        4 => EntryKind::Whole(Kind::Tag),
        6 | 7 => EntryKind::Delta,
        _ => return None,
    };
    let mut len = u64::from(first & 0x0f);
    let mut shift = 4;
    let mut at = 1;
    let mut last = first;
    while last & 0x80 != 0 {
        last = *bytes.get(at)?;
        if shift > 57 {
            return None;
        }
        len |= u64::from(last & 0x7f) << shift;
        shift += 7;
        at += 1;
    }
    Some((kind, len, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_read_back() {
        for len in [0, 1, 15, 16, 127, 128, 2047, 2048, 1 << 20, u64::from(u32::MAX) + 1] {
            for kind in [Kind::Commit, Kind::Tree, Kind::Blob, Kind::Tag] {
                let mut bytes = Vec::new();
                push_header(&mut bytes, kind, len);
                assert_eq!(parse_header(&bytes), Some((EntryKind::Whole(kind), len, bytes.len())));
                assert_eq!(parse_header(&bytes[..bytes.len() - 1]), None);
            }
        }
    }
}
