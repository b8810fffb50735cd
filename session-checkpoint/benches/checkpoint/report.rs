//! Clocks, medians and lines.

use std::fs;
use std::path::Path;
use std::time::Instant;

/// Seconds of one kind of run: by the wall and of processors, children's included.
#[derive(Default)]
pub(crate) struct Sample {
    pub(crate) wall: Vec<f64>,
    pub(crate) cpu: Vec<f64>,
}

impl Sample {
    pub(crate) fn add(&mut self, (wall, cpu): (f64, f64)) {
        self.wall.push(wall);
        self.cpu.push(cpu);
    }
}

fn cpu_seconds() -> f64 {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;
    let of = |who| {
        let usage = getrusage(who).expect("it cannot fail for these");
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds()
    };
    (of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)) as f64 / 1e6
}

/// Wall and processor seconds of an act.
pub(crate) fn timed(act: impl FnOnce()) -> (f64, f64) {
    timed_with(act).0
}

/// The same with what came of it.
pub(crate) fn timed_with<T>(act: impl FnOnce() -> T) -> ((f64, f64), T) {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let result = act();
    ((start.elapsed().as_secs_f64(), cpu_seconds() - cpu), result)
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The median of the pairwise ratios.
pub(crate) fn ratio(a: &[f64], b: &[f64]) -> f64 {
    median(&a.iter().zip(b).map(|(a, b)| a / b.max(1e-9)).collect::<Vec<_>>())
}

/// What a figure is to be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
    /// It is only told.
    None,
}

pub(crate) fn line(what: &str, value: f64, goal: Goal) {
    let (sign, wanted, is_reached) = match goal {
        Goal::AtLeast(wanted) => (">=", wanted, value >= wanted),
        Goal::AtMost(wanted) => ("<=", wanted, value <= wanted),
        Goal::None => return println!("  {what:<52} {value:>8.2}"),
    };
    let verdict = if is_reached { "reached" } else { "missed" };
    println!("  {what:<52} {value:>8.2}   {sign} {wanted:<5} {verdict}");
}

/// The most memory that this process had at once.
pub(crate) fn peak_memory_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) << 10
}

/// Lets the peak begin anew. Where the kernel does not, later peaks hold the earlier ones.
pub(crate) fn forget_peak_memory() {
    drop(fs::write("/proc/self/clear_refs", "5"));
}

/// What a directory takes on the disk, in blocks.
pub(crate) fn disk_bytes(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = fs::read_dir(dir).expect("readable").map(|entry| entry.expect("readable"));
    entries
        .map(|entry| {
            let meta = entry.metadata().expect("it was listed");
            let own = meta.blocks() * 512;
            if meta.is_dir() { own + disk_bytes(&entry.path()) } else { own }
        })
        .sum()
}
