//! What an argument of `import` stands for: the files of one conversation, or several such.

use crate::exit::Exit;
use crate::failure::Failure;
use sha2::{Digest as _, Sha256};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

const BUFFER: usize = 256 << 10;

/// Files that are read one after the other as one import.
#[derive(Debug)]
pub(super) struct Source {
    /// What a person called it.
    pub(super) label: String,
    files: Vec<Place>,
}

/// Where the bytes of a file are.
#[derive(Debug)]
enum Place {
    Path(PathBuf),
    /// Standard input, put down where it can be read twice.
    Spooled(File),
}

impl Source {
    fn of(path: &Path, files: Vec<PathBuf>) -> Self {
        Source { label: path.display().to_string(), files: files.into_iter().map(Place::Path).collect() }
    }

    /// Opens the files, each with its name.
    pub(super) fn open(&self) -> Result<Vec<(String, BufReader<File>)>, Failure> {
        self.files.iter().map(|place| place.open(&self.label)).collect()
    }

    /// Whether it begins as a bundle does.
    pub(super) fn is_bundle(&self) -> Result<bool, Failure> {
        let Some((name, mut reader)) = self.open()?.into_iter().next().filter(|_| !self.is_folder()) else {
            return Ok(false);
        };
        let beginning = reader.fill_buf().map_err(|error| Failure::input(&name, &error))?;
        Ok(session_store::is_bundle(beginning))
    }

    /// Whether it is a folder of several files.
    pub(super) fn is_folder(&self) -> bool {
        self.files.len() > 1
    }
}

impl Place {
    fn open(&self, label: &str) -> Result<(String, BufReader<File>), Failure> {
        let (name, file) = match self {
            Place::Path(path) => (path.display().to_string(), File::open(path)),
            Place::Spooled(file) => {
                let again = file.try_clone().and_then(|mut file| file.seek(SeekFrom::Start(0)).map(|_| file));
                (label.to_owned(), again)
            }
        };
        let file = file.map_err(|error| Failure::input(&name, &error))?;
        Ok((name, BufReader::with_capacity(BUFFER, file)))
    }
}

/// What the arguments stand for.
pub(super) fn sources(arguments: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for path in arguments {
        if path.as_os_str() == "-" {
            sources.push(spooled()?);
        } else if path.is_dir() {
            sources.extend(folder(path)?);
        } else {
            sources.push(Source::of(path, vec![path.clone()]));
        }
    }
    Ok(sources)
}

/// Standard input can be read once, and what is in it must be known before anything comes of it.
fn spooled() -> Result<Source, Failure> {
    let spooled = tempfile::tempfile().and_then(|mut file| {
        io::copy(&mut io::stdin().lock(), &mut file)?;
        Ok(file)
    });
    let file = spooled.map_err(|error| Failure::input("standard input", &error))?;
    Ok(Source { label: "-".to_owned(), files: vec![Place::Spooled(file)] })
}

/// A folder is one conversation in many files, or holds files of one conversation each, those of sub-agents behind the
/// others.
fn folder(path: &Path) -> Result<Vec<Source>, Failure> {
    let state = path.join("base_state.json");
    let mut events = entries(&path.join("events"), "json")?;
    if events.is_empty() && state.is_file() {
        events = entries(path, "json")?.into_iter().filter(|file| *file != state).collect();
    }
    if !events.is_empty() {
        let files = state.is_file().then_some(state).into_iter().chain(events);
        return Ok(vec![Source::of(path, files.collect())]);
    }
    let mut files = entries(path, "jsonl")?;
    for inner in folders(path)?.into_iter().chain([path.to_owned()]) {
        files.extend(entries(&inner.join("subagents"), "jsonl")?);
    }
    if files.is_empty() {
        return Err(Failure::new(Exit::Usage, format!("there is nothing to import in {}", path.display())).hint(
            "a folder has events of OpenHands (events/*.json), or sessions of Claude Code (*.jsonl, subagents/*.jsonl)",
        ));
    }
    Ok(files.into_iter().map(|file| Source::of(&file.clone(), vec![file])).collect())
}

/// The files of a folder with an ending, by their names; none where there is no folder.
fn entries(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let is_wanted = |path: &PathBuf| path.extension().is_some_and(|end| end == ending) && path.is_file();
    Ok(listed(folder)?.into_iter().filter(is_wanted).collect())
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let is_folder =
        |path: &PathBuf| !path.is_symlink() && path.is_dir() && path.file_name() != Some("subagents".as_ref());
    Ok(listed(folder)?.into_iter().filter(is_folder).collect())
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: io::Error| Failure::input(&folder.display().to_string(), &error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

/// Bytes on their way, counted, and as many of them as were there at the first look.
pub(super) struct Counted<'a, R> {
    reader: R,
    left: u64,
    digest: &'a RefCell<Sha256>,
    seen: &'a dyn Fn(u64) -> bool,
}

impl<'a, R: BufRead> Counted<'a, R> {
    /// At most `len` bytes of a reader. `seen` is told of all that go by, and says whether reading goes on.
    pub(super) fn new(reader: R, len: u64, digest: &'a RefCell<Sha256>, seen: &'a dyn Fn(u64) -> bool) -> Self {
        Counted { reader, left: len, digest, seen }
    }
}

impl<R: BufRead> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let len = bytes.len().min(buffer.len());
        buffer[..len].copy_from_slice(&bytes[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for Counted<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.reader.fill_buf()?;
        let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        Ok(&bytes[..len])
    }

    fn consume(&mut self, len: usize) {
        // What is consumed lies in the reader's buffer still.
        if let Ok(bytes) = self.reader.fill_buf() {
            self.digest.borrow_mut().update(&bytes[..len.min(bytes.len())]);
        }
        self.reader.consume(len);
        self.left = self.left.saturating_sub(len as u64);
        if !(self.seen)(len as u64) {
            self.left = 0;
        }
    }
}

/// The digits of a digest.
pub(super) fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
