//! Whether a tool's call failed, as far as its result says.

use crate::{Event, Role};

/// How a first or last line goes on that tells an exit status.
const EXITS: [&str; 5] =
    ["exit code", "exit status", "exited with code", "exited with status", "process exited with code"];
/// How the first line of a failure begins.
const ERROR: &str = "error";

/// Whether an event is the result of a call that failed.
///
/// A history has no member for it. What is looked at: `error` in the event's own member `x`, as imports set it, or
/// `is_error` in the message; then the text, whose first line may begin with `Error`, and whose first or last line may
/// tell an exit status other than 0. A result that says nothing counts as a good one, and what is no result has not failed.
///
/// ```
/// use session_core::{Event, Message, is_failure, parse_time};
/// let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
/// let result = |text: &str| Event::message(ts, Message::tool_result("c1", "Shell", text));
/// assert!(is_failure(&result("no such file\nexit code: 2")));
/// assert!(!is_failure(&result("Errors are values\nexit code: 0")));
/// ```
pub fn is_failure(event: &Event) -> bool {
    let Some(message) = event.message.as_deref().filter(|message| message.role == Role::Tool) else { return false };
    if let Some(flag) = event.x.get("error").or_else(|| message.extra.get("is_error")) {
        return flag != "false" && flag != "null";
    }
    let text = message.content.text();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return false };
    begins_with_error(first) || exit_status(first).or_else(|| exit_status(lines.next_back()?)).unwrap_or(0) != 0
}

fn begins_with_error(line: &str) -> bool {
    let line = line.trim_start_matches(['[', '<', '*']);
    let rest = line.get(..ERROR.len()).filter(|word| word.eq_ignore_ascii_case(ERROR)).map(|_| &line[ERROR.len()..]);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ']', '>', '!', '(']))
}

/// The exit status that a line tells, and nothing else.
fn exit_status(line: &str) -> Option<i64> {
    let line = line.trim_matches(['[', ']', '(', ')', '<', '>', '.']).to_ascii_lowercase();
    let rest = EXITS.iter().find_map(|words| line.strip_prefix(words))?;
    rest.trim_start_matches([':', '=', ' ']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    fn result(text: &str) -> Event {
        Event { message: Some(Box::new(Message::tool_result("c", "t", text))), ..Event::default() }
    }

    #[test]
    fn a_result_says_whether_it_is_an_error() {
        for (text, failed) in [
            ("", false),
            ("3 oaks", false),
            ("error: no oak", true),
            ("Error", true),
            ("[ERROR] no oak", true),
            ("errors: 0", false),
            ("Exit code: 1\nno oak", true),
            ("no oak\n(exit status 127)\n", true),
            ("oak\nProcess exited with code 0", false),
            ("exit code 1 is bad", false),
            ("ähnlich", false),
        ] {
            assert_eq!(is_failure(&result(text)), failed, "{text:?}");
        }
    }

    #[test]
    fn a_flag_of_an_import_comes_first() {
        let mut event = result("error: no oak");
        event.x.set("error", &false.into());
        assert!(!is_failure(&event));
        event.x.set("error", &true.into());
        assert!(is_failure(&Event { message: result("fine").message, ..event }));
        assert!(!is_failure(&Event::default()));
        let mut event = result("fine");
        event.message.as_mut().expect("a result").extra.set("is_error", &true.into());
        assert!(is_failure(&event));
    }

    #[test]
    fn what_is_no_result_has_not_failed() {
        for message in [Message::user("Error: no oak"), Message::assistant("Error: no oak")] {
            assert!(!is_failure(&Event { message: Some(Box::new(message)), ..Event::default() }));
        }
    }
}
