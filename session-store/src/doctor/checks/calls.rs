//! Tool calls and their results in the live conversation.

use super::{Finding, FindingCode, Found, Patient};
use session_core::{Item, Message, Place, Replay, Role};
use std::collections::HashSet;
use std::path::Path;

/// What of a live message matters here.
struct Kept {
    place: Place,
    is_result: bool,
    /// The calls that it asks for, or the one that it answers.
    ids: Vec<String>,
}

/// Calls without a result, results without a call, ids that come twice.
///
/// A result belongs to a call when it follows the message that asks for it before the next message that is no result.
pub(super) fn calls(patient: &Patient<'_>) -> Found {
    let Some(history) = patient.standing()?.history else { return Ok(Vec::new()) };
    let mut replay = Replay::new();
    for item in history.forwards() {
        match history.told(item)? {
            Item::Record(record) => {
                let effect = record.event.effect();
                replay.event(&effect, || keep(record.place, &record.event.message.unwrap_or_default()));
            }
            Item::Defect(defect) => replay.defect(&defect),
        }
    }
    Ok(judge(history.path(), replay.live()))
}

fn keep(place: Place, message: &Message) -> Kept {
    let ids = match message.role {
        Role::Tool => vec![message.tool_call_id.clone()],
        Role::Assistant => message.tool_calls.iter().map(|call| call.id.clone()).collect(),
        Role::System | Role::User | Role::Other(_) => Vec::new(),
    };
    Kept { place, is_result: message.role == Role::Tool, ids }
}

fn judge(path: &Path, live: &[Kept]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut open: Vec<(&str, Place)> = Vec::new();
    let mut seen = HashSet::new();
    let finding = |code, place, text| Finding::new(code, path, text).at(place);
    let unanswered = |(id, place): (&str, Place)| {
        finding(FindingCode::CallWithoutResult, place, format!("call {id:?} has no result"))
    };
    for kept in live {
        if kept.is_result {
            for id in &kept.ids {
                match open.iter().position(|(call, _)| call == id) {
                    Some(call) => drop(open.remove(call)),
                    None => {
                        let text = format!("a result for call {id:?}, which was not made or has its result");
                        findings.push(finding(FindingCode::ResultWithoutCall, kept.place, text));
                    }
                }
            }
            continue;
        }
        findings.extend(open.drain(..).map(unanswered));
        for id in &kept.ids {
            if !seen.insert(id.as_str()) {
                findings.push(finding(FindingCode::RepeatedCallId, kept.place, format!("a second call {id:?}")));
            }
            open.push((id, kept.place));
        }
    }
    findings.extend(open.drain(..).map(unanswered));
    findings
}
