//! A program on a terminal of its own.

use crate::support::{Ran, eventually};
use nix::fcntl::OFlag;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// What a person answers who is asked.
const NO: &str = "n\n";

/// A program that runs on a terminal.
pub(crate) struct OnATerminal {
    pub(crate) child: Child,
    terminal: File,
    printed: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// Starts a command whose output is a terminal, and so is its input unless it is a pipe with `input`. Long texts are
/// printed as by `cat`, where the command's environment names no pager.
pub(crate) fn start_on_a_terminal(mut command: Command, input: &str) -> OnATerminal {
    let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).expect("there are terminals");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
    let path = ptsname_r(&master).expect("it has a name");
    let end = || Stdio::from(OpenOptions::new().read(true).write(true).open(&path).expect("it is ours"));
    if !command.get_envs().any(|(name, _)| name == "PAGER") {
        command.env("PAGER", "cat");
    }
    command.env("TERM", "xterm").stdout(end()).stderr(end());
    command.stdin(if input.is_empty() { end() } else { Stdio::piped() });
    let mut child = command.spawn().expect("the program was built");
    // The ends of the terminal that are open here would keep it from being over.
    drop(command);
    let terminal = File::from(OwnedFd::from(master));
    if let Some(mut stdin) = child.stdin.take() {
        drop(stdin.write_all(input.as_bytes()));
    }
    let mut from = terminal.try_clone().expect("there are descriptors");
    let printed = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&printed);
    let reader = thread::spawn(move || {
        let mut piece = [0; 4096];
        // It is over with an error, once nobody has the other end.
        while let Ok(len @ 1..) = from.read(&mut piece) {
            into.lock().expect("nobody panics with it").extend_from_slice(&piece[..len]);
        }
    });
    OnATerminal { child, terminal, printed, reader }
}

impl OnATerminal {
    /// Types something.
    pub(crate) fn says(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).expect("a terminal takes a line");
    }

    /// Waits until something was printed.
    pub(crate) fn shows(&self, text: &str) {
        eventually(text, || {
            let printed = self.printed.lock().expect("nobody panics with it");
            String::from_utf8_lossy(&printed).contains(text)
        });
    }

    /// Waits for its end. What was printed is both of the program's outputs, as they came.
    pub(crate) fn end(mut self) -> Ran {
        let status = self.child.wait().expect("it is our child");
        self.reader.join().expect("it only reads");
        let printed = self.printed.lock().expect("nobody panics with it");
        Ran {
            code: status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&printed).into_owned(),
            stderr: String::new(),
        }
    }
}

/// Runs a command on a terminal on which somebody says no.
pub(crate) fn on_a_terminal(command: Command, input: &str) -> Ran {
    let mut started = start_on_a_terminal(command, input);
    started.says(NO);
    started.end()
}
