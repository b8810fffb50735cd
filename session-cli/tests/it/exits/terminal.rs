//! A program on a terminal of its own.

use crate::support::Ran;
use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::thread;

/// What a person answers who is asked.
const NO: &[u8] = b"n\n";

/// Runs a command whose output is a terminal, on which somebody says no. Its input is that terminal too, or a pipe with
/// `input`. What was printed on it is both of the program's outputs, as they came.
pub(super) fn on_a_terminal(mut command: Command, input: &str) -> Ran {
    let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).expect("there are terminals");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
    let path = ptsname_r(&master).expect("it has a name");
    let end = || Stdio::from(OpenOptions::new().read(true).write(true).open(&path).expect("it is ours"));
    command.env("TERM", "xterm").env("PAGER", "cat").stdout(end()).stderr(end());
    command.stdin(if input.is_empty() { end() } else { Stdio::piped() });
    let mut child = command.spawn().expect("the program was built");
    // The ends of the terminal that are open here would keep it from being over.
    drop(command);
    let mut terminal = File::from(OwnedFd::from(master));
    terminal.write_all(NO).expect("a terminal takes a line");
    if let Some(mut stdin) = child.stdin.take() {
        drop(stdin.write_all(input.as_bytes()));
    }
    let mut reader = terminal.try_clone().expect("there are descriptors");
    let printed = thread::spawn(move || {
        let mut text = Vec::new();
        // It is over with an error, once nobody has the other end.
        drop(reader.read_to_end(&mut text));
        text
    });
    let status = child.wait().expect("it is our child");
    let text = printed.join().expect("it only reads");
    Ran {
        code: status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&text).into_owned(),
        stderr: String::new(),
    }
}
