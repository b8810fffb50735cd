//! Statistics as a table.

use super::{Document, Flags, Row, Sum};
use crate::context::Context;
use crate::output::{Rows, size};
use crate::tally::By;

/// How many cells the longest bar has.
const BAR: usize = 20;

/// The rows of a document, each with a bar as long as its share of the longest.
pub(super) fn rows(flags: &Flags, context: &Context, document: &Document, weights: &[f64]) -> Rows {
    let is_terminal = context.out.is_terminal();
    let key = match flags.by {
        By::Session => "SESSION",
        By::Day => "DAY",
        By::Model => "MODEL",
        By::Tool => "TOOL",
        By::Workspace => "WORKSPACE",
    };
    let mut header = vec![key, "SESSIONS", "TURNS", "MSGS", "CALLS", "ERRORS", "P50", "P95", "INPUT", "OUTPUT", "COST"];
    if flags.disk {
        header.push("DISK");
    }
    let numbers = header.len();
    if is_terminal {
        header.push("");
    }
    let mut rows = (1..numbers).fold(Rows::new(&header), Rows::numeric);
    let most = weights.iter().copied().fold(0.0, f64::max);
    for (row, weight) in document.rows.iter().zip(weights) {
        let mut fields = fields(flags, is_terminal, row);
        if is_terminal {
            fields.push(bar(*weight, most));
        }
        rows.push(fields);
    }
    if is_terminal && document.rows.len() > 1 {
        let mut fields = fields(flags, is_terminal, &document.total);
        "total".clone_into(&mut fields[0]);
        fields.push(String::new());
        rows.push(fields);
    }
    rows
}

fn fields(flags: &Flags, is_terminal: bool, row: &Row) -> Vec<String> {
    let mut fields = vec![row.key.clone().unwrap_or_default(), row.sessions.to_string()];
    fields.extend([row.turns, row.messages, row.calls, row.failures].map(|number| number.to_string()));
    let time = |ms: Option<u64>| match ms {
        None => String::new(),
        Some(ms) if is_terminal => short(ms),
        Some(ms) => ms.to_string(),
    };
    fields.extend([row.p50_ms, row.p95_ms].map(time));
    // The sum of what is known is the least that it can be.
    let more = |unknown: u64| if is_terminal && unknown > 0 { "+?" } else { "" };
    let count = |number: u64| if is_terminal { brief(number) } else { number.to_string() };
    let tokens = |sum: &Sum<u64>| sum.known.map(|known| count(known) + more(sum.unknown)).unwrap_or_default();
    fields.extend([&row.input_tokens, &row.output_tokens].map(tokens));
    let cost = row.cost_usd.known.map(|known| match is_terminal {
        true => format!("${known:.2}{}", more(row.cost_usd.unknown)),
        false => known.to_string(),
    });
    fields.push(cost.unwrap_or_default());
    if flags.disk {
        let words = |bytes: u64| if is_terminal { size::brief(bytes) } else { bytes.to_string() };
        fields.push(row.bytes.map(words).unwrap_or_default());
    }
    fields
}

/// A number of tokens in four cells or so.
fn brief(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..999_500 => format!("{:.0}k", number as f64 / 1e3),
        999_500..9_950_000 => format!("{:.1}M", number as f64 / 1e6),
        _ => format!("{:.0}M", number as f64 / 1e6),
    }
}

/// A time in three digits or so.
fn short(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{:.1}s", ms as f64 / 1_000.0),
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms / 1_000 % 60),
        _ => format!("{}h{:02}m", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// A bar of eighths of cells.
fn bar(weight: f64, most: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if most <= 0.0 {
        return String::new();
    }
    let eighths = (weight / most * (BAR * 8) as f64).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share_of_the_longest() {
        assert_eq!(bar(2.0, 2.0), "█".repeat(BAR));
        assert_eq!(bar(1.0, 2.0), "█".repeat(BAR / 2));
        assert_eq!(bar(1.0, 32.0), "▋");
        assert_eq!((bar(0.0, 2.0), bar(0.0, 0.0)), (String::new(), String::new()));
    }

    #[test]
    fn tokens_are_told_in_the_unit_that_fits() {
        let told = [0, 9_999, 10_000, 999_499, 999_500, 9_949_999, 12_345_678].map(brief);
        assert_eq!(told, ["0", "9999", "10k", "999k", "1.0M", "9.9M", "12M"]);
    }

    #[test]
    fn times_are_told_in_the_unit_that_fits() {
        let told = [0, 999, 1_000, 59_949, 61_000, 3_599_999, 3_660_000].map(short);
        assert_eq!(told, ["0ms", "999ms", "1.0s", "59.9s", "1m01s", "59m59s", "1h01m"]);
    }
}
