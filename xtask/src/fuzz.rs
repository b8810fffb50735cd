//! `cargo xtask fuzz`, and the `fuzz` step of `ci` that keeps the targets compiling.

use crate::project::Project;
use crate::say;
use crate::tools::FUZZ;
use anyhow::{Result, bail};

/// Where the fuzz crate stands, from the root.
const DIRECTORY: &str = "session-core/fuzz";
/// The manifest of the fuzz crate, which is a workspace of its own.
pub(crate) const MANIFEST: &str = "session-core/fuzz/Cargo.toml";

/// Run the fuzz targets of session-core (needs a nightly toolchain).
///
/// What a target finds is left in session-core/fuzz/artifacts; it becomes a fixture of a test the same day.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The target to run; without one, all of them in turn
    target: Option<String>,
    /// How long to run each target
    #[arg(long, value_name = "N", default_value_t = 60)]
    seconds: u32,
}

/// Runs one target, or each in turn, for the given time.
pub(crate) fn run(project: &Project, args: &Args) -> Result<()> {
    if !is_present(project) {
        bail!("there is no fuzz crate at {DIRECTORY}");
    }
    let all = targets(project)?;
    let chosen = match &args.target {
        None => all,
        Some(name) if all.contains(name) => vec![name.clone()],
        Some(name) => bail!("there is no fuzz target `{name}`; there are: {}", all.join(", ")),
    };
    require_nightly(project)?;
    FUZZ.ensure(project)?;
    for target in chosen {
        say::step(&format!("fuzz {target} for {} s", args.seconds));
        project
            .cargo(["+nightly", "fuzz", "run", "--fuzz-dir", DIRECTORY, &target])
            .args(corpora(project, &target)?)
            .args(["--", &format!("-max_total_time={}", args.seconds)])
            .run()?;
    }
    Ok(())
}

/// Compiles the fuzz targets without running them, which the stable toolchain can do.
pub(crate) fn check(project: &Project) -> Result<()> {
    if !is_present(project) {
        say::note(&format!("there is no fuzz crate at {DIRECTORY}: nothing to compile"));
        return Ok(());
    }
    // Nothing is linked by a check, so the C++ runtime of libFuzzer need not be compiled: its build script takes
    // the path of a ready one without looking.
    project
        .cargo(["check", "--locked", "--bins", "--manifest-path", MANIFEST])
        .env("RUSTFLAGS", "--cfg fuzzing -D warnings")
        .env("CUSTOM_LIBFUZZER_PATH", "/nonexistent/libfuzzer.a")
        .run()?;
    Ok(())
}

/// Whether the checkout has a fuzz crate.
pub(crate) fn is_present(project: &Project) -> bool {
    project.root().join(MANIFEST).is_file()
}

/// The names of the targets, in order: each is one file.
fn targets(project: &Project) -> Result<Vec<String>> {
    let directory = project.root().join(DIRECTORY).join("fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// The directories of inputs to start from: what earlier runs found, which also takes what this run finds, and
/// the inputs in `seeds/TARGET`, which are tracked.
fn corpora(project: &Project, target: &str) -> Result<Vec<String>> {
    let corpus = format!("{DIRECTORY}/corpus/{target}");
    std::fs::create_dir_all(project.root().join(&corpus))?;
    let seeds = format!("{DIRECTORY}/seeds/{target}");
    let has_seeds = project.root().join(&seeds).is_dir();
    Ok(if has_seeds { vec![corpus, seeds] } else { vec![corpus] })
}

fn require_nightly(project: &Project) -> Result<()> {
    if project.cargo(["+nightly", "--version"]).quiet().ignore_stderr().ignore_stdout().run().is_ok() {
        return Ok(());
    }
    bail!("fuzzing needs a nightly toolchain: `rustup toolchain install nightly --profile minimal`")
}
