//! Keeping what is taken out of a history, byte for byte, before it goes.

use crate::directory::make_own;
use crate::part::Part;
use crate::{Result, SessionPaths};
use session_core::layout;
use session_disk::{
    DiskError, Durability, Op, create_new, publish, remove_file, replace, sync_data, sync_dir, temp_name, write,
};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What the name of a file ends with that says where each part of the file beside it stood.
pub(crate) const INDEX: &str = "index";

/// How much is copied at once.
const BLOCK: usize = 256 << 10;

/// What is to be kept.
pub(crate) struct Taken {
    /// The name of the copy.
    pub(crate) name: String,
    /// Where each part begins in the history, and how many bytes it has.
    pub(crate) parts: Vec<(u64, u64)>,
    /// Where each part stood, for a file beside the copy. With it, a newline follows each part.
    pub(crate) index: Option<Vec<u8>>,
}

/// Copies parts of a history to the quarantine, and gives the path of the copy.
///
/// On disk when it returns: the copy and its index, synced.
///
/// # Errors
/// [`crate::StoreError::Escapes`] where a symbolic link stands in the place of the quarantine; the step that failed, also
/// where the history ends before a part does. No copy has the name then.
pub(crate) fn keep(paths: &SessionPaths, history: &File, taken: &Taken) -> Result<PathBuf> {
    let dir = make_own(paths, &[layout::QUARANTINE], Durability::Data)?;
    let kept = dir.join(&taken.name);
    let temp = temp_name(&kept);
    let done = copy(history, taken, &temp).and_then(|()| {
        // The index first: a file with one is whole.
        if let Some(index) = &taken.index {
            replace(&dir.join(format!("{}.{INDEX}", taken.name)), index, Durability::Data)?;
        }
        publish(&temp, &kept)?;
        sync_dir(&dir)
    });
    // The first error is the one to tell; the bytes are still in the history.
    done.inspect_err(|_| drop(remove_file(&temp)))?;
    Ok(kept)
}

fn copy(history: &File, taken: &Taken, to: &Path) -> Result<(), DiskError> {
    let copy = create_new(to)?;
    let longest = taken.parts.iter().map(|(_, len)| *len).max().unwrap_or_default();
    let mut block = vec![0; BLOCK.min(usize::try_from(longest).unwrap_or(BLOCK))];
    for &(offset, len) in &taken.parts {
        let mut part = Part { file: history, at: offset, upto: offset + len };
        while part.at < part.upto {
            let read = part.read_some(&mut block);
            let read = read.map_err(|source| DiskError { op: Op::Write, path: to.to_owned(), source })?;
            write(&copy, to, read)?;
        }
        if taken.index.is_some() {
            write(&copy, to, b"\n")?;
        }
    }
    sync_data(&copy, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreError;
    use std::fs;
    use std::io;

    #[test]
    fn i24_a_part_that_is_not_all_there_is_not_kept() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let paths = SessionPaths::new(dir.path());
        fs::write(paths.history(), "oak\nelm\n").expect("there is room");
        let history = File::open(paths.history()).expect("it was just written");
        for index in [None, Some(b"{}\n".to_vec())] {
            let taken =
                |parts: &[(u64, u64)]| Taken { name: "lines".into(), parts: parts.into(), index: index.clone() };
            let Err(StoreError::Disk(error)) = keep(&paths, &history, &taken(&[(0, 3), (4, 5)])) else {
                panic!("it ends before")
            };
            assert_eq!(error.source.kind(), io::ErrorKind::UnexpectedEof);
            assert!(!paths.quarantine().join("lines").exists());
            let kept = keep(&paths, &history, &taken(&[(0, 3), (4, 3)])).expect("all of it is there");
            let wanted = if index.is_some() { "oak\nelm\n" } else { "oakelm" };
            assert_eq!(fs::read_to_string(&kept).expect("it was just kept"), wanted);
            fs::remove_file(kept).expect("it is there");
        }
    }
}
