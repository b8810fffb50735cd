//! Which spilled outputs a message points to.
//!
//! The names are looked for in the bytes of the line, and in what these become as escapes are undone layer by layer: in
//! content, reasoning and results, and in the arguments of a call, which are JSON in a string. So it does not matter how
//! who wrote the line escapes. A line that cannot mention anything costs a few searches in its bytes, another one a pass over
//! it for each layer of escapes that it has.

use crate::directory::{entries, own};
use crate::{Durability, Result, SessionPaths, StoreError};
use memchr::{memchr, memmem};
use session_core::{json, layout};
use session_disk::{DiskError, create_new, is_absent, open_regular, write};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::ops::Bound;

/// How much is copied at once.
const BLOCK: usize = 64 << 10;
/// The longest name of a file.
const MAX_NAME: usize = 255;
/// How often escapes are undone: JSON in JSON in JSON in JSON.
const LAYERS: usize = 4;

/// One of these is in each line that mentions anything: the directory's name, or the beginning of an escape that one of its
/// letters, or another backslash, may be hidden in.
const HINTS: [&str; 4] = [layout::TMP, r"\u005", r"\u006", r"\u007"];

/// The names of the files in a session's place for spilled output. Names that are no text are nobody's mention.
pub(crate) fn names(paths: &SessionPaths) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in entries(&own(paths, &[layout::TMP])?)? {
        // Unfinished ones are hidden; a link leads elsewhere.
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        names.extend(entry.file_name().into_string().ok().filter(|name| is_file && !name.starts_with('.')));
    }
    Ok(names)
}

/// Adds the names among `known` that a line of a history mentions: as `tmp/<name>`, whatever stands before it, and however
/// it is escaped.
pub(crate) fn mentions(line: &[u8], known: &BTreeSet<String>, into: &mut BTreeSet<String>) {
    if known.is_empty() || HINTS.iter().all(|hint| memmem::find(line, hint.as_bytes()).is_none()) {
        return;
    }
    let mut text = String::from_utf8_lossy(line);
    let marker = format!("{}/", layout::TMP);
    for _ in 0..=LAYERS {
        for (at, _) in text.match_indices(&marker) {
            into.extend(longest(&text[at + marker.len()..], known).cloned());
        }
        let Some(next) = unescaped(&text) else { return };
        text = Cow::Owned(next);
    }
}

/// The longest of the names that a text begins with. What follows a name in its sentence is not known, so that the longest
/// that there is, is meant.
fn longest<'a>(text: &str, known: &'a BTreeSet<String>) -> Option<&'a String> {
    let mut text = &text[..text.floor_char_boundary(MAX_NAME)];
    loop {
        // All names between one that the text begins with and the text itself begin with that one, too.
        let name = known.range::<str, _>((Bound::Unbounded, Bound::Included(text))).next_back()?;
        if text.starts_with(name.as_str()) {
            return Some(name);
        }
        let both = name.chars().zip(text.chars()).take_while(|(a, b)| a == b);
        text = &text[..both.map(|(c, _)| c.len_utf8()).sum()];
    }
}

/// The text with one layer of escapes undone; `None` where there is none.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::new();
    let (mut done, mut at) = (0, 0);
    while let Some(next) = memchr(b'\\', &text.as_bytes()[at..]) {
        at += next;
        let Some((c, len)) = json::escape(&text.as_bytes()[at..]) else {
            at += 1;
            continue;
        };
        out.push_str(&text[done..at]);
        out.push(c);
        at += len;
        done = at;
    }
    (done > 0).then(|| out + &text[done..])
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
    use session_core::{Event, Message, ToolCall, parse_time};

    #[test]
    fn t01_a_mention_is_found_wherever_it_stands_and_nothing_else_is() {
        let line = br#"{"content":"in tmp/a-1.txt, and (/w/demo/tmp/b c.txt). tmp/none.txt xtmp/d.tx tm\u0070/"}"#;
        assert_eq!(found(line, &["a-1.txt", "a-1", "b c.txt", "d.txt"]), ["a-1.txt", "b c.txt"]);
        assert_eq!(found(b"no text: \xff tmp/\xff.txt tmp/d.txt", &["d.txt", "\u{fffd}"]), ["d.txt", "\u{fffd}"]);
    }

    #[test]
    fn t01_a_mention_is_found_however_its_characters_are_escaped() {
        let in_arguments = Message {
            tool_calls: [ToolCall {
                arguments: r#"{"path":"tmp/say \"hi\".txt","or":"tmp\/R\u0026D.txt"}"#.into(),
                ..ToolCall::default()
            }]
            .into(),
            ..Message::assistant("")
        };
        let in_reasoning = Message { reasoning_content: "tmp/R&D.txt".into(), ..Message::assistant("") };
        let own = |message: Message| {
            let mut line = Vec::new();
            Event::message(parse_time("2026-01-02T03:04:05Z").expect("it is a time"), message).encode(&mut line);
            line
        };
        let plain = |text: &str| format!("{{\"content\":\"{text}\"}}").into_bytes();
        for (line, wanted) in [
            (own(Message::user("tmp/R&D.txt and tmp/say \"hi\".txt")), &["R&D.txt", "say \"hi\".txt"][..]),
            (own(in_reasoning), &["R&D.txt"]),
            (own(in_arguments), &["R&D.txt", "say \"hi\".txt"]),
            (own(Message::user(r"tmp/a\b.txt")), &[r"a\b.txt"]),
            (plain(r"tmp/\u0064.txt tm\u0070\u002F\u0065.txt"), &["d.txt", "e.txt"]),
            (plain(r"tmp/gr\u00f6\u00DFe \ud83c\udf33.txt"), &["größe 🌳.txt"]),
            (plain(r"\\u0074mp/x \\\\n tmp\\\/\\u0064.txt"), &["d.txt"]),
            (plain(r"tmp/\ud83c.txt tmp/\x.txt tmp/d\.txt tmp/\u006"), &[]),
        ] {
            let known = ["R&D.txt", "say \"hi\".txt", "d.txt", "e.txt", r"a\b.txt", "größe 🌳.txt"];
            let line_text = String::from_utf8_lossy(&line);
            assert_eq!(found(&line, &known), wanted, "{line_text}");
        }
    }

    fn found(line: &[u8], known: &[&str]) -> Vec<String> {
        let mut found = BTreeSet::new();
        mentions(line, &known.iter().copied().map(str::to_owned).collect(), &mut found);
        found.into_iter().collect()
    }
}
