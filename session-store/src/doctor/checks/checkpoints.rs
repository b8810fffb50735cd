//! Snapshots of the workspace.

use super::{Finding, FindingCode, Found, Patient};
use session_core::checkpoint::{CheckpointFault, CheckpointFaultKind, CheckpointRef};
use std::path::Path;

/// Whether they are whole, and all there that the history tells of.
pub(super) fn checkpoints(patient: &Patient<'_>) -> Found {
    let (Some(paths), Some(all)) = (&patient.paths, patient.checkpoints) else { return Ok(Vec::new()) };
    let dir = paths.checkpoints();
    let Some(own) = all.to_examine(&dir) else { return Ok(Vec::new()) };
    let health = match own.examine(patient.depth) {
        Ok(health) => health,
        Err(error) => {
            let text = crate::doctor::with_causes(&*error);
            return Ok(vec![Finding::new(FindingCode::Unreadable, &dir, text)]);
        }
    };
    let mut findings: Vec<_> = health.faults.iter().map(|fault| finding(fault, &dir)).collect();
    // Old ones are dropped, and all of them may be; never the newest alone.
    if let (Some(told), Some(newest)) = (patient.told()?.checkpoint, health.newest)
        && told > newest
    {
        let text = format!("the history tells of checkpoint {told}, and the newest is {newest}");
        findings.push(Finding::new(FindingCode::CheckpointMissing, &dir, text));
    }
    Ok(findings)
}

fn finding(fault: &CheckpointFault, dir: &Path) -> Finding {
    let code = match fault.kind {
        CheckpointFaultKind::Damaged => FindingCode::CheckpointDamaged,
        CheckpointFaultKind::SetAside => FindingCode::CheckpointAside,
        CheckpointFaultKind::Interrupted => FindingCode::RestoreInterrupted,
    };
    let text = match fault.checkpoint {
        Some(CheckpointRef::Taken(n)) => format!("checkpoint {n}: {}", fault.what),
        Some(CheckpointRef::Guard(n)) => format!("guard {n}: {}", fault.what),
        None => fault.what.clone(),
    };
    Finding::new(code, fault.path.as_deref().unwrap_or(dir), text)
}
