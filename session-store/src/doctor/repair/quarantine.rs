//! Keeping what is taken out of a history: byte for byte, with where it stood.

use crate::history::Part;
use crate::{Result, SessionPaths, StoreError};
use serde::Serialize;
use session_core::{Defect, Timestamp};
use session_disk::{
    Durability, create_dir, create_new, publish, remove_file, replace, sync_data, sync_dir, temp_name, write,
};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// How much is copied at once.
const BLOCK: usize = 256 << 10;

/// What stands in the index about a part of the file beside it.
#[derive(Serialize)]
struct Entry {
    /// The line of the history, from 1.
    line: Option<u64>,
    /// The first byte, as an offset in the history.
    offset: u64,
    bytes: u64,
    /// Where they begin in the file.
    at: u64,
    why: &'static str,
}

/// Copies parts of a history to the quarantine. Gives the file; a newline follows each part, and the file with `.index` at
/// its end says where each stood.
///
/// On disk when it returns: both, synced.
///
/// # Errors
/// The step that failed. What was copied until then is in nobody's way.
pub(super) fn keep(paths: &SessionPaths, history: &File, parts: &[Defect], now: Timestamp) -> Result<PathBuf> {
    let dir = paths.quarantine();
    match create_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => {
            made?;
            sync_dir(paths.dir())?;
        }
    }
    let kept = dir.join(format!("lines-{}-{:016x}", now.format("%Y%m%dT%H%M%SZ"), rand::random::<u64>()));
    let mut index = kept.as_os_str().to_owned();
    index.push(".index");
    let temp = temp_name(&kept);
    let entries = copy(history, &paths.history(), parts, &temp);
    // The index first: a file with one is whole.
    let done = entries.and_then(|entries| {
        replace(Path::new(&index), &entries, Durability::Data)?;
        publish(&temp, &kept)?;
        Ok(sync_dir(&dir)?)
    });
    done.inspect_err(|_| drop(remove_file(&temp)))?;
    Ok(kept)
}

fn copy(history: &File, path: &Path, parts: &[Defect], temp: &Path) -> Result<Vec<u8>> {
    let file = create_new(temp)?;
    let (mut at, mut index) = (0, Vec::new());
    let mut block = vec![0; BLOCK];
    for defect in parts {
        let offset = defect.place.offset;
        let mut part = Part { file: history, at: offset, upto: offset + defect.len };
        loop {
            match part.read(&mut block).map_err(StoreError::read(path))? {
                0 => break,
                read => write(&file, temp, &block[..read]).map_err(session_disk::DiskError::from)?,
            }
        }
        write(&file, temp, b"\n").map_err(session_disk::DiskError::from)?;
        let entry = Entry { line: defect.place.line, offset, bytes: defect.len, at, why: defect.fault.code() };
        at += defect.len + 1;
        serde_json::to_writer(&mut index, &entry).expect("numbers and a word are always JSON");
        index.push(b'\n');
    }
    sync_data(&file, temp)?;
    Ok(index)
}
