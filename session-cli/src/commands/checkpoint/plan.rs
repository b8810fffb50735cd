//! What a restore would do, for people and for machines.

use super::place::session_of;
use super::words;
use serde::Serialize;
use session_checkpoint::{Conflict, Kept, PlanSummary, Planned, RelPath, SharedPath};

/// Longer plans are cut where somebody is asked; `-n` shows all.
const SHOWN: usize = 40;

/// A plan in JSON.
#[derive(Debug, Serialize)]
pub(super) struct PlanDocument<'a> {
    target: String,
    writes: &'a [Planned],
    deletes: &'a [Planned],
    make_dirs: &'a [RelPath],
    remove_dirs: &'a [RelPath],
    kept: &'a [Kept],
    conflicts: &'a [Conflict],
    also_changed_by: Vec<SharedDocument<'a>>,
}

/// A path that another session changed too, in JSON.
#[derive(Debug, Serialize)]
pub(super) struct SharedDocument<'a> {
    path: &'a RelPath,
    session: String,
    turn: u32,
}

impl<'a> SharedDocument<'a> {
    pub(super) fn of(shared: &'a SharedPath) -> Self {
        SharedDocument { path: &shared.path, session: session_of(&shared.store), turn: shared.turn }
    }
}

impl<'a> PlanDocument<'a> {
    pub(super) fn of(target: String, plan: &'a PlanSummary) -> Self {
        PlanDocument {
            target,
            writes: &plan.writes,
            deletes: &plan.deletes,
            make_dirs: &plan.make_dirs,
            remove_dirs: &plan.remove_dirs,
            kept: &plan.kept,
            conflicts: &plan.conflicts,
            also_changed_by: plan.also_changed_by.iter().map(SharedDocument::of).collect(),
        }
    }
}

/// One line for each path.
pub(super) fn lines(plan: &PlanSummary) -> Vec<String> {
    let with = |word: &'static str| move |path: &RelPath| format!("{word} {}", words::path(path));
    let planned = |word, all: &[Planned]| all.iter().map(|one| &one.path).map(with(word)).collect::<Vec<_>>();
    let shared = |shared: &SharedPath| {
        let session = session_of(&shared.store);
        format!("also changed by {session}, turn {}: {}", shared.turn, words::path(&shared.path))
    };
    let mut lines = planned("write", &plan.writes);
    lines.extend(planned("delete", &plan.deletes));
    lines.extend(plan.make_dirs.iter().map(with("make directory")));
    lines.extend(plan.remove_dirs.iter().map(with("remove directory")));
    lines.extend(plan.kept.iter().map(words::kept));
    lines.extend(plan.conflicts.iter().map(words::conflict));
    lines.extend(plan.also_changed_by.iter().map(shared));
    lines
}

/// The lines that fit before a question.
pub(super) fn cut(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > SHOWN {
        let more = lines.len() - SHOWN;
        lines.truncate(SHOWN);
        lines.push(format!("and {more} more; -n shows all"));
    }
    lines
}
