//! Claude Code's lines about what happened around the conversation.

use super::content::join;
use super::draft::Draft;
use super::events::{details, extension, notice};
use super::out::Out;
use super::time::time_of;
use super::value::Json;
use crate::{Extension, Note, Timestamp};

/// A `system` line, told as a notice.
pub(super) fn system(draft: &mut Draft, line: &Json, ts: Option<Timestamp>, out: &mut Out) {
    let content = line.get("content").text();
    let text = match line.get("subtype").text() {
        "compact_boundary" => "the conversation was compacted".to_owned(),
        "turn_duration" => {
            let Some(ms) = line.get("durationMs").integer() else { return out.drop_one("turn_duration") };
            let mut event = notice(ts, format!("the turn took {}.{:03} s", ms / 1000, (ms % 1000).abs()));
            event.x.set("duration_ms", &ms.into());
            draft.push(event);
            return;
        }
        "api_error" | "error" => format!("error of the endpoint: {}", error(line)),
        "local_command" => content.to_owned(),
        "stop_hook_summary" => match line.get("hookErrors").list() {
            [] => return out.drop_one("stop_hook_summary without an error"),
            errors => {
                let said = |error: &Json| error.as_text().map_or_else(|| error.to_text(), str::to_owned);
                format!("hooks failed: {}", errors.iter().map(said).collect::<Vec<_>>().join(", "))
            }
        },
        "api_refusal" | "model_refusal_fallback" | "informational" | "microcompact_boundary" => {
            let why = line.get("apiRefusalExplanation").text();
            join(line.get("subtype").text(), &join(content, why, ": "), ": ")
        }
        "session_start" | "init" | "away_summary" | "bridge_status" => {
            return out.drop_one(&format!("system {}", line.get("subtype").text()));
        }
        other => {
            let what = format!("system {other}");
            return out.keep(draft, &what, line);
        }
    };
    draft.push(notice(ts, text));
}

/// What went wrong: the program's words, the endpoint's, which stand as deep as it was wrapped, why nothing was sent at
/// all, or the number that the endpoint answered with.
fn error(line: &Json) -> String {
    let error = line.get("error");
    let status = error.get("status").integer().map(|status| Json::Text(format!("status {status}")));
    let said = [
        error.get("formatted"),
        error.get("message"),
        error.at(&["error", "message"]),
        error.at(&["error", "error", "message"]),
        error,
        error.at(&["cause", "code"]),
        line.at(&["cause", "code"]),
        status.as_ref().unwrap_or(&Json::Null),
    ];
    details(&said).to_owned()
}

/// A snapshot of files. Their contents are not in the file: a note says that there was one.
pub(super) fn snapshot(draft: &mut Draft, line: &Json, out: &mut Out) {
    let files = line.at(&["snapshot", "trackedFileBackups"]).members();
    if files.is_empty() {
        return out.drop_one("file-history-snapshot without a file");
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let note = Note { topic: "file-history-snapshot".into(), text: names.join("\n") };
    draft.push(extension(time_of(line.at(&["snapshot", "timestamp"])), Extension::Note(note)));
}
