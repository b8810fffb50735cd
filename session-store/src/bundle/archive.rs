//! The archive inside a bundle: tar, of regular files and directories, with nothing in a header that could differ.
//!
//! Headers are the `tar` crate's; what stands between them is written and read here. Its own reader takes a long name of
//! any length into memory, acts on extensions that no bundle has, and passes over what stands behind the end.

use super::BundleFault;
use super::error::Refused;
use std::io::{self, Read, Write};
use tar::{EntryType, Header};

const BLOCK: usize = 512;
/// The modes that everything in a store has.
const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;
/// What GNU tar calls the member that holds the name of the next, where that is too long for a header.
const LONG_NAME: &[u8] = b"././@LongLink";
/// A session's name, a path inside it, the slash between them, and one at the end.
const MAX_NAME_BYTES: u64 = (session_core::MAX_NAME_BYTES + session_core::MAX_PATH_BYTES + 2) as u64;
/// Archives are filled up to a multiple of some length, which others choose differently.
const MAX_END_BYTES: usize = 1 << 20;

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberKind {
    File,
    Dir,
}

/// Writes the header of a member, before its bytes.
pub(super) fn write_header(out: &mut dyn Write, name: &str, kind: MemberKind, len: u64) -> io::Result<()> {
    let (name, type_, mode) = match kind {
        MemberKind::File => (name.to_owned(), EntryType::Regular, FILE_MODE),
        MemberKind::Dir => (format!("{name}/"), EntryType::Directory, DIR_MODE),
    };
    let room = Header::new_gnu().as_old().name.len();
    if name.len() > room {
        let text = [name.as_bytes(), b"\0"].concat();
        out.write_all(header(LONG_NAME, EntryType::GNULongName, 0o644, text.len() as u64).as_bytes())?;
        out.write_all(&text)?;
        write_padding(out, text.len() as u64)?;
    }
    let shown = &name.as_bytes()[..name.len().min(room)];
    out.write_all(header(shown, type_, mode, len).as_bytes())
}

fn header(name: &[u8], type_: EntryType, mode: u32, len: u64) -> Header {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(type_);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(len);
    header.set_cksum();
    header
}

/// Fills the last block of a member.
pub(super) fn write_padding(out: &mut dyn Write, len: u64) -> io::Result<()> {
    out.write_all(&[0; BLOCK][..padding(len)])
}

fn padding(len: u64) -> usize {
    // What is left of a block is shorter than one.
    (BLOCK - (len % BLOCK as u64) as usize) % BLOCK
}

/// Ends the archive.
pub(super) fn write_end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[0; 2 * BLOCK])
}

/// A header that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Without a slash at its end.
    pub(super) name: String,
    pub(super) kind: MemberKind,
    pub(super) len: u64,
}

/// Reads the next header. `None`: the archive is over.
pub(super) fn read_header(from: &mut dyn Read) -> Result<Option<Member>, Refused> {
    let Some(mut header) = read_block(from)? else { return Ok(None) };
    let mut long = None;
    if header.entry_type() == EntryType::GNULongName {
        let name = read_long_name(from, &header)?;
        header = read_block(from)?.ok_or((Some(name.clone()), BundleFault::Header))?;
        long = Some(name);
    }
    let name = match long {
        Some(name) => name,
        None => text(header.path_bytes().into_owned())?,
    };
    let refused = |fault| (Some(name.clone()), fault);
    let kind = match header.entry_type() {
        EntryType::Regular | EntryType::Continuous => MemberKind::File,
        EntryType::Directory => MemberKind::Dir,
        EntryType::Link | EntryType::Symlink => return Err(refused(BundleFault::Link)),
        _ => return Err(refused(BundleFault::Kind)),
    };
    let len = header.entry_size().map_err(|_| refused(BundleFault::Header))?;
    let name = match kind {
        MemberKind::File => name,
        MemberKind::Dir => name.strip_suffix('/').unwrap_or(&name).to_owned(),
    };
    Ok(Some(Member { name, kind, len }))
}

fn read_long_name(from: &mut dyn Read, header: &Header) -> Result<String, Refused> {
    let wrong = || (None, BundleFault::Header);
    let len = header.entry_size().map_err(|_| wrong())?;
    if len > MAX_NAME_BYTES {
        return Err(wrong());
    }
    let mut name = Vec::new();
    from.take(len).read_to_end(&mut name).map_err(|error| (None, BundleFault::of(error)))?;
    if name.len() as u64 != len {
        return Err((None, BundleFault::Truncated));
    }
    read_padding(from, len).map_err(|fault| (None, fault))?;
    text(name.strip_suffix(b"\0").unwrap_or(&name).to_vec())
}

fn text(name: Vec<u8>) -> Result<String, Refused> {
    String::from_utf8(name).map_err(|error| {
        let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
        (Some(shown), BundleFault::Header)
    })
}

/// A block that is a header; `None` for one of zeros, with which the end begins.
fn read_block(from: &mut dyn Read) -> Result<Option<Header>, Refused> {
    let mut header = Header::new_old();
    from.read_exact(header.as_mut_bytes()).map_err(|error| (None, BundleFault::of(error)))?;
    if header.as_bytes().iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let told = header.cksum().map_err(|_| (None, BundleFault::Header))?;
    let mut again = header.clone();
    again.set_cksum();
    match again.cksum() {
        Ok(sum) if sum == told => Ok(Some(header)),
        _ => Err((None, BundleFault::Header)),
    }
}

/// Reads what fills the last block of a member: zeros.
pub(super) fn read_padding(from: &mut dyn Read, len: u64) -> Result<(), BundleFault> {
    let mut block = [0; BLOCK];
    let padding = &mut block[..padding(len)];
    from.read_exact(padding).map_err(BundleFault::of)?;
    if padding.iter().all(|byte| *byte == 0) { Ok(()) } else { Err(BundleFault::Header) }
}

/// Reads what stands behind the first block of the end: zeros, and not many.
pub(super) fn read_end(from: &mut dyn Read) -> Result<(), BundleFault> {
    let mut end = Vec::new();
    from.take(MAX_END_BYTES as u64 + 1).read_to_end(&mut end).map_err(BundleFault::of)?;
    match end.len() {
        len if len < BLOCK => Err(BundleFault::Truncated),
        len if len > MAX_END_BYTES || end.iter().any(|byte| *byte != 0) => Err(BundleFault::Trailing),
        _ => Ok(()),
    }
}
