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
}

impl Bar {
    /// The bar, and the token with what moves it.
    pub(crate) fn of(cancel: Cancel, quiet: bool) -> (Self, Cancel) {
        // How much there is is not known before it is done, so that it is a wheel and not a bar.
        let bar = ProgressBar::hidden().with_style(ProgressStyle::default_spinner());
        let shown = bar.clone();
        if quiet || !io::stderr().is_terminal() {
            return (Bar { bar }, cancel);
        }
        let start = Instant::now();
        let cancel = cancel.with_progress(move |Progress { files, bytes }| {
            if start.elapsed() < PATIENCE {
                return;
            }
            if shown.is_hidden() {
                shown.set_draw_target(ProgressDrawTarget::stderr_with_hz(PER_SECOND));
                shown.enable_steady_tick(TICK);
            }
            shown.set_message(format!("{} files, {} read", HumanCount(files), HumanBytes(bytes)));
        });
        (Bar { bar }, cancel)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
