//! Which checkpoint a person means.

use crate::context::Context;
use crate::target;
use clap_complete::{ArgValueCompleter, CompletionCandidate};
use session_checkpoint::{ParseTurnRefError, Reader, TurnRef};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::str::FromStr;

/// A checkpoint, of whichever repository, or the workspace as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// One of ours.
    Ours(TurnRef),
    /// A turn of the reference's repository.
    Reference(u32),
    /// The workspace.
    Disk,
}

const REFERENCE: &str = "reference:";

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "disk" {
            return Ok(At::Disk);
        }
        if let Some(digits) = text.strip_prefix(REFERENCE) {
            // The reference counts from 0.
            return digits.parse().map(At::Reference).map_err(|_| format!("{digits:?} is no number of a turn"));
        }
        text.parse().map(At::Ours).map_err(|error: ParseTurnRefError| error.to_string())
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Ours(at) => f.write_str(&name(&at.to_string())),
            At::Reference(n) => write!(f, "{REFERENCE}{n}"),
            At::Disk => f.write_str("disk"),
        }
    }
}

/// A checkpoint's name as people type it: `3`, `safety:2`.
pub(super) fn name(name: &str) -> String {
    match (name.strip_prefix("turn-"), name.strip_prefix("safety-")) {
        (Some(n), _) => n.to_owned(),
        (_, Some(n)) => format!("safety:{n}"),
        _ => name.to_owned(),
    }
}

/// A checkpoint that can be restored or shown, which the disk is not.
pub(super) fn kept(text: &str) -> Result<At, String> {
    match text.parse()? {
        At::Disk => Err("the disk is no checkpoint".to_owned()),
        at => Ok(at),
    }
}

/// A turn of ours.
pub(super) fn turn(text: &str) -> Result<u32, String> {
    match text.parse()? {
        At::Ours(TurnRef::Turn(n)) => Ok(n),
        _ => Err("only turns have a number that can be pinned".to_owned()),
    }
}

/// Completes the checkpoints of the session that the words before name.
pub(super) fn completer() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let typed = typed.to_string_lossy();
        let candidates = session_of_the_words(std::env::args_os()).map(|session| candidates(&session));
        candidates
            .unwrap_or_default()
            .into_iter()
            .filter(|one| one.get_value().to_string_lossy().starts_with(&*typed))
            .collect()
    })
}

/// The session among the words of a command line that is being completed: the first behind `checkpoint VERB` that is no
/// flag.
fn session_of_the_words(words: impl Iterator<Item = OsString>) -> Option<String> {
    let mut words = words.skip_while(|word| word != "checkpoint").skip(2);
    words.find(|word| !word.to_string_lossy().starts_with('-')).map(|word| word.to_string_lossy().into_owned())
}

fn candidates(session: &str) -> Vec<CompletionCandidate> {
    let Some(context) = Context::for_completion() else { return Vec::new() };
    let Ok(name) = target::resolve(&context, session) else { return Vec::new() };
    let Ok(paths) = context.store.paths(&name) else { return Vec::new() };
    let store = paths.checkpoints();
    let mut found = Vec::new();
    if let Ok(reader) = Reader::open(&store) {
        let turns = reader.turns().unwrap_or_default();
        found.extend(turns.iter().rev().map(|turn| candidate(turn.turn.to_string(), &turn.label)));
        found.extend(reader.safeties().unwrap_or_default().keys().rev().map(|n| candidate(format!("safety:{n}"), "")));
    }
    if let Ok(reader) = Reader::open_reference(&store) {
        let turns = reader.turns().unwrap_or_default();
        found.extend(turns.iter().rev().map(|turn| candidate(At::Reference(turn.turn).to_string(), &turn.label)));
    }
    found
}

fn candidate(value: String, label: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help((!label.is_empty()).then(|| target::shown_beside(label)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_do_not() {
        for text in ["3", "safety:2", "reference:0", "latest", "disk"] {
            assert_eq!(text.parse::<At>().expect(text).to_string(), text);
        }
        assert_eq!("turn-3".parse(), Ok(At::Ours(TurnRef::Turn(3))));
        for bad in ["", "0", "safety:0", "reference:x", "HEAD"] {
            assert!(bad.parse::<At>().is_err(), "{bad}");
        }
        assert!(kept("disk").is_err() && turn("safety:1").is_err());
    }

    #[test]
    fn the_session_is_the_first_word_behind_the_verb_that_is_no_flag() {
        let words = |line: &str| session_of_the_words(line.split(' ').map(OsString::from));
        assert_eq!(words("session -- session checkpoint show --json oaks 3").as_deref(), Some("oaks"));
        assert_eq!(words("session -- session checkpoint show"), None);
    }
}
