//! The `deny` step: licences, bans and sources always, advisories where their database can be fetched.

use crate::project::Project;
use crate::say;
use crate::tools::DENY;
use anyhow::Result;

/// Checks the whole dependency tree against `deny.toml`, installing cargo-deny first where it is missing.
pub(crate) fn run(project: &Project) -> Result<()> {
    DENY.ensure(project)?;
    project.cargo(["deny", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"]).run()?;
    advisories(project)
}

/// Fetching is a command of its own, so that "could not fetch" and "found an advisory" cannot be confused.
fn advisories(project: &Project) -> Result<()> {
    let fetched = project.cargo(["deny", "fetch", "db"]).quiet().ignore_status().output()?;
    if !fetched.status.success() {
        let reason = String::from_utf8_lossy(&fetched.stderr);
        let reason = reason.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given").trim();
        say::note(&format!("advisories were NOT checked: their database could not be fetched ({reason})"));
        return Ok(());
    }
    project.cargo(["deny", "check", "--disable-fetch", "advisories"]).run()?;
    Ok(())
}
