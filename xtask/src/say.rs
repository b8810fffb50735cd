//! What a task tells the person who started it; all of it on standard error, in colour where that is a terminal.

use anstyle::{AnsiColor, Style};

const HEAD: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const WARN: Style = AnsiColor::Yellow.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Announces a step.
pub(crate) fn step(text: &str) {
    anstream::eprintln!("{HEAD}== {text}{HEAD:#}");
}

/// Explains what is done, or what is left out, and why.
pub(crate) fn note(text: &str) {
    anstream::eprintln!("{WARN}note:{WARN:#} {text}");
}

/// Reports a success.
pub(crate) fn passed(text: &str) {
    anstream::eprintln!("{GOOD}ok:{GOOD:#} {text}");
}

/// Reports a failure.
pub(crate) fn failed(text: &str) {
    anstream::eprintln!("{BAD}error:{BAD:#} {text}");
}

/// A line of a list or a table, as it is.
pub(crate) fn line(text: &str) {
    anstream::eprintln!("{text}");
}
