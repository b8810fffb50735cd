//! The start of a turn, which is written with the turn's first event, whoever appends it.
//!
//! A turn's events come from the process that runs it and from its children; a turn without any leaves no trace in the
//! history. So the event of the start waits in a file beside the turn's marker, and who appends first takes it along,
//! under the history's lock.

use crate::directory::own;
use crate::{Result, SessionPaths};
use session_core::{Event, Extension, TurnPhase, layout};
use session_disk::{Durability, read_regular, remove_file, remove_file_if_there, replace};
use session_proc::TurnMarker;
use std::fs;

/// An id is short.
const MAX_BYTES: u64 = 64 * 1024;

/// Lets a turn's start wait. On disk when it returns: the file, not synced: after a power cut no turn runs.
pub(super) fn put(paths: &SessionPaths, start: &Event) -> Result<()> {
    let mut line = Vec::new();
    start.encode(&mut line);
    Ok(replace(&paths.turn_start(), &line, Durability::Os)?)
}

/// The start that waits, if it is that of the live turn. What cannot be read is none: an append must not fail by it.
pub(super) fn waiting(paths: &SessionPaths) -> Option<Event> {
    let (id, start) = read(paths)?;
    let live = TurnMarker::read(&paths.proc()).ok()??;
    (live.turn_id.as_deref() == Some(id.as_str())).then_some(start)
}

/// Takes note that the start is in the history.
pub(super) fn written(paths: &SessionPaths) {
    // If it stays it is written once more, which says nothing new.
    drop(remove_file(&paths.turn_start()));
}

/// Takes back a start that still waits. True if there was one: then nothing was appended since.
///
/// # Errors
/// When the file cannot be removed.
pub(super) fn take_back(paths: &SessionPaths, id: &str) -> Result<bool> {
    let waits = read(paths).is_some_and(|(waiting, _)| waiting == id);
    remove_file_if_there(&paths.turn_start())?;
    Ok(waits)
}

fn read(paths: &SessionPaths) -> Option<(String, Event)> {
    let path = paths.turn_start();
    // As a rule there is none, and to look for it costs less than to try to open it.
    fs::symlink_metadata(&path).ok()?;
    own(paths, &[layout::PROC]).ok()?;
    let (bytes, _) = read_regular(&path, MAX_BYTES).ok()?;
    let bytes = bytes.strip_suffix(b"\n")?;
    let event = Event::parse(bytes).ok()??;
    match event.extension() {
        Some(Extension::Turn(mark)) if mark.phase == TurnPhase::Start => Some((mark.id, event)),
        _ => None,
    }
}
