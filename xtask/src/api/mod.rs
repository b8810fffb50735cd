//! `cargo xtask api`: what each library shows to others, as recorded in `docs/api`.
//!
//! A line is an item: a type, a field, a variant, a function with its signature, an implementation. Who changes one
//! sees it in the difference of the change, and so does who reviews it; `semver` holds the last release's against it.

mod lines;
mod paths;
mod rustdoc;
mod semver;

pub(crate) use rustdoc::stand_in;

use crate::project::Project;
use crate::say;
use anyhow::{Context as _, Result, bail};
use lines::Difference;
use std::fs;

/// Where the records are, one file a crate.
const RECORDS: &str = "docs/api";
const BLESS: &str = "cargo xtask api --bless";

/// Compare what the libraries show to others with its record in docs/api.
///
/// All features are on. The record is made from rustdoc's JSON, whose form changes with the compiler: a toolchain whose
/// form is not known here skips the comparison and says so.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Write the records anew instead; look at the difference before you commit it
    #[arg(long)]
    bless: bool,
}

/// Compares, or records.
pub(crate) fn run(project: &Project, args: &Args) -> Result<()> {
    let mut libraries = project.libraries()?;
    libraries.sort();
    let Some(found) = rustdoc::api_of(project, &libraries)? else { return Ok(()) };
    let records = project.root().join(RECORDS);
    if args.bless {
        fs::create_dir_all(&records).with_context(|| format!("cannot make {RECORDS}"))?;
        for (name, lines) in &found {
            let path = records.join(format!("{name}.txt"));
            fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
        }
        say::passed(&format!("{} records are written in {RECORDS}", found.len()));
        return Ok(());
    }
    let mut changed = 0;
    for (name, lines) in &found {
        let recorded = fs::read_to_string(records.join(format!("{name}.txt"))).unwrap_or_default();
        let difference = Difference::between(&recorded, lines);
        if !difference.is_empty() {
            changed += 1;
            say::line(&format!("  {name} ({RECORDS}/{name}.txt)\n{difference}"));
        }
    }
    if changed > 0 {
        bail!("crates that show other things than their record says: {changed}; if that is meant, `{BLESS}`");
    }
    say::passed(&format!("{} libraries show what their records say", found.len()));
    Ok(())
}

/// Compares the records with those of the last release.
pub(crate) fn semver(project: &Project) -> Result<()> {
    semver::run(project)
}
