//! What of a user's message a person wrote.
//!
//! Agents put text of their own into messages of the user: the environment, reminders, instructions of the project. A
//! title made of that names no session, and it begins no turn.

use crate::{Event, Message, Role};

/// Elements that agents put into messages of the user. Anything else in angle brackets may be what a person asks about.
const INJECTED: [&str; 24] = [
    "agents_md",
    "bash-stderr",
    "bash-stdout",
    "command-args",
    "command-message",
    "command-name",
    "environment_context",
    "environment_details",
    "ide_context",
    "ide_diagnostics",
    "ide_opened_file",
    "ide_selection",
    "local-command-caveat",
    "local-command-stderr",
    "local-command-stdout",
    "skill",
    "subagent_notification",
    "system-reminder",
    "system_reminder",
    "task-notification",
    "turn_aborted",
    "user_context",
    "user_instructions",
    "user_shell_command",
];

/// What stands behind the name of an element that is opened.
const OPENED: [char; 3] = ['>', ' ', '\n'];

/// The heading under which the instructions of a project stand, and the element that holds them.
const HEADING: &str = "# agents.md instructions";
const UNDER_HEADING: (&str, &str) = ("<INSTRUCTIONS>", "</INSTRUCTIONS>");

/// What a person wrote of a text: without the blocks that an agent put in front of it and behind it. Empty where all of
/// it was put there.
///
/// ```
/// use session_core::written_by_hand;
/// let text = "<environment_context>\n<cwd>/w</cwd>\n</environment_context>\n\nplant three oaks";
/// assert_eq!(written_by_hand(text), "plant three oaks");
/// assert_eq!(written_by_hand("<b>plant</b> three oaks"), "<b>plant</b> three oaks");
/// ```
pub fn written_by_hand(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(shorter) = without_first(rest) {
        rest = shorter.trim();
    }
    // A block that goes at the end makes none at the beginning.
    while let Some(shorter) = without_last(rest) {
        rest = shorter.trim();
    }
    rest
}

/// What a person wrote in a message; `None` where it is none of the user's, or nobody wrote anything. A message of the
/// user with [`Message::images`] and no text gives `Some("")`.
pub fn prompt_of(message: &Message) -> Option<String> {
    if message.role != Role::User {
        return None;
    }
    let text = message.content.text();
    let written = written_by_hand(&text);
    // A picture without a word is a prompt all the same.
    let counts = !written.is_empty() || (text.trim().is_empty() && !message.images.is_empty());
    counts.then(|| written.to_owned())
}

impl Event {
    /// The member of [`Event::x`] that says that an agent put the message there, whatever it looks like.
    pub const INJECTED: &str = "injected";

    /// What a person wrote in its message; `None` where it has none of the user's, or nobody wrote anything. As with
    /// [`prompt_of`], a message of the user with [`Message::images`] and no text gives `Some("")`.
    pub fn prompt(&self) -> Option<String> {
        let is_injected = self.x.get(Event::INJECTED) == Some("true");
        self.message.as_deref().filter(|_| !is_injected).and_then(prompt_of)
    }
}

/// The text behind an injected block that it begins with.
fn without_first(text: &str) -> Option<&str> {
    if starts_with(text, HEADING) {
        // The heading's line; what follows it is an element, or goes on to the end.
        let rest = text.split_once('\n').map_or("", |(_, rest)| rest.trim());
        let (open, close) = UNDER_HEADING;
        let inside = rest.strip_prefix(open).and_then(|inside| inside.split_once(close));
        return Some(inside.map_or("", |(_, behind)| behind));
    }
    end_of_first(text).map(|end| &text[end..])
}

/// The text before an injected block that it ends with.
fn without_last(text: &str) -> Option<&str> {
    let name = text.strip_suffix('>').and_then(|text| Some(&text[text.rfind("</")? + 2..]))?;
    if !is_injected(name) {
        return None;
    }
    // An element ends where it is closed first: only the last opening can reach the end.
    let inside = &text[..text.len() - name.len() - "</>".len()];
    let open = format!("<{name}");
    let mut opens = inside.rmatch_indices(&open).map(|(at, _)| (at, &inside[at + open.len()..]));
    let (at, behind) = opens.find(|(_, behind)| behind.starts_with(OPENED))?;
    (!behind.contains(&format!("</{name}>"))).then(|| &text[..at])
}

/// Where the injected element ends that a text begins with.
fn end_of_first(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('<')?;
    let name = &inside[..inside.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))?];
    // Asked before the text is looked through.
    if !is_injected(name) || !inside[name.len()..].starts_with(OPENED) {
        return None;
    }
    let close = format!("</{name}>");
    Some(text.find(&close)? + close.len())
}

fn is_injected(name: &str) -> bool {
    INJECTED.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn starts_with(text: &str, lower: &str) -> bool {
    text.get(..lower.len()).is_some_and(|start| start.eq_ignore_ascii_case(lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ti01_what_an_agent_put_into_a_prompt_is_no_prompt() {
        for (text, written) in [
            ("plant three oaks", "plant three oaks"),
            ("<system-reminder>\nbe kind\n</system-reminder>", ""),
            ("plant<system-reminder>be kind</system-reminder>", "plant"),
            ("<environment_context/>", "<environment_context/>"),
            ("<environment_context>\nnever closed", "<environment_context>\nnever closed"),
            ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nuse tabs\n</INSTRUCTIONS>", ""),
            ("# AGENTS.md instructions for /w\n<INSTRUCTIONS>use tabs</INSTRUCTIONS>\nplant", "plant"),
            ("# AGENTS.md instructions for /w\nuse tabs", ""),
            ("# AGENTS.md is too long", "# AGENTS.md is too long"),
            ("<user_instructions>a</user_instructions><environment_context>b</environment_context>c", "c"),
            ("<div>plant</div>", "<div>plant</div>"),
            ("<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>", ""),
            ("a < b and b > c", "a < b and b > c"),
            ("", ""),
        ] {
            assert_eq!(written_by_hand(text), written, "{text:?}");
        }
    }

    #[test]
    fn hostile_texts_take_no_time_to_speak_of() {
        // Each of these is looked through once or a few times. A hundred thousand times would not end.
        let many = |piece: &str| piece.repeat(200_000);
        for piece in
            ["<system-reminder>", "</system-reminder>", "<", "# AGENTS.md\n", "<skill></skill>", "<skill></skill "]
        {
            written_by_hand(&many(piece));
        }
        for (first, piece, last) in [
            ("x", "<skill>", "</skill> </skill>"),
            ("x", "<div", "</skill>"),
            ("x <skill>", "</skill>", ""),
            ("<skill>x", "<bash-stdout></bash-stdout>", ""),
            ("x", "<Skill></Skill><sKill></sKill>", ""),
        ] {
            written_by_hand(&[first, &many(piece), last].concat());
        }
    }

    #[test]
    fn a_block_is_closed_by_the_first_end_that_comes() {
        for (text, written) in [
            ("x<skill>a<skill>b</skill>", "x<skill>a"),
            ("x<skill>a</skill>b</skill>", "x<skill>a</skill>b</skill>"),
            ("x<skill a=\"b\">c</skill>", "x"),
            ("x<skills>a</skill>", "x<skills>a</skill>"),
            ("x<skill>a<skills></skill>", "x"),
            ("x<SKILL>a</skill>", "x<SKILL>a</skill>"),
            ("<skill>a<skill>b</skill>c", "c"),
            ("<skill>a</skill></skill>", "</skill>"),
        ] {
            assert_eq!(written_by_hand(text), written, "{text:?}");
        }
    }
}
