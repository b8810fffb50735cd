//! The pager, as `$PAGER` names it.

use crate::interrupt::{self, Handling};
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::thread;

/// Shows a text through the pager. False when none has shown it, so that the text is still to be printed.
pub(super) fn show(text: &str) -> bool {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    if pager.is_empty() || pager == "cat" || fits(text) {
        return false;
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(&pager);
    // What less needs to leave a short text on the screen, pass colours, and not clear: unless the user says otherwise.
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    // Ctrl-C is the pager's while it runs: a program that died of it would leave the terminal to two.
    let Ok(ignored) = interrupt::ignore() else { return false };
    let before = ignored.before();
    // SAFETY: between fork and exec only a system call is made, which is all that is allowed there.
    unsafe { command.pre_exec(move || Handling::as_before(&before)) };
    through(command, text).unwrap_or(false)
}

/// Gives a command the text. False where it failed and has taken nothing of it: it was no pager.
fn through(mut command: Command, text: &str) -> io::Result<bool> {
    let (mut left, mut input) = io::pipe()?;
    let mut child: Child = command.stdin(left.try_clone()?).spawn()?;
    // The command has its own end, and must see when the others are closed.
    drop(command);
    let (status, untaken) = thread::scope(|scope| {
        // What is not taken is read here in the end, so that nothing stays behind.
        scope.spawn(move || drop(input.write_all(text.as_bytes())));
        let status = child.wait();
        (status, io::copy(&mut left, &mut io::sink()))
    });
    Ok(status?.success() || untaken? < text.len() as u64)
}

/// Whether the text fits on the terminal, so that nothing needs paging.
fn fits(text: &str) -> bool {
    let height = terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0));
    text.lines().count() < height
}
