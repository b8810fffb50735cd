//! What is looked for, and where.

use super::printer::Shape;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{span, target};
use chrono::{DateTime, Utc};
use session_core::search::{Scope, TextKind};
use session_store::{Case, Form, HitsOfASession, Liveness, Query, QueryError, SearchOptions, Words};
use std::path::PathBuf;

/// The flags of `search`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "session search [OPTIONS] PATTERN [SESSION]...\n       session search [OPTIONS] -e REGEX [SESSION]...",
    after_help = "Examples:\n  session search 'three oaks'\n  session search -e 'plant(ed|ing)?' --in user,assistant --since 3d\n  \
session search Result -w --tool edit --limit 50\n  session search -l oak | xargs -n 1 session show --last 5\n\nLower case finds both \
cases, an upper-case letter makes case count. What is searched is the text that was said, not the JSON that holds it. The newest session comes \
first; what a rollback took back is found too, and marked.\n\nExit status: 0 hits, 1 none, 2 a bad pattern, 3 something could \
not be searched."
)]
pub(crate) struct Flags {
    /// The text to look for, unless -e is given, and the sessions to search [default: all]
    #[arg(value_name = "PATTERN [SESSION]", add = target::completer())]
    words: Vec<String>,
    /// Look for a regular expression instead of a text
    #[arg(short = 'e', long = "regex", value_name = "REGEX")]
    regex: Option<String>,
    /// Find both cases even if the pattern has an upper-case letter
    #[arg(short, long)]
    ignore_case: bool,
    /// Find whole words only
    #[arg(short, long)]
    word: bool,
    /// Search these texts only: tool is what tools answered, args what they were called with
    #[arg(long = "in", value_name = "TEXTS", value_delimiter = ',')]
    texts: Vec<Texts>,
    /// Search only what this tool answered and was called with
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Print only the names of the sessions with hits
    #[arg(short = 'l', long)]
    names_only: bool,
    /// Print how many hits each session has
    #[arg(short, long, conflicts_with = "names_only")]
    count: bool,
    /// Only sessions updated since then: 2h, 3d, 2026-11-01 (local), or RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = span::instant)]
    since: Option<DateTime<Utc>>,
    /// Only sessions that work in this directory [default without a value: the current one]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", require_equals = true)]
    workspace: Option<PathBuf>,
    /// At most so many hits; with -l or -c, sessions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) limit: Option<u64>,
}

/// Texts that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Texts {
    User,
    Assistant,
    Reasoning,
    Tool,
    Args,
    Notice,
    System,
    All,
}

impl Flags {
    /// What the library is asked for.
    pub(super) fn search(&self, context: &Context) -> Result<(Query, SearchOptions), Failure> {
        let (form, text, sessions) = match (&self.regex, &self.words[..]) {
            (Some(regex), sessions) => (Form::Regex, regex, sessions),
            (None, [text, sessions @ ..]) => (Form::Literal, text, sessions),
            (None, []) => {
                return Err(Failure::new(Exit::Usage, "there is nothing to look for")
                    .hint("session search PATTERN, or -e REGEX; --help shows examples"));
            }
        };
        let case = if self.ignore_case { Case::Any } else { Case::Smart };
        let words = if self.word { Words::Whole } else { Words::Any };
        let query = Query::new(text, form, case, words).map_err(|error| failed(&error))?.within(self.scope());
        let names = target::resolve_all(context, sessions)?;
        let is_there =
            |dir: &PathBuf| dir.canonicalize().map_err(|error| Failure::input(&dir.display().to_string(), &error));
        let (hits, live) = match self.shape() {
            Shape::Hits => (HitsOfASession::All, Liveness::Told),
            Shape::Counts => (HitsOfASession::All, Liveness::Unknown),
            Shape::Names => (HitsOfASession::First, Liveness::Unknown),
        };
        let options = SearchOptions {
            only: Some(names).filter(|names| !names.is_empty()),
            since: self.since.map(|since| since.fixed_offset()),
            workspace: self.workspace.as_ref().map(is_there).transpose()?,
            hits,
            live,
        };
        Ok((query, options))
    }

    pub(super) fn shape(&self) -> Shape {
        match (self.names_only, self.count) {
            (true, _) => Shape::Names,
            (false, true) => Shape::Counts,
            (false, false) => Shape::Hits,
        }
    }

    fn scope(&self) -> Scope {
        let kinds: Vec<TextKind> = self.texts.iter().filter_map(|texts| texts.kind()).collect();
        let scope =
            if kinds.len() == self.texts.len() && !kinds.is_empty() { Scope::of(&kinds) } else { Scope::default() };
        match &self.tool {
            Some(tool) => scope.of_tool(tool),
            None => scope,
        }
    }
}

impl Texts {
    /// `None` for all of them.
    fn kind(self) -> Option<TextKind> {
        Some(match self {
            Texts::User => TextKind::User,
            Texts::Assistant => TextKind::Assistant,
            Texts::Reasoning => TextKind::Reasoning,
            Texts::Tool => TextKind::Tool,
            Texts::Args => TextKind::Args,
            Texts::Notice => TextKind::Notice,
            Texts::System => TextKind::System,
            Texts::All => return None,
        })
    }
}

fn failed(error: &QueryError) -> Failure {
    let failure = Failure::new(Exit::Usage, error.to_string());
    match error {
        QueryError::Regex { .. } => failure.hint("without -e the pattern is looked for as it is"),
        _ => failure,
    }
}
