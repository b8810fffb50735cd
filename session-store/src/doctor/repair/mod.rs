//! Doing what findings ask for, session by session.
//!
//! What changes names comes first, then everything else under the session's lock; the history last, together with the
//! notice that says what was done. Every step is done only about what was found again under the lock, and can be repeated.

mod aside;
mod case;
mod history;
mod names;
mod state;
mod store;
mod taken;

use super::{Checkup, Finding, FindingCode, Fix, Ward};
use crate::candidate::{Candidate, candidate};
use crate::flat::RENAME_AGE;
use crate::{Result, Store, StoreError};
use case::Case;
use session_core::SessionName;
use std::path::PathBuf;
use std::thread;

/// How often what changes names is looked at again: a flat file is migrated at one opening and renamed at the next.
const ROUNDS: usize = 4;

/// What a repair found and did.
#[derive(Debug, Default)]
#[must_use = "it tells what could not be repaired, and why"]
#[non_exhaustive]
pub struct Repaired {
    /// How many sessions were looked at.
    pub sessions: u64,
    /// What was found, and whether it was [fixed](Finding::fixed).
    pub findings: Vec<Finding>,
    /// What was done, to the store first, then by session. Those in which there was nothing to do are left out.
    pub repairs: Vec<Repair>,
}

/// What was done in one session, or to the store itself.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Repair {
    /// The session, as a list names it; `None` for the store.
    pub session: Option<String>,
    /// What it is called now, where that is another name.
    pub renamed: Option<SessionName>,
    /// What was done, as the notice in the history says it.
    pub done: Vec<String>,
    /// Where that is kept which was taken out, replaced or moved away.
    pub kept: Vec<PathBuf>,
    /// What kept it from doing all.
    pub error: Option<StoreError>,
}

impl Repair {
    /// Whether somebody is at work in the session, so that it passes by itself.
    pub fn is_busy(&self) -> bool {
        matches!(self.error, Some(StoreError::Locked { .. } | StoreError::LiveTurn { .. } | StoreError::Running { .. }))
    }
}

pub(super) fn repair(store: &Store, checkup: &Checkup<'_>) -> Result<Repaired> {
    let ward = Ward::of(store.base_dir(), checkup, store.options().limits, store.clock().utc())?;
    let mut repaired = Repaired::default();
    let mut findings = ward.store_findings();
    if findings.iter().any(|finding| finding.fix.is_some()) {
        let repair = store::repair(store, &findings);
        settle(&mut findings, &ward.store_findings());
        repaired.repairs.push(repair);
    }
    repaired.findings = findings;
    for candidate in &ward.candidates {
        checkup.tell(&candidate.shown());
        repaired.sessions += 1;
        let mut findings = ward.patient(candidate).findings();
        if findings.iter().any(|finding| finding.fix.is_some()) {
            repaired.repairs.push(treat(store, &ward, candidate, &mut findings));
        }
        repaired.findings.extend(findings);
    }
    rename_migrated(store, &mut repaired);
    Ok(repaired)
}

/// Renames flat files that were migrated just now: for a moment somebody else may have been migrating them, too. One pause
/// is enough for all.
fn rename_migrated(store: &Store, repaired: &mut Repaired) {
    let is_left =
        |finding: &Finding| finding.code == FindingCode::FlatMigrated && finding.fix.is_some() && !finding.fixed;
    let names: Vec<SessionName> = repaired
        .repairs
        .iter()
        .filter(|repair| repair.error.is_none())
        .filter_map(|repair| repair.renamed.clone().or(SessionName::new(repair.session.as_deref()?).ok()))
        .filter(|name| store.flat_path(name).symlink_metadata().is_ok())
        .collect();
    if names.is_empty() || !repaired.findings.iter().any(is_left) {
        return;
    }
    thread::sleep(RENAME_AGE);
    for name in names {
        // What goes wrong here is found again: the flat file stands, and nothing depends on its being renamed.
        let is_renamed = store.ready(&name).is_ok() && store.flat_path(&name).symlink_metadata().is_err();
        let of_this = |finding: &&mut Finding| finding.path == store.flat_path(&name) && is_left(finding);
        repaired.findings.iter_mut().filter(of_this).for_each(|finding| finding.fixed = is_renamed);
    }
}

/// Repairs one session, and notes which findings are none any more.
fn treat(store: &Store, ward: &Ward<'_>, candidate: &Candidate, findings: &mut Vec<Finding>) -> Repair {
    let mut repair = Repair { session: Some(candidate.shown()), ..Repair::default() };
    let mut name = candidate.session_name().ok();
    let was = name.clone();
    repair.error = try_treat(store, ward, candidate, &mut name, findings, &mut repair).err();
    let after = match &name {
        Some(name) => look(ward, name).ok().flatten().unwrap_or_default(),
        None => ward.patient(candidate).findings(),
    };
    repair.renamed = name.filter(|name| was.as_ref() != Some(name));
    match repair.renamed {
        None => settle(findings, &after),
        // Everything stands elsewhere now.
        Some(_) => {
            for finding in findings.iter_mut().filter(|finding| finding.fix.is_some()) {
                finding.fixed = !after.iter().any(|again| again.code == finding.code);
            }
        }
    }
    repair
}

fn try_treat(
    store: &Store,
    ward: &Ward<'_>,
    candidate: &Candidate,
    name: &mut Option<SessionName>,
    findings: &mut Vec<Finding>,
    repair: &mut Repair,
) -> Result<()> {
    let mut current = findings.clone();
    for _ in 0..ROUNDS {
        let Some(fix) = current.iter().filter_map(|finding| finding.fix.clone()).find(names::changes_names) else {
            break;
        };
        names::change(store, candidate, name, &fix, repair)?;
        let Some(name) = name else { return Ok(()) };
        current = look(ward, name)?.unwrap_or_default();
        for finding in &current {
            if finding.fix.is_some() && !findings.iter().any(|known| known.is_again(finding)) {
                findings.push(finding.clone());
            }
        }
    }
    match name {
        Some(name) if current.iter().any(|finding| finding.fix.is_some()) => {
            Case::open(store, ward, name)?.treat(repair)
        }
        _ => Ok(()),
    }
}

/// What is found of a session now; `None` where it is gone.
fn look(ward: &Ward<'_>, name: &SessionName) -> Result<Option<Vec<Finding>>> {
    let found = candidate(ward.base, name)?;
    Ok(found.map(|found| ward.patient(&found).findings()))
}

/// Notes what is not found any more.
fn settle(findings: &mut [Finding], after: &[Finding]) {
    for finding in findings.iter_mut().filter(|finding| finding.fix.is_some()) {
        finding.fixed = !after.iter().any(|again| again.is_again(finding));
    }
}

/// Adds what was done, if anything was.
fn note(done: &mut Vec<String>, count: usize, text: impl FnOnce() -> String) {
    if count > 0 {
        done.push(text());
    }
}

/// The fixes among findings.
fn fixes(findings: &[Finding]) -> impl Iterator<Item = (&Finding, &Fix)> {
    findings.iter().filter_map(|finding| Some((finding, finding.fix.as_ref()?)))
}
