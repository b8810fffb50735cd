//! `session run`

use crate::commands::opened;
use crate::commands::wait::{Told, ToldDocument, exit_of};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{shell, span, supervisor, target};
use session_proc::{Lifetime, Start, TurnMarker, Until};
use session_store::Options;
use std::env;
use std::path::PathBuf;
use std::time::Duration;

/// The flags of `run`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "One word is a command line for the shell; several are a program and its arguments, each taken as it stands. \
The process gets its standard input from /dev/null and writes to a log. It is stopped when the live turn ends, unless it is persistent; \
without a live turn it runs until it ends or is stopped.\n\nWith --until the exit status is 0 when a line matched, 1 when the process ended \
before, 124 when the time was over; it runs on then.\n\nExamples:\n  session run @ -- make test\n  \
session run @ --name web --persistent --until 'listening on' --timeout 30s -- 'npm run dev 2>&1'"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// What to call it
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Let it outlive the turn
    #[arg(long)]
    persistent: bool,
    /// Wait until a line of its output matches this regular expression
    #[arg(long, value_name = "PATTERN", value_parser = Until::matching)]
    until: Option<Until>,
    /// With --until, wait no longer than this
    #[arg(long, value_name = "DUR", value_parser = span::duration, requires = "until")]
    timeout: Option<Duration>,
    /// The directory that it runs in [default: this one]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    /// Set a variable of its environment
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// The command line, or a program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let session = opened(context, &flags.session, Options::default())?;
    let cwd = flags.cwd.clone().map_or_else(env::current_dir, Ok);
    let cwd = cwd.map_err(|error| Failure::input("the current directory", &error))?;
    let registry = supervisor::supervised(session.registry()?)?;
    // Before those that are set by hand, which win.
    let (variable, store) = context.store_variable();
    let mut start = Start::new(command_line(&flags.command), cwd).env(variable, store);
    start = flags.name.iter().fold(start, Start::name);
    start = flags.env.iter().fold(start, |start, (name, value)| start.env(name, value));
    if flags.persistent {
        start = start.lifetime(Lifetime::Persistent);
    } else if TurnMarker::read(registry.dir())?.is_none() {
        context.out.note("note: no turn is live: it runs until it ends or is stopped");
    }
    let started = registry.start(&start)?;
    // Whoever waits for the line can look at the process meanwhile.
    if !context.out.is_json() {
        context.out.line(started.id.as_str())?;
    }
    let told = match &flags.until {
        Some(until) => Told::of(registry.wait(&started.id, until, flags.timeout)?),
        None => Told { status: started, line: None, timed_out: false },
    };
    if context.out.is_json() {
        context.out.document("run", true, &[], &ToldDocument::new(session.name(), &told))?;
    }
    Ok(if flags.until.is_some() { exit_of(&told, true) } else { Exit::Done })
}

/// One word is the shell's; several are taken as they stand.
fn command_line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| shell::quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write it like NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_words_reach_the_shell_as_they_stand_and_one_is_its_own() {
        let line = |words: &[&str]| command_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(line(&["make", "-j2", "test"]), "make -j2 test");
        assert_eq!(
            line(&["echo", "a b", "$HOME", "it's", "", "a=b", "~"]),
            r"echo 'a b' '$HOME' 'it'\''s' '' 'a=b' '~'"
        );
        assert_eq!(line(&["cd x && make; exit 3"]), "cd x && make; exit 3");
        assert_eq!(line(&["FOO=1", "make"]), "'FOO=1' make");
    }
}
