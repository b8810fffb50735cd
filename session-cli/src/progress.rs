//! A bar on stderr for work that takes longer than a moment, for people at a terminal.

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use session_checkpoint::{Cancel, Progress};
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

/// Shorter work shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the bar moves by itself.
const TICK: Duration = Duration::from_millis(120);
const PER_SECOND: u8 = 8;

/// A bar that appears after a second, and goes when it is dropped.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    /// When the work began. `None`: nobody is there to look.
    start: Option<Instant>,
}

impl Bar {
    /// The bar of work that says how far it is.
    pub(crate) fn new(quiet: bool) -> Self {
        // How much there is is not known before it is done, so that it is a wheel and not a bar.
        let bar = ProgressBar::hidden().with_style(ProgressStyle::default_spinner());
        let start = (!quiet && io::stderr().is_terminal()).then(Instant::now);
        Bar { bar, start }
    }

    /// The bar, and the token with what moves it.
    pub(crate) fn of(cancel: Cancel, quiet: bool) -> (Self, Cancel) {
        let bar = Bar::new(quiet);
        if bar.start.is_none() {
            return (bar, cancel);
        }
        let shown = Bar { bar: bar.bar.clone(), start: bar.start };
        let cancel = cancel.with_progress(move |Progress { files, bytes }| {
            shown.say(|| format!("{} files, {} read", HumanCount(files), HumanBytes(bytes)));
        });
        (bar, cancel)
    }

    /// Says how far the work is, if it has taken long enough already.
    pub(crate) fn say(&self, text: impl FnOnce() -> String) {
        if self.start.is_none_or(|start| start.elapsed() < PATIENCE) {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(PER_SECOND));
            self.bar.enable_steady_tick(TICK);
        }
        self.bar.set_message(text());
    }

    /// Prints something with the bar out of the way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
