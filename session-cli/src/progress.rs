//! A bar on stderr for work that takes longer than a moment, for people at a terminal.

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use session_checkpoint::{Cancel, Progress};
use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
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
    /// Shows the bar of work that may say nothing for long.
    alarm: Option<Alarm>,
}

impl Bar {
    /// The bar of work that says how far it is.
    pub(crate) fn new(quiet: bool) -> Self {
        // How much there is is not known before it is done, so that it is a wheel and not a bar.
        let bar = ProgressBar::hidden().with_style(ProgressStyle::default_spinner());
        let start = (!quiet && io::stderr().is_terminal()).then(Instant::now);
        Bar { bar, start, alarm: None }
    }

    /// The bar of work that does not say how far it is, or seldom: after a second it says what it is about.
    pub(crate) fn about(quiet: bool, text: &'static str) -> Self {
        let mut bar = Bar::new(quiet);
        if bar.start.is_some() {
            bar.bar.set_message(text);
            let shown = bar.bar.clone();
            bar.alarm = Some(Alarm::set(PATIENCE, move || show(&shown)));
        }
        bar
    }

    /// Says what the work is about from here on.
    pub(crate) fn turn_to(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// The bar, and the token with what moves it.
    pub(crate) fn of(cancel: Cancel, quiet: bool) -> (Self, Cancel) {
        let bar = Bar::new(quiet);
        if bar.start.is_none() {
            return (bar, cancel);
        }
        let shown = Bar { bar: bar.bar.clone(), start: bar.start, alarm: None };
        let cancel = cancel.with_progress(move |Progress { files, bytes, .. }| {
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
            show(&self.bar);
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
        // Nothing shows the bar after it is gone.
        drop(self.alarm.take());
        self.bar.finish_and_clear();
    }
}

fn show(bar: &ProgressBar) {
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(PER_SECOND));
    bar.enable_steady_tick(TICK);
}

/// Something that happens after a time, on a thread of its own, unless this is dropped before. Once it is dropped, the
/// thread has ended.
#[derive(Debug)]
struct Alarm {
    thread: Option<JoinHandle<()>>,
    /// Dropping it wakes the thread.
    wake: Option<Sender<()>>,
}

impl Alarm {
    fn set(after: Duration, ring: impl FnOnce() + Send + 'static) -> Self {
        let (wake, woken) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            if woken.recv_timeout(after) == Err(RecvTimeoutError::Timeout) {
                ring();
            }
        });
        Alarm { thread: Some(thread), wake: Some(wake) }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            // A bar that could not be shown is nothing that the work should end with.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn an_alarm_rings_after_its_time_and_never_once_it_is_dropped() {
        let rang = Arc::new(AtomicBool::new(false));
        let ring = |rang: &Arc<AtomicBool>| {
            let rang = Arc::clone(rang);
            move || rang.store(true, Ordering::SeqCst)
        };
        drop(Alarm::set(Duration::from_secs(3600), ring(&rang)));
        assert!(!rang.load(Ordering::SeqCst));
        let alarm = Alarm::set(Duration::ZERO, ring(&rang));
        while !rang.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        drop(alarm);
    }

    #[test]
    fn a_bar_that_nobody_looks_at_starts_no_thread() {
        assert!(Bar::about(true, "looking").alarm.is_none());
    }
}
