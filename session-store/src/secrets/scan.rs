//! Looking for the secrets of a session.

use super::files::{SessionFile, backups, files};
use super::pieces::{Piece, pieces};
use crate::{HistoryView, Result, SessionPaths};
use session_core::checkpoint::{CheckpointError, CheckpointedFile, Checkpointer};
use session_core::{Limits, layout};
use session_disk::{is_absent, open_regular};
use session_secrets::{Finder, Form, Known};
use std::io;

/// A secret in a file of a session. The secret itself is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretHit {
    /// The file, relative to the session's directory; of a flat file its name.
    pub file: String,
    /// The line, from 1, in a file of lines.
    pub line: Option<u64>,
    /// Where its first byte is in the file.
    pub offset: u64,
    /// The rule that knows it.
    pub rule: &'static str,
    /// What the rule finds, in a sentence.
    pub description: &'static str,
    /// The first characters of it, four at most.
    pub beginning: String,
    /// How long it is.
    pub bytes: u64,
    /// Whether it was recognised by its own bytes, since it stands elsewhere in the session with what tells it.
    pub by_itself: bool,
}

/// What a session was found to hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SecretScan {
    /// The secrets: by file, the history last, in the order of its bytes.
    pub hits: Vec<SecretHit>,
    /// Files of checkpoints that hold a secret.
    pub checkpoints: Vec<CheckpointedFile>,
    /// What could not be looked through: the file, with its line where it has some, and why.
    pub unexamined: Vec<(String, String)>,
    /// Backups of an earlier scrub or repair, by their paths in the session. They are not looked through, and hold what
    /// was there before.
    pub backups: Vec<String>,
    /// How many files were looked through.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// Looks through a session: by the rules first, and where that found something once more, for the same secrets without
/// what told them. `progress` is told how many bytes were read.
pub(super) fn scan(
    paths: &SessionPaths,
    limits: Limits,
    checkpoints: Option<&dyn Checkpointer>,
    progress: &mut dyn FnMut(u64),
) -> Result<(SecretScan, Known)> {
    let files = files(paths)?;
    let (mut result, known) = by_rules(paths, &files, limits, progress)?;
    if !known.is_empty() {
        result = through(paths, &files, limits, &Finder::knowing(&known), &mut |_| {}, progress)?;
    }
    match checkpoints.map_or(Ok(Vec::new()), |checkpoints| in_checkpoints(checkpoints, &known)) {
        Ok(found) => result.checkpoints = found,
        // The oldest of them may be broken, and the rest of the session is not.
        Err(error) => result.unexamined.push((layout::CHECKPOINTS.to_owned(), error.to_string())),
    }
    result.backups = backups(paths)?;
    Ok((result, known))
}

/// Looks through a session by the rules only, for what is known of its secrets then.
pub(super) fn known(paths: &SessionPaths, limits: Limits) -> Result<Known> {
    Ok(by_rules(paths, &files(paths)?, limits, &mut |_| {})?.1)
}

fn by_rules(
    paths: &SessionPaths,
    files: &[SessionFile],
    limits: Limits,
    progress: &mut dyn FnMut(u64),
) -> Result<(SecretScan, Known)> {
    let mut known = Known::new();
    let scan = through(paths, files, limits, &Finder::new(), &mut |piece| known.remember(&piece.found), progress)?;
    Ok((scan, known))
}

fn through(
    paths: &SessionPaths,
    files: &[SessionFile],
    limits: Limits,
    finder: &Finder,
    told: &mut dyn FnMut(&Piece),
    progress: &mut dyn FnMut(u64),
) -> Result<SecretScan> {
    let mut scan = SecretScan { files: files.len() as u64, ..SecretScan::default() };
    for file in files {
        let mut visit = |piece: Piece| {
            told(&piece);
            scan.add(file, &piece);
            progress(piece.bytes.len() as u64);
            Ok::<(), io::Error>(())
        };
        let read = if file.is_history(paths) {
            let view = HistoryView::open(paths, limits)?;
            pieces(view.reader(), file.shape, finder, &mut visit)
        } else {
            match open_regular(&file.path) {
                Ok((reader, _)) => pieces(reader, file.shape, finder, &mut visit),
                // It went away since it was listed.
                Err(error) if is_absent(&error) => Ok(()),
                Err(error) => Err(error),
            }
        };
        // What cannot be read keeps nothing else from being looked through.
        scan.unexamined.extend(read.err().map(|error| (file.shown.clone(), error.to_string())));
    }
    Ok(scan)
}

impl SecretScan {
    fn add(&mut self, file: &SessionFile, piece: &Piece) {
        self.bytes += piece.bytes.len() as u64;
        for found in &piece.found {
            self.hits.push(SecretHit {
                file: file.shown.clone(),
                line: piece.line,
                offset: piece.offset + found.at.start as u64,
                rule: found.rule,
                description: found.description,
                beginning: found.secret.beginning(),
                bytes: found.secret.byte_len() as u64,
                by_itself: found.by_itself,
            });
        }
        if let Some(why) = &piece.unexamined {
            let line = piece.line.map(|line| format!(", line {line}")).unwrap_or_default();
            self.unexamined.push((format!("{}{line}", file.shown), why.clone()));
        }
    }
}

/// Files of checkpoints that hold a secret. What is no text is passed over, as git does it: a NUL among its first bytes.
pub(crate) fn in_checkpoints(
    checkpoints: &dyn Checkpointer,
    known: &Known,
) -> Result<Vec<CheckpointedFile>, CheckpointError> {
    const LOOKED_AT: usize = 8_000;
    let finder = Finder::knowing(known);
    checkpoints.find_files(&mut |bytes| {
        let is_binary = memchr::memchr(0, &bytes[..bytes.len().min(LOOKED_AT)]).is_some();
        // What cannot be judged is told rather than passed over.
        !is_binary && finder.examine(bytes, Form::Text).map_or(true, |examined| !examined.found.is_empty())
    })
}
