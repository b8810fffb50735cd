//! What a restore or an undo has done, or would do: printing it, and recording it.

use super::place::Place;
use super::plan::{PlanDocument, SharedDocument};
use super::record::{Mark, record};
use super::{at, words};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::shell::quoted;
use serde::Serialize;
use session_checkpoint::{Conflict, FailedPath, Kept, PlanSummary, RelPath, Restored};
use std::path::Path;

/// The verb that is to answer.
pub(super) struct Answer<'a> {
    pub(super) context: &'a Context,
    pub(super) place: &'a Place,
    pub(super) verb: &'static str,
    /// What was asked for, as a person names it.
    pub(super) target: String,
    pub(super) workspace: &'a Path,
}

#[derive(Serialize)]
struct Document<'a> {
    session: &'a str,
    workspace: String,
    plan: Option<PlanDocument<'a>>,
    restored: Option<RestoredDocument<'a>>,
    undo: Option<String>,
}

#[derive(Serialize)]
struct RestoredDocument<'a> {
    target: String,
    turn: u32,
    safety: u32,
    commit: String,
    restored: u64,
    deleted: u64,
    unchanged: u64,
    failed: &'a [FailedPath],
    raced: &'a [RelPath],
    conflicts: &'a [Conflict],
    kept: &'a [Kept],
    rescued: Vec<String>,
    also_changed_by: Vec<SharedDocument<'a>>,
}

impl Answer<'_> {
    fn document<'a>(&'a self, plan: Option<&'a PlanSummary>, restored: Option<&'a Restored>) -> Document<'a> {
        let restored = restored.map(|restored| RestoredDocument {
            target: at::name(&restored.target),
            turn: restored.turn,
            safety: restored.safety,
            commit: restored.commit.to_string(),
            restored: restored.restored,
            deleted: restored.deleted,
            unchanged: restored.unchanged,
            failed: &restored.failed,
            raced: &restored.raced,
            conflicts: &restored.conflicts,
            kept: &restored.kept,
            rescued: restored.rescued.iter().map(|path| path.display().to_string()).collect(),
            also_changed_by: restored.also_changed_by.iter().map(SharedDocument::of).collect(),
        });
        Document {
            session: self.place.name.as_str(),
            workspace: self.workspace.display().to_string(),
            plan: plan.map(|plan| PlanDocument::of(self.target.clone(), plan)),
            undo: restored.as_ref().map(|_| self.undo()),
            restored,
        }
    }

    /// A plan and nothing else: a dry run, or nothing to do.
    pub(super) fn planned(&self, plan: Option<&PlanSummary>) -> Result<Exit, Failure> {
        if self.context.out.is_json() {
            self.context.out.document(self.verb, true, &[], &self.document(plan, None))?;
        }
        if plan.is_some_and(PlanSummary::is_empty) {
            self.context.out.note(&format!("nothing to do: the workspace is as {} has it", self.target));
            return Ok(Exit::No);
        }
        Ok(Exit::Done)
    }

    /// The work is done.
    pub(super) fn done(&self, plan: Option<&PlanSummary>, restored: &Restored, what: &str) -> Result<Exit, Failure> {
        let counts =
            format!("{} written, {} deleted, {} unchanged", restored.restored, restored.deleted, restored.unchanged);
        let failed =
            if restored.failed.is_empty() { String::new() } else { format!(", {} failed", restored.failed.len()) };
        let undo = self.undo();
        let note = format!("{what}: {counts}{failed}; `{undo}` takes it back");
        let mut diagnostics = self.diagnostics(restored);
        diagnostics.extend(record(self.context, self.place, Mark::restored(restored.turn, note)));
        let complete = restored.is_exact() && !diagnostics.iter().any(|one| one.code == "not-recorded");
        let out = &self.context.out;
        if out.is_json() {
            out.document(self.verb, complete, &diagnostics, &self.document(plan, Some(restored)))?;
        } else if out.is_terminal() {
            out.diagnostics(&diagnostics);
            out.line(&format!("{what}: {counts}{failed}; the workspace is turn {} now", restored.turn))?;
            out.line(&format!("undo: {undo}"))?;
        } else {
            out.diagnostics(&diagnostics);
            let counts = [restored.restored, restored.deleted, restored.unchanged, restored.failed.len() as u64];
            let counts = counts.map(|count| count.to_string()).join("\t");
            out.line(&format!("{}\t{}\t{counts}", self.target, restored.turn))?;
            out.note(&format!("undo: {undo}"));
        }
        Ok(if complete { Exit::Done } else { Exit::Partial })
    }

    fn diagnostics(&self, restored: &Restored) -> Vec<Diagnostic> {
        let one = |code: &str, text: String| Diagnostic {
            code: code.to_owned(),
            session: Some(self.place.name.to_string()),
            line: None,
            offset: None,
            text,
        };
        let failed =
            |failed: &FailedPath| one("not-restored", format!("{}: {}", words::path(&failed.path), failed.why));
        let mut all: Vec<Diagnostic> = restored.failed.iter().map(failed).collect();
        all.extend(restored.conflicts.iter().map(|conflict| one("left-in-conflict", words::conflict(conflict))));
        let raced = |path: &RelPath| one("changed-meanwhile", format!("{} changed meanwhile", words::path(path)));
        all.extend(restored.raced.iter().map(raced));
        let rescued =
            |path: &std::path::PathBuf| one("rescued", format!("what was in the way is in {}", path.display()));
        all.extend(restored.rescued.iter().map(rescued));
        all
    }

    /// The command that takes it back, for a shell.
    fn undo(&self) -> String {
        let usual = Context::for_completion();
        let base = self.context.store.base_dir();
        let dir = match usual {
            Some(usual) if usual.store.base_dir() == base => String::new(),
            _ => format!("--dir {} ", quoted(&base.to_string_lossy())),
        };
        format!("session {dir}checkpoint undo {}", quoted(self.place.name.as_str()))
    }
}
