//! What tools a conversation called: `cargo run -p session-core --example tools < history.jsonl`.
//!
//! A line a tool, the most called first: its name, calls, failures, and the time that half and 95 of 100 calls stayed
//! within, in milliseconds.

use session_core::{Cell, Limits, Period, Statistics};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    let mut statistics = Statistics::default();
    let defects = statistics.read(0, io::stdin().lock(), Limits::default(), &Period::ALL)?;
    for defect in defects.iter().filter(|defect| defect.is_skipped()) {
        writeln!(io::stderr(), "{defect}: it is in no number")?;
    }
    let mut tools: BTreeMap<&str, Cell> = BTreeMap::new();
    for (key, cell) in statistics.cells() {
        if let Some(tool) = &key.tool {
            *tools.entry(tool).or_default() += cell;
        }
    }
    let mut tools: Vec<_> = tools.into_iter().collect();
    tools.sort_by_key(|(_, cell)| Reverse(cell.calls));
    let mut out = io::stdout().lock();
    writeln!(out, "{:<24} {:>6} {:>6} {:>8} {:>8}", "tool", "calls", "failed", "p50 ms", "p95 ms")?;
    for (name, cell) in &tools {
        let time = |percent| cell.percentile_ms(percent).map_or("-".to_owned(), |ms| ms.to_string());
        writeln!(out, "{name:<24} {:>6} {:>6} {:>8} {:>8}", cell.calls, cell.failures, time(50), time(95))?;
    }
    Ok(())
}
