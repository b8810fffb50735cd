//! Commands that a person ran from within pi, and that the model was told of.

use super::value::Json;

/// What the model is told of a command.
pub(super) fn text(run: &Json) -> String {
    let output = run.get("output").text();
    let fence = "`".repeat(longest_run(output).max(2) + 1);
    let mut text = format!("Ran `{}`\n", run.get("command").text());
    if output.is_empty() {
        text.push_str("(no output)");
    } else {
        text.push_str(&format!("{fence}\n{output}\n{fence}"));
    }
    match run.get("exitCode").integer() {
        _ if run.get("cancelled").is_true() => text.push_str("\n\n(it was stopped)"),
        Some(code) if code != 0 => text.push_str(&format!("\n\nIt ended with exit code {code}")),
        Some(_) | None => {}
    }
    let file = run.get("fullOutputPath").text();
    if !file.is_empty() {
        text.push_str(&format!("\n\nAll of the output is in {file}"));
    }
    text
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}
