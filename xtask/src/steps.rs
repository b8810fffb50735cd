//! A list of steps that stops at the first failure and ends in a table of what ran and how long it took.

use crate::say;
use anyhow::{Context as _, Result};
use std::time::{Duration, Instant};

/// One step: a name that can be used on the command line or in a report, and what it does.
pub(crate) struct Step<'a> {
    name: &'static str,
    action: Box<dyn FnOnce() -> Result<()> + 'a>,
}

impl<'a> Step<'a> {
    pub(crate) fn new(name: &'static str, action: impl FnOnce() -> Result<()> + 'a) -> Self {
        Step { name, action: Box::new(action) }
    }
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed(Duration),
    Failed(Duration),
    NotRun,
}

/// Runs the steps in order, prints the table, and fails with the name of the step that failed.
pub(crate) fn run(steps: Vec<Step<'_>>) -> Result<()> {
    let mut rows = Vec::with_capacity(steps.len());
    let mut result = Ok(());
    for Step { name, action } in steps {
        if result.is_err() {
            rows.push((name, Outcome::NotRun));
            continue;
        }
        say::step(name);
        let start = Instant::now();
        result = action().with_context(|| format!("step `{name}` failed"));
        let took = start.elapsed();
        rows.push((name, if result.is_ok() { Outcome::Passed(took) } else { Outcome::Failed(took) }));
    }
    say::step("summary");
    say::line(&table(&rows));
    result
}

fn table(rows: &[(&str, Outcome)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let row = |&(name, outcome): &(&str, Outcome)| match outcome {
        Outcome::Passed(took) => format!("  {name:width$}  ok      {:>8.1} s", took.as_secs_f64()),
        Outcome::Failed(took) => format!("  {name:width$}  FAILED  {:>8.1} s", took.as_secs_f64()),
        Outcome::NotRun => format!("  {name:width$}  not run"),
    };
    rows.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Step, run, table};
    use std::cell::RefCell;
    use std::time::Duration;

    #[test]
    fn a_failed_step_is_named_and_ends_the_run() {
        let ran = RefCell::new(Vec::new());
        let step = |name: &'static str, good: bool| {
            let ran = &ran;
            Step::new(name, move || {
                ran.borrow_mut().push(name);
                if good { Ok(()) } else { Err(anyhow::anyhow!("as told")) }
            })
        };
        let error = run(vec![step("first", true), step("second", false), step("third", true)])
            .expect_err("the second step fails");
        assert_eq!(format!("{error:#}"), "step `second` failed: as told");
        assert_eq!(ran.into_inner(), ["first", "second"]);
    }

    #[test]
    fn the_table_shows_each_step_with_its_outcome() {
        let rows = [
            ("fmt", Outcome::Passed(Duration::from_millis(1_250))),
            ("clippy", Outcome::Failed(Duration::from_secs(61))),
            ("test", Outcome::NotRun),
        ];
        assert_eq!(table(&rows), "  fmt     ok           1.2 s\n  clippy  FAILED      61.0 s\n  test    not run");
    }
}
