//! The bytes of a session's files on their way into a bundle, with secrets masked or as they are.

use super::look::{Look, Part};
use crate::secrets::{Failed, Shape, in_checkpoints, masked, pieces, shape};
use crate::{HistoryView, Result, SessionPaths, StoreError};
use session_core::checkpoint::Checkpointer;
use session_core::{SessionPath, layout};
use session_disk::open_regular;
use session_secrets::{Finder, Known};
use std::io::{self, Read};
use std::path::PathBuf;

const BUFFER: usize = 128 << 10;
const OF_CHECKPOINTER: [&str; 3] = ["checkpoints/repo.git", "checkpoints/meta.json", "checkpoints/turns.jsonl"];

/// Finds out what is secret in a session: what is known by what stands around it is known from then on everywhere.
///
/// # Errors
/// [`StoreError::NotMasked`] for a file of which that cannot be told; [`StoreError::SecretInCheckpoint`], since checkpoints
/// are not masked.
pub(super) fn finder(
    paths: &SessionPaths,
    look: &Look,
    checkpoints: Option<&dyn Checkpointer>,
    progress: &mut dyn FnMut(u64),
) -> Result<Finder> {
    let mut known = Known::new();
    let finder = Finder::new();
    for (path, part) in &look.parts {
        let Some(shape) = shape_of(path, part) else { continue };
        let source = Source::open(paths, path, part, &look.history)?;
        let read = pieces(source.reader, shape, &finder, &mut |piece| {
            if let Some(why) = piece.unexamined {
                return Err(Failed::Write(StoreError::NotMasked { path: source.path.clone(), why }));
            }
            known.remember(&piece.found);
            progress(piece.bytes.len() as u64);
            Ok(())
        });
        read.map_err(|failed| failed.of(&source.path))?;
    }
    for path in look.parts.keys().filter(|path| path.is_in(layout::CHECKPOINTS)) {
        if checkpoints.is_none() || !is_of_checkpointer(path) {
            let path = paths.dir().join(path);
            return Err(StoreError::NotMasked { path, why: "nobody here reads such checkpoints".to_owned() });
        }
    }
    if let Some(checkpoints) = checkpoints {
        let failed = |source| StoreError::Checkpoint { path: paths.checkpoints(), source };
        let found = in_checkpoints(checkpoints, &known).map_err(failed)?;
        if let Some(first) = found.first() {
            let (path, files) = (paths.checkpoints(), found.len() as u64);
            return Err(StoreError::SecretInCheckpoint { path, first: first.path.clone(), files });
        }
    }
    Ok(Finder::knowing(&known))
}

/// Whether a file belongs to the checkpoints that a [`Checkpointer`] looks through. Beside them may be the reference's.
fn is_of_checkpointer(path: &SessionPath) -> bool {
    OF_CHECKPOINTER.iter().any(|own| path.as_str() == *own || path.is_in(own))
}

/// Gives the bytes of a part, in pieces, masked where there is a finder; how many secrets were masked.
pub(super) fn stream(
    paths: &SessionPaths,
    (path, part): (&SessionPath, &Part),
    history: &HistoryView,
    finder: Option<&Finder>,
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<u64> {
    let source = Source::open(paths, path, part, history)?;
    let Some((finder, shape)) = finder.zip(shape_of(path, part)) else {
        copy(source, visit)?;
        return Ok(0);
    };
    let mut places = 0;
    let read = pieces(source.reader, shape, finder, &mut |piece| {
        if let Some(why) = piece.unexamined {
            return Err(Failed::Write(StoreError::NotMasked { path: source.path.clone(), why }));
        }
        places += piece.found.len() as u64;
        visit(&masked(piece, |_| true)).map_err(Failed::Write)
    });
    read.map_err(|failed| failed.of(&source.path))?;
    Ok(places)
}

/// What a part is made of, if it is text that can be masked.
fn shape_of(path: &SessionPath, part: &Part) -> Option<Shape> {
    let len = match part {
        Part::Dir => return None,
        Part::Bytes(bytes) => bytes.len() as u64,
        Part::History(len) | Part::File(_, len) => *len,
    };
    (!path.is_in(layout::CHECKPOINTS)).then(|| shape(path.as_str(), len))
}

/// Where the bytes of a part come from.
struct Source<'a> {
    path: PathBuf,
    reader: Box<dyn Read + 'a>,
}

impl<'a> Source<'a> {
    fn open(paths: &SessionPaths, path: &SessionPath, part: &'a Part, history: &'a HistoryView) -> Result<Self> {
        let (path, reader): (PathBuf, Box<dyn Read + 'a>) = match part {
            Part::Dir => (paths.dir().join(path), Box::new(io::empty())),
            Part::Bytes(bytes) => (paths.dir().join(path), Box::new(&bytes[..])),
            Part::History(_) => (history.path().to_owned(), Box::new(history.reader())),
            Part::File(path, len) => {
                let (file, _) = open_regular(path).map_err(StoreError::read(path))?;
                (path.clone(), Box::new(file.take(*len)))
            }
        };
        Ok(Source { path, reader })
    }
}

fn copy(mut source: Source<'_>, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match source.reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => visit(&buffer[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(StoreError::read(&source.path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s02_what_cannot_be_looked_through_is_not_written_and_the_error_names_it() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let paths = SessionPaths::new(dir.path());
        let line = b"{}\n";
        std::fs::write(paths.history(), line).expect("there is room");
        let history = HistoryView::open(&paths, session_core::Limits::default()).expect("it is there");
        // Longer than any line that is looked through, and behind one that is fine.
        let bytes = [&line[..], &vec![b'x'; 33 << 20]].concat();
        let (path, part) = (SessionPath::new("tmp/oaks.jsonl").expect("it is a path"), Part::Bytes(bytes));
        let finder = Finder::new();
        let mut given = Vec::new();
        let mut stream = |finder| {
            stream(&paths, (&path, &part), &history, finder, &mut |bytes| {
                given.push(bytes.len());
                Ok(())
            })
        };
        let refused = stream(Some(&finder));
        assert!(
            matches!(&refused, Err(StoreError::NotMasked { path, .. }) if path.ends_with("tmp/oaks.jsonl")),
            "{refused:?}"
        );
        assert_eq!(stream(None).expect("as it is"), 0);
        assert_eq!(given[0], line.len(), "nothing of the long line was given");
        assert_eq!(given[1..].iter().sum::<usize>(), line.len() + (33 << 20));
    }
}
