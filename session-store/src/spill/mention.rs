//! Which spilled outputs a text mentions, and taking them along.

use crate::directory::{entries, own};
use crate::{Durability, Result, SessionPaths, StoreError};
use session_core::layout;
use session_disk::{DiskError, create_new, is_absent, open_regular, write};
use std::collections::{BTreeSet, HashSet};
use std::io::Read as _;

/// How much is copied at once.
const BLOCK: usize = 64 << 10;
/// The longest name of a file.
const MAX_NAME: usize = 255;

/// The names of the files in a session's place for spilled output. Names that are no text are nobody's mention.
pub(crate) fn names(paths: &SessionPaths) -> Result<HashSet<String>> {
    let mut names = HashSet::new();
    for entry in entries(&own(paths, &[layout::TMP])?)? {
        // Unfinished ones are hidden; a link leads elsewhere.
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        names.extend(entry.file_name().into_string().ok().filter(|name| is_file && !name.starts_with('.')));
    }
    Ok(names)
}

/// Adds the names among `known` that a line of a history mentions: as `tmp/<name>`, whatever stands before it.
pub(crate) fn mentions(line: &[u8], known: &HashSet<String>, into: &mut BTreeSet<String>) {
    if known.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(line);
    let marker = format!("{}/", layout::TMP);
    for (at, _) in text.match_indices(&marker) {
        let rest = &text[at + marker.len()..];
        let end = rest.find(|c: char| c == '"' || c == '\\' || c == '/' || c.is_control()).unwrap_or(rest.len());
        let mut name = &rest[..end];
        while name.len() > MAX_NAME {
            name = &name[..name.floor_char_boundary(MAX_NAME)];
        }
        // What follows the name in its sentence is not known; the longest that there is, is meant.
        while let Some((last, _)) = name.char_indices().next_back() {
            if known.contains(name) {
                into.insert(name.to_owned());
                break;
            }
            name = &name[..last];
        }
    }
}

/// Copies spilled outputs from one session to another. On disk when it returns: the files, synced as the durability says.
pub(crate) fn copy(from: &SessionPaths, to: &SessionPaths, names: &[String], durability: Durability) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let (from, to) = (own(from, &[layout::TMP])?, own(to, &[layout::TMP])?);
    for name in names {
        let (source, target) = (from.join(name), to.join(name));
        let (mut reader, _) = match open_regular(&source) {
            Ok(opened) => opened,
            // It went away since it was listed; then nobody can promise it.
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(StoreError::read(&source)(error)),
        };
        let file = create_new(&target)?;
        let mut block = vec![0; BLOCK];
        loop {
            match reader.read(&mut block).map_err(StoreError::read(&source))? {
                0 => break,
                read => write(&file, &target, &block[..read]).map_err(DiskError::from)?,
            }
        }
        durability.sync_data(&file, &target)?;
    }
    Ok(durability.sync_dir(&to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t01_a_mention_is_found_wherever_it_stands_and_nothing_else_is() {
        let known: HashSet<String> = ["a-1.txt", "a-1", "b c.txt", "d.txt"].map(str::to_owned).into();
        let line = br#"{"content":"in tmp/a-1.txt, and (/w/demo/tmp/b c.txt). tmp/none.txt tmp/\u0064.txt xtmp/d.tx"}"#;
        let mut found = BTreeSet::new();
        mentions(line, &known, &mut found);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a-1.txt", "b c.txt"]);
    }
}
