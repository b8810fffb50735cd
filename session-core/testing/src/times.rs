//! Clocks, medians and ratios.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

/// Seconds of one kind of act, run by run: by the wall, and of processors.
#[derive(Debug, Default, Clone)]
pub struct Sample {
    /// Seconds on the wall.
    pub wall: Vec<f64>,
    /// Seconds of processors, those of children that were waited for included.
    pub cpu: Vec<f64>,
}

impl Sample {
    /// Runs the act once and adds its times. What it gives is dropped when the clock has stopped.
    pub fn run<T>(&mut self, act: impl FnOnce() -> T) {
        let (wall, cpu, _) = timed(act);
        self.wall.push(wall);
        self.cpu.push(cpu);
    }

    /// The median run's seconds on the wall.
    pub fn seconds(&self) -> f64 {
        median(&self.wall)
    }
}

/// Wall and processor seconds of an act, and what it gave.
pub fn timed<T>(act: impl FnOnce() -> T) -> (f64, f64, T) {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let given = black_box(act());
    (start.elapsed().as_secs_f64(), cpu_seconds() - cpu, given)
}

/// Processor seconds of this process and of its children that were waited for.
pub fn cpu_seconds() -> f64 {
    let of = |who| {
        let usage = getrusage(who).expect("it cannot fail for these");
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds()
    };
    (of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)) as f64 / 1e6
}

/// The most memory that this process has held at once.
pub fn peak_memory_bytes() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("it cannot fail for this");
    u64::try_from(usage.max_rss()).unwrap_or(0) * 1024
}

/// The middle value.
///
/// # Panics
/// If there is none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Ratios, a line each, with the goal beside what was reached.
///
/// A word behind `cargo bench … --` chooses the lines whose names contain it.
#[derive(Debug)]
pub struct Table {
    rounds: u32,
    wanted: Option<String>,
}

impl Table {
    /// A table whose acts run in alternation, `rounds` times each after one run that does not count.
    pub fn new(title: &str, rounds: u32) -> Self {
        say(&format!("\n{title} (medians of {rounds} alternated runs)"));
        Table { rounds, wanted: std::env::args().skip(1).find(|word| !word.starts_with('-')) }
    }

    /// Whether a line was asked for.
    pub fn wants(&self, what: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| what.contains(wanted.as_str()))
    }

    /// How often `act` takes as long as `base`.
    pub fn times_as_long<T, U>(&self, what: &str, base: impl FnMut() -> T, act: impl FnMut() -> U, goal: &str) {
        if self.wants(what) {
            let (base, act) = self.alternate(base, act);
            let cpu = median(&act.cpu) / median(&base.cpu);
            self.line(what, act.seconds() / base.seconds(), goal, &format!("{cpu:.2} in processor time"));
        }
    }

    /// How often `act` fits into the time of `base`.
    pub fn times_as_fast<T, U>(&self, what: &str, base: impl FnMut() -> T, act: impl FnMut() -> U, goal: &str) {
        if self.wants(what) {
            let (base, act) = self.alternate(base, act);
            let cpu = median(&base.cpu) / median(&act.cpu);
            self.line(what, base.seconds() / act.seconds(), goal, &format!("{cpu:.2} in processor time"));
        }
    }

    /// Runs two acts in alternation.
    pub fn alternate<T, U>(&self, mut base: impl FnMut() -> T, mut act: impl FnMut() -> U) -> (Sample, Sample) {
        base();
        act();
        let (mut bases, mut acts) = (Sample::default(), Sample::default());
        for _ in 0..self.rounds {
            bases.run(&mut base);
            acts.run(&mut act);
        }
        (bases, acts)
    }

    /// A line with a figure that was measured otherwise.
    pub fn line(&self, what: &str, figure: f64, goal: &str, note: &str) {
        say(&format!("  {what:<52} {figure:>9.2}   goal {goal:<16} {note}"));
    }

    /// A line that says why there is no figure.
    pub fn skipped(&self, what: &str, why: &str) {
        say(&format!("  {what:<52} {:>9}   {why}", "-"));
    }
}

/// A bench's reader may be `head`.
fn say(line: &str) {
    let mut out = io::stdout().lock();
    if writeln!(out, "{line}").is_err() {
        std::process::exit(0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Sample, median};

    #[test]
    fn the_median_is_the_middle_run() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        let mut sample = Sample::default();
        sample.run(|| ());
        assert_eq!((sample.wall.len(), sample.cpu.len()), (1, 1));
    }
}
