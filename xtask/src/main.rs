//! The project's own tasks, run as `cargo xtask TASK`.
//!
//! One task is one file. A task prints each command before it runs it, so that every step can be repeated by
//! hand; `cargo xtask ci` is the whole gate that a change has to pass. Nothing here is used by the other crates,
//! and none of them is used here: the tasks must work when the rest does not compile.

mod api;
mod bench;
mod bless;
mod ci;
mod cli;
mod deny;
mod deps;
mod fuzz;
mod imports;
mod picture;
mod powerset;
mod project;
mod release;
mod say;
mod steps;
mod test;
mod tidy;
mod tokens;
mod tools;
mod tree;

use clap::Parser as _;
use cli::{Cli, Task};
use project::Project;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match api::stand_in() {
        Some(error) => Err(error),
        None => run(&Cli::parse().task),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::failed(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task) -> anyhow::Result<()> {
    let project = Project::find()?;
    match task {
        Task::Ci(args) => ci::run(&project, args),
        Task::Test(args) => test::run(&project, args),
        Task::Tidy => tidy::run(&project),
        Task::Picture => picture::run(&project),
        Task::Deps => deps::run(&project),
        Task::Api(args) => api::run(&project, args),
        Task::Semver => api::semver(&project),
        Task::Powerset(args) => powerset::run(&project, args),
        Task::Bless(args) => bless::run(&project, args),
        Task::Fuzz(args) => fuzz::run(&project, args),
        Task::Bench(args) => bench::run(&project, args),
        Task::Release(args) => release::run(&project, args),
        Task::Tools => tools::install_missing(&project),
    }
}
