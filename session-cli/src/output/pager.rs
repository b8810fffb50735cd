//! The pager, as `$PAGER` names it.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Shows a text through the pager. False when none could be started, so that the text is still to be printed.
pub(super) fn show(text: &str) -> bool {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    if pager.is_empty() || pager == "cat" || fits(text) {
        return false;
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(&pager).stdin(Stdio::piped());
    // What less needs to leave a short text on the screen, pass colours, and not clear: unless the user says otherwise.
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A pager that was left early closes its end: that is no failure.
        drop(stdin.write_all(text.as_bytes()));
    }
    match child.wait() {
        // 127 is the shell's word for "no such command".
        Ok(status) => status.code() != Some(127),
        Err(_) => false,
    }
}

/// Whether the text fits on the terminal, so that nothing needs paging.
fn fits(text: &str) -> bool {
    let height = terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0));
    text.lines().count() < height
}
