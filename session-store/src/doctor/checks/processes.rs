//! Background processes, and what turns have left running.

use super::leftovers::is_temporary;
use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::doctor::with_causes;
use crate::processes::registry;
use session_proc::{Lifetime, LostWhy, ProcError, Registry};

/// Processes that no record leads to.
pub(super) fn lost(patient: &Patient<'_>) -> Found {
    let (Some(registry), Some(marked)) = (of(patient)?, patient.marked) else { return Ok(Vec::new()) };
    let finding = |lost: session_proc::Lost| {
        let why = match lost.why {
            LostWhy::NoRecord => format!("there is no record of {}, as which it was started", lost.id),
            LostWhy::OtherStart => format!("the record of {}, as which it was started, is another one's", lost.id),
            LostWhy::Outlived => format!("{}, to which it belongs, has ended", lost.id),
            LostWhy::TurnOver => "the turn that started it is over".to_owned(),
        };
        let command = lost.command.map(|command| format!(" ({command})")).unwrap_or_default();
        let text = format!("process {}{command} runs, and {why}", lost.process.pid);
        Finding::new(FindingCode::LostProcess, registry.dir(), text)
    };
    Ok(registry.lost_among(marked)?.into_iter().map(finding).collect())
}

/// Background processes that should have ended with their turn. The next turn stops them.
pub(super) fn left(patient: &Patient<'_>) -> Found {
    let Some(registry) = of(patient)? else { return Ok(Vec::new()) };
    let listing = registry.list()?;
    let left = listing
        .processes
        .into_iter()
        .filter(|status| status.is_orphan && status.has_turn && status.lifetime == Some(Lifetime::Ephemeral));
    Ok(left
        .map(|status| {
            let text = format!("{} ({}) runs, and the turn that started it is over", status.id, status.command);
            Finding::new(FindingCode::LeftProcess, &registry.record_path(&status.id), text)
        })
        .collect())
}

/// Records that are out of date or cannot be read, and files of none.
pub(super) fn records(patient: &Patient<'_>) -> Found {
    let Some(registry) = of(patient)? else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    for error in registry.list()?.unreadable {
        let path = match &error {
            ProcError::Unreadable { path, .. } => path.clone(),
            _ => registry.dir().to_owned(),
        };
        findings.push(Finding::new(FindingCode::Unreadable, &path, with_causes(&error)));
    }
    for status in registry.stale()? {
        let text = format!("the record of {} does not say that it is {}", status.id, status.state);
        let finding = Finding::new(FindingCode::StaleRecord, &registry.record_path(&status.id), text);
        findings.push(finding.fixed_by(Fix::Reconcile));
    }
    // Temporary files are another check's.
    for path in registry.leftovers()?.into_iter().filter(|path| !is_temporary(path)) {
        let text = "a file of a background process that there is not";
        findings.push(Finding::new(FindingCode::Leftover, &path, text).fixed_by(Fix::SetAside));
    }
    Ok(findings)
}

fn of(patient: &Patient<'_>) -> crate::Result<Option<Registry>> {
    patient.paths.as_ref().map(registry).transpose()
}
