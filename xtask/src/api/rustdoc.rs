//! What a library shows to others, by rustdoc.
//!
//! rustdoc writes JSON only for who asks the compiler for what is not stable (`RUSTC_BOOTSTRAP=1`). Put into the
//! environment of cargo, that would change how build scripts answer, and build every dependency twice. So this program
//! stands in for rustdoc: cargo starts it, it adds what is missing, and becomes rustdoc. What `cargo doc` has checked
//! serves for this, too.

use super::paths::Shown;
use crate::project::Project;
use crate::say;
use anyhow::{Context as _, Result, bail};
use public_api::{Builder, PublicApi};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// Names the real rustdoc to a process that stands in for it.
const STANDS_FOR: &str = "XTASK_STANDS_FOR_RUSTDOC";
/// The versions of rustdoc's JSON that the crate `public-api` can read.
const KNOWN: std::ops::RangeInclusive<u32> = 57..=59;

/// The lines of each library, by its name. `None`: this toolchain's JSON is not known.
pub(super) fn api_of(project: &Project, libraries: &[String]) -> Result<Option<BTreeMap<String, String>>> {
    let rustdoc = env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    let this = env::current_exe().context("a program knows where it is")?;
    // The same selection as that of the step `doc`: with another one, cargo would choose other features.
    project
        .cargo(["doc", "--no-deps", "--workspace", "--all-features", "--lib"])
        .env("RUSTDOC", this)
        .env(STANDS_FOR, rustdoc)
        .env("RUSTDOCFLAGS", "-Z unstable-options --output-format json --cap-lints allow")
        .run()?;
    let directory = project.members()?.target_directory.join("doc");
    let mut found = BTreeMap::new();
    for library in libraries {
        let path = directory.join(format!("{}.json", library.replace('-', "_")));
        let Some(api) = read(path.as_std_path())? else { return Ok(None) };
        found.insert(library.clone(), api.items().map(ToString::to_string).collect::<Vec<String>>());
    }
    let shown = Shown::of(found.values().flatten().map(String::as_str));
    Ok(Some(found.into_iter().map(|(library, lines)| (library, record(&lines, &shown))).collect()))
}

/// Becomes rustdoc if that is what this process was started for.
pub(crate) fn stand_in() -> Option<anyhow::Error> {
    let rustdoc = env::var_os(STANDS_FOR)?;
    let error = Command::new(rustdoc).args(env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").exec();
    Some(anyhow::Error::new(error).context("cannot start rustdoc"))
}

/// The part of the JSON that has been there in every version.
#[derive(Deserialize)]
struct Head {
    format_version: u32,
}

fn read(json: &Path) -> Result<Option<PublicApi>> {
    let text = fs::read_to_string(json).with_context(|| format!("rustdoc did not write {}", json.display()))?;
    let head: Head = serde_json::from_str(&text).with_context(|| format!("{} is no JSON", json.display()))?;
    if !KNOWN.contains(&head.format_version) {
        say::note(&format!(
            "this toolchain's rustdoc writes version {} of its JSON, and {} to {} are known: the records are not compared",
            head.format_version,
            KNOWN.start(),
            KNOWN.end()
        ));
        return Ok(None);
    }
    // What every type has, or has by its derives, is noise: blanket and automatic implementations are left out.
    let builder = Builder::from_rustdoc_json(json).omit_blanket_impls(true).omit_auto_trait_impls(true);
    match builder.omit_auto_derived_impls(true).build() {
        Ok(api) => Ok(Some(api)),
        Err(error) => bail!("cannot read {}: {error}", json.display()),
    }
}

fn record(lines: &[String], shown: &Shown) -> String {
    let lines: BTreeSet<String> = lines.iter().map(|line| shown.as_named(line)).collect();
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
