//! What is said in a session while its successor is made.

use crate::{Result, Session, StoreError, spill};
use session_core::{Conversation, Event, Item, Message, Replay, SessionName};
use session_disk::remove_file_if_there;
use std::collections::BTreeSet;

/// Appends to the successor what was said in the source behind so many bytes, and what an earlier try has not: a child of
/// an earlier turn needs no lock to say it. Gives how many messages that is in all.
///
/// # Errors
/// [`StoreError::Exists`] where the successor holds something else; the step that failed. Repeating it does the rest.
pub(super) fn carry(source: &Session, upto: u64, successor: &Session) -> Result<u64> {
    let events = said_behind(source, upto)?;
    let there = successor.load()?.messages;
    // The first is the summary.
    let had = there.len().saturating_sub(1);
    let mut wanted = written(&events, successor)?;
    wanted.truncate(had);
    if there.is_empty() || there[1..] != wanted {
        return Err(StoreError::Exists { name: SessionName::new(successor.name())? });
    }
    let late = &events[had..];
    copy_spills(source, successor, late)?;
    successor.append(late)?;
    Ok(events.len() as u64)
}

/// The messages of events, as they are read where the successor has them.
fn written(events: &[Event], successor: &Session) -> Result<Vec<Message>> {
    let (path, mut lines) = (successor.paths().history(), Vec::new());
    for event in events {
        let from = lines.len();
        event.encode(&mut lines);
        lines.pop();
        successor.redaction().line(event, &mut lines, from, (0, &path))?;
        lines.push(b'\n');
    }
    let read = Conversation::read(&lines[..], successor.options().limits);
    Ok(read.map_err(StoreError::read(&path))?.messages)
}

/// Copies what events point to. Somebody may have died over a copy: one that is shorter is made again.
fn copy_spills(source: &Session, successor: &Session, events: &[Event]) -> Result<()> {
    let (known, mut mentioned) = (spill::names(source.paths())?, BTreeSet::new());
    for event in events {
        let mut line = Vec::new();
        event.encode(&mut line);
        spill::mentions(&line, &known, &mut mentioned);
    }
    let bytes = |session: &Session, name: &String| {
        let path = session.paths().tmp().join(name);
        path.symlink_metadata().map(|metadata| metadata.len()).ok()
    };
    mentioned.retain(|name| bytes(source, name) != bytes(successor, name));
    for name in &mentioned {
        remove_file_if_there(&successor.paths().tmp().join(name))?;
    }
    let mentioned: Vec<String> = mentioned.into_iter().collect();
    spill::copy(source.paths(), successor.paths(), &mentioned, successor.options().durability)
}

/// What was said behind so many bytes and is live, if nothing before them is looked at.
fn said_behind(source: &Session, upto: u64) -> Result<Vec<Event>> {
    let view = source.view()?;
    // As a rule nobody has said anything, and there is nothing to be read.
    let items = (view.len_bytes() > upto).then(|| view.forwards());
    let mut live = Replay::new();
    for item in items.into_iter().flatten() {
        let Item::Record(record) = view.told(item)? else { continue };
        if record.place.offset >= upto {
            let event = record.event.clone();
            live.event(&record.event.effect(), || event);
        }
    }
    Ok(live.into_live().into_iter().map(|event| *event).collect())
}
