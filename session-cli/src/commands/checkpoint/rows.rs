//! Checkpoints as rows and as JSON.

use super::at::{At, name};
use crate::output::when;
use chrono::{DateTime, Utc};
use serde::Serialize;
use session_checkpoint::{ChangedBy, Oid, Turn, TurnKind, TurnRef, TurnState};
use session_core::Timestamp;

/// One checkpoint, without what it changed.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// What it is called on the command line.
    pub(super) name: String,
    pub(super) turn: u32,
    pub(super) kind: &'static str,
    pub(super) time: Option<String>,
    pub(super) label: String,
    by: ChangedBy,
    complete: bool,
    files: u64,
    pub(super) changed: u64,
    pub(super) skipped: u64,
    restored_from: Option<String>,
    safety: Option<u32>,
    state: TurnState,
    pinned: bool,
    commit: String,
    #[serde(skip)]
    pub(super) ts: Option<Timestamp>,
}

impl Row {
    pub(super) fn of(at: At, turn: &Turn) -> Self {
        let kind = match (at, turn.kind) {
            (At::Reference(_), _) => "reference",
            (_, TurnKind::Turn) => "turn",
            (_, TurnKind::Restore) => "restore",
            (_, TurnKind::Safety) => "safety",
        };
        let ts = time(turn.time_ms).filter(|_| turn.state == TurnState::Good || turn.time_ms > 0);
        Row {
            name: at.to_string(),
            turn: turn.turn,
            kind,
            time: ts.as_ref().map(when::machine),
            label: turn.label.clone(),
            by: turn.by,
            complete: turn.complete,
            files: turn.files,
            changed: turn.changed_n,
            skipped: turn.skipped_n,
            restored_from: turn.restored_from.as_deref().map(name),
            safety: turn.safety,
            state: turn.state,
            pinned: turn.pinned,
            commit: turn.commit.to_string(),
            ts,
        }
    }

    /// One of ours.
    pub(super) fn ours(turn: &Turn) -> Self {
        let at = if turn.kind == TurnKind::Safety { TurnRef::Safety(turn.turn) } else { TurnRef::Turn(turn.turn) };
        Row::of(At::Ours(at), turn)
    }

    /// A safety snapshot of which only the name is left.
    pub(super) fn broken_safety(n: u32, commit: Oid) -> Self {
        Row {
            name: At::Ours(TurnRef::Safety(n)).to_string(),
            turn: n,
            kind: "safety",
            time: None,
            label: String::new(),
            by: ChangedBy::Session,
            complete: false,
            files: 0,
            changed: 0,
            skipped: 0,
            restored_from: None,
            safety: None,
            state: TurnState::Broken,
            pinned: false,
            commit: commit.to_string(),
            ts: None,
        }
    }

    /// What is not as it mostly is.
    pub(super) fn state(&self) -> String {
        let mut parts = Vec::new();
        match self.state {
            TurnState::Broken => parts.push("broken"),
            TurnState::Good if !self.complete => parts.push("incomplete"),
            TurnState::Good => parts.push("good"),
        }
        if self.pinned {
            parts.push("pinned");
        }
        parts.join(",")
    }

    /// Where it stands in the list. A restore and the snapshot that it takes first may be of one millisecond.
    pub(super) fn place(&self) -> (Option<Timestamp>, u8) {
        let within = match (self.kind, self.safety) {
            ("safety", _) => 1,
            (_, Some(_)) => 2,
            (_, None) => 0,
        };
        (self.ts, within)
    }

    pub(super) fn is_broken(&self) -> bool {
        self.state == TurnState::Broken
    }

    /// The time in the form for a person or for a machine.
    pub(super) fn when(&self, for_people: bool) -> String {
        match (&self.ts, &self.time) {
            (Some(ts), _) if for_people => when::relative(ts, Utc::now()),
            (_, Some(time)) => time.clone(),
            (_, None) => String::new(),
        }
    }
}

pub(super) fn time(ms: i64) -> Option<Timestamp> {
    DateTime::from_timestamp_millis(ms).map(|ts| ts.fixed_offset())
}
