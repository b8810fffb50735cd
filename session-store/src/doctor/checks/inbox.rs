//! Messages that nobody got.

use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::directory::{files, own};
use crate::inbox::{REASON, Taken, TakenState, recorded_inbox_ids};
use crate::meta::read;
use crate::{HistoryView, Inbox};
use session_core::layout;
use session_disk::Durability;
use std::path::Path;

/// Messages that wait.
pub(super) fn waiting(patient: &Patient<'_>) -> Found {
    found(patient, &[layout::INBOX], FindingCode::InboxWaiting, "a message waits for the next turn")
}

/// Messages that could not be delivered.
pub(super) fn failed(patient: &Patient<'_>) -> Found {
    found(patient, &[layout::INBOX, layout::FAILED], FindingCode::InboxFailed, "a message could not be delivered")
}

fn found(patient: &Patient<'_>, dir: &[&str], code: FindingCode, text: &str) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let is_message = |path: &Path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_reason = code == FindingCode::InboxFailed && name.ends_with(REASON.as_bytes());
        !(name.starts_with(b".") || is_reason)
    };
    let files = files(&own(paths, dir)?)?.into_iter().filter(|(path, _)| is_message(path));
    Ok(files.map(|(path, _)| Finding::new(code, &path, text)).collect())
}

/// Messages that were taken and not acknowledged.
pub(super) fn claimed(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let inbox = Inbox::new(paths.clone(), patient.candidate.shown(), Durability::default());
    let taken = inbox.taken(|ids| recorded_inbox_ids(&HistoryView::open(paths, patient.limits)?, ids))?;
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    // What a session has left is taken by the one that goes on with it, whose history tells what was recorded.
    let goes_on = !read(paths, &patient.candidate.shown(), patient.limits)?.meta.succeeded_by.is_empty();
    let finding = |one: Taken| {
        let (code, text, fix) = match one.state {
            TakenState::InHands => (FindingCode::InboxClaimed, "a message was taken by a process that lives", None),
            TakenState::Recorded(id) => (
                FindingCode::InboxRecorded,
                "the history has this message, and who took it is gone",
                Some(Fix::Acknowledge { id }),
            ),
            TakenState::Abandoned(id) => (
                FindingCode::InboxAbandoned,
                "a message was taken by a process that is gone; the history does not have it",
                Some(Fix::GiveBack { id }),
            ),
            TakenState::Stray => {
                (FindingCode::InboxFailed, "it stands among the messages that were taken, and is none", None)
            }
        };
        Finding { fix: fix.filter(|_| !goes_on), ..Finding::new(code, &one.path, text) }
    };
    Ok(taken.into_iter().map(finding).collect())
}
