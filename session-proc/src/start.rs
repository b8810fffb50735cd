//! What is to be started as a background process, and who stays with it.

use crate::dossier::Lifetime;
use std::ffi::OsString;
use std::path::{self, Path, PathBuf};

/// What a log may have at most unless the caller says otherwise: 64 MiB.
pub const LOG_CAP_BYTES: u64 = 64 * 1024 * 1024;

/// An executable whose `main` calls [`supervise`](crate::supervise).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supervisor {
    program: PathBuf,
    args: Vec<OsString>,
}

impl Supervisor {
    /// The executable, and the arguments before those that `supervise` is given: of a command line with verbs, the
    /// verb.
    pub fn new(program: impl Into<PathBuf>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Supervisor {
        let program = program.into();
        // It is started in the command's directory. A bare name is looked for in the caller's `PATH`.
        let is_path = program.components().count() > 1;
        let absolute = if is_path { path::absolute(&program).ok() } else { None };
        Supervisor { program: absolute.unwrap_or(program), args: args.into_iter().map(Into::into).collect() }
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn args(&self) -> &[OsString] {
        &self.args
    }
}

/// What to start.
#[derive(Debug, Clone)]
pub struct Start {
    pub(crate) command: String,
    pub(crate) cwd: PathBuf,
    pub(crate) name: String,
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) lifetime: Lifetime,
    pub(crate) log_cap_bytes: u64,
    pub(crate) tells_output: bool,
    pub(crate) pattern: Option<String>,
    pub(crate) remind_every_s: Option<u64>,
}

impl Start {
    /// A command line for `sh -c`, to be run in a directory. Ephemeral, with the caller's environment, a log of at most
    /// [`LOG_CAP_BYTES`], and nothing told of it but its end.
    pub fn new(command: impl Into<String>, cwd: impl Into<PathBuf>) -> Start {
        Start {
            command: command.into(),
            cwd: cwd.into(),
            name: String::new(),
            env: Vec::new(),
            lifetime: Lifetime::Ephemeral,
            log_cap_bytes: LOG_CAP_BYTES,
            tells_output: false,
            pattern: None,
            remind_every_s: None,
        }
    }

    /// What to call it.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Start {
        self.name = name.into();
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Start {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Removes a variable from its environment.
    #[must_use]
    pub fn without_env(mut self, name: impl Into<OsString>) -> Start {
        self.env.push((name.into(), None));
        self
    }

    /// How long it is meant to run.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Lifetime) -> Start {
        self.lifetime = lifetime;
        self
    }

    /// What its log may have at most, in bytes; 16 KiB at the least.
    #[must_use]
    pub fn log_cap_bytes(mut self, bytes: u64) -> Start {
        self.log_cap_bytes = bytes;
        self
    }

    /// Tell new output while it runs; see [`Registry::events`](crate::Registry::events).
    #[must_use]
    pub fn tell_output(mut self) -> Start {
        self.tells_output = true;
        self
    }

    /// Tell lines of output that match this regular expression.
    #[must_use]
    pub fn tell_matches(mut self, pattern: impl Into<String>) -> Start {
        self.pattern = Some(pattern.into());
        self
    }

    /// Tell every so many seconds that it still runs.
    #[must_use]
    pub fn remind_every_s(mut self, seconds: u64) -> Start {
        self.remind_every_s = Some(seconds);
        self
    }
}
