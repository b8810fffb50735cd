//! How the checkpoints are, for who looks at whole sessions.

use crate::keep::VerifyDepth;
use crate::point::TurnRef;
use crate::refs::Family;
use crate::turns::TurnState;
use crate::{Error, Reader};
use session_core::checkpoint::{
    CheckpointDepth, CheckpointFault, CheckpointFaultKind, CheckpointHealth, CheckpointRef,
};
use std::path::PathBuf;

/// Looks at all checkpoints of a store.
///
/// # Errors
/// Failed reads of the store's own files.
pub(crate) fn examine(reader: &Reader, depth: CheckpointDepth) -> Result<CheckpointHealth, Error> {
    let turns = reader.refs().list(Family::Turn)?;
    let newest = turns.keys().next_back().map(|n| u64::from(*n));
    let mut faults = match depth {
        CheckpointDepth::Links => links(reader)?,
        CheckpointDepth::Contents => contents(reader)?,
    };
    if let Some(interrupted) = reader.interrupted()? {
        let what = format!("restoring {} was interrupted", interrupted.target);
        faults.push(fault(None, CheckpointFaultKind::Interrupted, what));
    }
    Ok(CheckpointHealth { newest, faults })
}

/// What is known without reading contents.
fn links(reader: &Reader) -> Result<Vec<CheckpointFault>, Error> {
    let turns = reader.turns()?;
    let mut faults: Vec<_> = turns
        .iter()
        .filter(|turn| turn.state == TurnState::Broken)
        .map(|turn| {
            let at = CheckpointRef::Taken(turn.turn.into());
            fault(Some(at), CheckpointFaultKind::Damaged, "something of it is missing or damaged".to_owned())
        })
        .collect();
    for (n, target) in reader.refs().list(Family::Safety)? {
        if target.is_none() {
            let at = CheckpointRef::Guard(n.into());
            faults.push(fault(Some(at), CheckpointFaultKind::Damaged, "its reference names no object".to_owned()));
        }
    }
    faults.extend(reader.set_aside()?.into_iter().map(aside));
    Ok(faults)
}

fn contents(reader: &Reader) -> Result<Vec<CheckpointFault>, Error> {
    let found = reader.verify(VerifyDepth::Contents)?;
    let mut faults = Vec::new();
    for turn in found.turns.iter().filter(|turn| turn.bad_n > 0) {
        let at = match turn.name.parse() {
            Ok(TurnRef::Turn(n)) => Some(CheckpointRef::Taken(n.into())),
            Ok(TurnRef::Safety(n)) => Some(CheckpointRef::Guard(n.into())),
            Ok(TurnRef::Latest) | Err(_) => None,
        };
        let what = format!("{} of its objects are missing or damaged", turn.bad_n);
        faults.push(fault(at, CheckpointFaultKind::Damaged, what));
    }
    for pack in found.packs {
        let what = format!("a pack in which {} objects are damaged", pack.objects);
        faults.push(CheckpointFault { path: Some(pack.path), ..fault(None, CheckpointFaultKind::Damaged, what) });
    }
    faults.extend(found.set_aside.into_iter().map(aside));
    Ok(faults)
}

fn aside(path: PathBuf) -> CheckpointFault {
    let what = "was found damaged and set aside".to_owned();
    CheckpointFault { path: Some(path), ..fault(None, CheckpointFaultKind::SetAside, what) }
}

fn fault(checkpoint: Option<CheckpointRef>, kind: CheckpointFaultKind, what: String) -> CheckpointFault {
    CheckpointFault { checkpoint, kind, path: None, what }
}
