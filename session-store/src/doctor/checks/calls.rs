//! Tool calls and their results in the live conversation.

use super::{Finding, FindingCode};
use serde::de::IgnoredAny;
use session_core::{Message, Place, Role};
use std::collections::HashSet;
use std::path::Path;

/// What of a live message matters here.
pub(super) struct Kept {
    place: Place,
    is_result: bool,
    /// The calls that it asks for, or the one that it answers.
    ids: Vec<Box<str>>,
    /// The calls whose arguments are no JSON.
    bad_arguments: Vec<Box<str>>,
}

pub(super) fn keep(place: Place, message: Option<&Message>) -> Kept {
    let mut kept = Kept { place, is_result: false, ids: Vec::new(), bad_arguments: Vec::new() };
    let Some(message) = message else { return kept };
    match message.role {
        Role::Tool => {
            kept.is_result = true;
            kept.ids.push(message.tool_call_id.clone());
        }
        Role::Assistant => {
            for call in &message.tool_calls {
                kept.ids.push(call.id.clone());
                // No arguments at all is how some say that there are none.
                let arguments = &call.arguments;
                if !arguments.is_empty() && serde_json::from_str::<IgnoredAny>(arguments).is_err() {
                    kept.bad_arguments.push(call.id.clone());
                }
            }
        }
        Role::System | Role::User | Role::Missing | Role::Other(_) => {}
    }
    kept
}

/// Calls without a result, results without a call, ids that come twice, arguments that are no JSON.
///
/// A result belongs to a call when it follows the message that asks for it before the next message that is no result.
pub(super) fn judge(path: &Path, live: &[Kept]) -> Vec<Finding> {
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
                match open.iter().position(|(call, _)| **call == **id) {
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
            if !seen.insert(&**id) {
                findings.push(finding(FindingCode::RepeatedCallId, kept.place, format!("a second call {id:?}")));
            }
            open.push((id, kept.place));
        }
        for id in &kept.bad_arguments {
            let text = format!("the arguments of call {id:?} are no JSON");
            findings.push(finding(FindingCode::BadArguments, kept.place, text));
        }
    }
    findings.extend(open.drain(..).map(unanswered));
    findings
}
