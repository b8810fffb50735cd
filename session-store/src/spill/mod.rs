//! Tool output that is too large for a message.
//!
//! The whole output goes into a file of the session's `tmp/`, and the message gets its beginning and its end with a
//! marker between them that says what is left out and where it is. The path is told only once the file is complete and
//! on the disk, so that no model is ever pointed to a file that is not there.

mod mention;
mod preview;

pub(crate) use mention::{copy, mentions, names};
pub use preview::{Preview, PreviewSize};

use crate::directory::make_own;
use crate::{Durability, Result, SessionPaths, StoreError, file_name};
use preview::Collector;
use rand::RngExt as _;
use session_core::layout;
use session_disk::{DiskError, create_new, publish, remove_file, temp_name, write};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How much is copied at once.
const BLOCK: usize = 64 << 10;

/// The place for spilled output of one session.
///
/// ```
/// use session_store::{PreviewSize, SessionPaths, Spill};
/// # fn main() -> session_store::Result<()> {
/// # let dir = tempfile::tempdir().expect("a scratch directory");
/// let spill = Spill::new(SessionPaths::new(dir.path()), "demo", Default::default());
/// let output: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
/// let spilled = spill.bytes("cargo test", output.as_bytes(), PreviewSize { head_bytes: 20, tail_bytes: 20 })?;
/// assert!(spilled.path.exists());
/// let marker = format!("[98856 bytes, 9996 lines left out: all of it is in {}]", spilled.in_session());
/// assert_eq!(spilled.text(), format!("line 0\nline 1\n{marker}\nline 9998\nline 9999\n"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Spill {
    paths: SessionPaths,
    name: String,
    durability: Durability,
}

/// Output that was spilled.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spilled {
    /// The file that holds all of it.
    pub path: PathBuf,
    /// Its beginning and its end.
    pub preview: Preview,
}

impl Spilled {
    /// The path inside the session's directory, with `/` between its parts. It stays true when the session is moved or
    /// copied, so this is the one to store.
    pub fn in_session(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{}/{name}", layout::TMP)
    }

    /// The text for the message: what is shown, and a marker that points to the file by its path in the session.
    pub fn text(&self) -> String {
        self.preview.text(Some(&self.in_session()))
    }
}

impl Spill {
    /// The place for spilled output of the session at `paths`. `name` is for errors. Nothing is created.
    pub fn new(paths: SessionPaths, name: impl Into<String>, durability: Durability) -> Self {
        Spill { paths, name: name.into(), durability }
    }

    /// Spills output that is in memory. `hint` reminds of where it comes from and becomes a part of the file's name.
    ///
    /// On disk when it returns: all of it, in a file of its own; with [`Durability::Data`] synced with its name.
    ///
    /// # Errors
    /// [`StoreError::Deleted`] where there is no session, [`StoreError::Escapes`] where a symbolic link stands in the place of
    /// its outputs, [`StoreError::Disk`]: there is no file. The caller still has the bytes: [`Preview::of`] shows what can
    /// be shown of them and says that the rest was not kept.
    pub fn bytes(&self, hint: &str, bytes: &[u8], size: PreviewSize) -> Result<Spilled> {
        self.reader(hint, bytes, size)
    }

    /// Spills everything that a reader gives. Memory is that of the preview.
    ///
    /// On disk when it returns: what [`Spill::bytes`] leaves.
    ///
    /// # Errors
    /// As [`Spill::bytes`], and [`StoreError::SpillInput`] if the reader fails: there is no file.
    pub fn reader(&self, hint: &str, reader: impl Read, size: PreviewSize) -> Result<Spilled> {
        let dir =
            make_own(&self.paths, &[layout::TMP], self.durability).map_err(|error| error.or_deleted(&self.name))?;
        let path = dir.join(new_name(hint));
        let temp = temp_name(&path);
        let written = self.write(reader, &temp, size).and_then(|preview| Ok(publish(&temp, &path).map(|()| preview)?));
        if written.is_err() {
            // The first error is the one to tell; a temporary file in `tmp/` harms nobody.
            drop(remove_file(&temp));
        }
        let preview = written?;
        if let Err(error) = self.durability.sync_dir(&dir) {
            drop(remove_file(&path));
            return Err(error.into());
        }
        Ok(Spilled { path, preview })
    }

    fn write(&self, mut reader: impl Read, temp: &Path, size: PreviewSize) -> Result<Preview> {
        let file = create_new(temp)?;
        let mut seen = Collector::new(size);
        let mut buffer = vec![0; BLOCK];
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(StoreError::SpillInput { path: temp.to_owned(), source }),
            };
            write(&file, temp, &buffer[..read]).map_err(DiskError::from)?;
            seen.push(&buffer[..read]);
        }
        self.durability.sync_data(&file, temp)?;
        Ok(seen.finish())
    }
}

fn new_name(hint: &str) -> String {
    let random: u64 = rand::rng().random();
    format!("{}-{random:016x}.txt", file_name::from_hint(hint, "output"))
}
