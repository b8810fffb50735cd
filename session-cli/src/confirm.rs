//! A destructive verb says what it will do and asks before it does it.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use std::io::{self, IsTerminal as _, Write as _};

/// The flags that every destructive verb takes.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Consent {
    /// Only print what would be done
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do it without asking
    #[arg(short, long)]
    yes: bool,
}

/// What to do after the plan was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Go,
    /// Nothing more: it was a dry run.
    Stop,
}

impl Consent {
    /// Whether only the plan is wanted.
    pub(crate) fn is_dry_run(self) -> bool {
        self.dry_run
    }

    /// Shows the plan, and asks on a terminal; the answer is no unless somebody says yes. Without a terminal there is
    /// nobody to ask, and only `-y` goes on.
    pub(crate) fn ask(self, context: &Context, plan: &[String]) -> Result<Answer, Failure> {
        if self.dry_run {
            if !context.out.is_json() {
                plan.iter().try_for_each(|line| {
                    context.out.line(&output::escape::escaped(line, output::escape::Layout::OneLine))
                })?;
            }
            return Ok(Answer::Stop);
        }
        if self.yes {
            return Ok(Answer::Go);
        }
        plan.iter().for_each(|line| output::say(line));
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Err(Failure::new(Exit::Refused, "nobody is here to ask")
                .hint("-y goes on without asking, -n only prints the plan"));
        }
        drop(write!(io::stderr(), "Go on? [y/N] "));
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).map_err(|error| Failure::input("the answer", &error))?;
        if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(Answer::Go) } else { Err(Failure::quiet(Exit::No)) }
    }
}
