//! Loose objects: one file each. Only the commit of a turn without changes is written so.

use crate::layout::Layout;
use crate::oid::Kind;
use crate::pack::{Compression, deflate};
use crate::{Error, Oid};
use rand::RngExt as _;
use session_disk::Durability;
use std::path::PathBuf;

/// Where a loose object stands.
pub(crate) fn path(layout: &Layout, oid: Oid) -> PathBuf {
    let hex = oid.to_string();
    layout.objects().join(&hex[..2]).join(&hex[2..])
}

/// Writes an object. On disk when it returns: the object, synced with [`Durability::Data`].
pub(crate) fn write(
    layout: &Layout,
    kind: Kind,
    oid: Oid,
    content: &[u8],
    durability: Durability,
) -> Result<(), Error> {
    let mut plain = format!("{} {}\0", kind.name(), content.len()).into_bytes();
    plain.extend_from_slice(content);
    let mut bytes = Vec::new();
    deflate(Compression::Fast, &plain, &mut bytes);
    let path = path(layout, oid);
    let dir = path.parent().expect("an object has a directory");
    session_disk::create_dir_all(dir)?;
    // Git knows this name for that of a temporary file, and would call any other a damaged object.
    let random: u64 = rand::rng().random();
    let temp = dir.join(format!("tmp_obj_{random:016x}"));
    Ok(session_disk::replace_through(&temp, &path, &bytes, durability)?)
}

/// How many loose objects there are in the directory that an object of this id would be in.
pub(crate) fn beside(layout: &Layout, oid: Oid) -> Result<usize, Error> {
    let path = path(layout, oid);
    Ok(crate::listing::names(path.parent().expect("an object has a directory"))?.len())
}

/// All loose objects: by name, whatever they hold.
pub(crate) fn list(layout: &Layout) -> Result<Vec<(Oid, PathBuf)>, Error> {
    let mut found = Vec::new();
    for dir in crate::init::loose_dirs(layout)? {
        let prefix = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for name in crate::listing::names(&dir)? {
            found.extend(Oid::from_hex(&format!("{prefix}{name}")).map(|oid| (oid, dir.join(&name))));
        }
    }
    Ok(found)
}
