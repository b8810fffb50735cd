//! `session import`

mod bundle;
mod run;
mod source;
mod tell;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use crate::interrupt;
use crate::output::Diagnostic;
use crate::progress::Bar;
use crate::span;
use run::{Examined, Importing};
use session_core::SessionName;
use session_core::interop::import::{ImportFormat, ImportOptions};
use session_store::BundleLimits;
use std::num::NonZeroU64;
use std::path::PathBuf;

/// The flags of `import`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The format is told by what stands in a file. What it does not have is refused, unless --lossy accepts that it is left out; \
what was left out, and why, is said in any case. A folder is one of OpenHands' events, or one with files of Claude Code's, of which each \
comes in; a sub-agent's session names the one that it belongs to as its parent. A file that came in before is left alone.\n\n\
A bundle of `session export` comes in as it went out, whole or not at all.\n\nExamples:\n  session import ~/.claude/projects/-w-oaks/5a3b.jsonl\n  session import -n ~/.codex/sessions/2026/01/02/*.jsonl\n  \
curl -s https://example.org/chat.json | session import - --format openai --name chat"
)]
pub(crate) struct Flags {
    /// Files or folders, - for standard input
    #[arg(required = true, value_hint = clap::ValueHint::AnyPath)]
    files: Vec<PathBuf>,
    /// The format
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    format: Wanted,
    /// The session's name, where there is only one [default: the date and six random characters]
    #[arg(long)]
    name: Option<SessionName>,
    /// Say what would come in, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Also where something is not understood: it is left out
    #[arg(long)]
    lossy: bool,
    /// Give calls without a result one that says that none was recorded
    #[arg(long)]
    repair: bool,
    /// Refuse a bundle that has more than SIZE unpacked
    #[arg(long, value_name = "SIZE", value_parser = span::size, default_value = "64GiB")]
    max_bytes: NonZeroU64,
    /// Refuse a bundle with more members
    #[arg(long, value_name = "N", default_value_t = BundleLimits::default().max_members)]
    max_members: u64,
    /// Refuse a bundle that grows to more than N times its size as it is unpacked
    #[arg(long, value_name = "N", default_value_t = BundleLimits::default().max_expansion)]
    max_expansion: u64,
}

impl Flags {
    fn limits(&self) -> BundleLimits {
        let Flags { max_bytes, max_members, max_expansion, .. } = self;
        BundleLimits { max_bytes: max_bytes.get(), max_members: *max_members, max_expansion: *max_expansion }
    }
}

/// The formats, as the command line names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Wanted {
    Auto,
    Claude,
    Codex,
    Openai,
    Pi,
    Gemini,
    Openhands,
    Bundle,
}

impl Wanted {
    fn format(self) -> Option<ImportFormat> {
        match self {
            Wanted::Auto | Wanted::Bundle => None,
            Wanted::Claude => Some(ImportFormat::Claude),
            Wanted::Codex => Some(ImportFormat::Codex),
            Wanted::Openai => Some(ImportFormat::OpenAi),
            Wanted::Pi => Some(ImportFormat::Pi),
            Wanted::Gemini => Some(ImportFormat::Gemini),
            Wanted::Openhands => Some(ImportFormat::OpenHands),
        }
    }
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    // Standard input is read here. Nothing comes of that until it is whole, and who is interrupted meanwhile just ends.
    let sources = source::sources(&flags.files)?;
    let watch = interrupt::watch()?;
    let bar = Bar::new(context.out.is_quiet());
    let options = ImportOptions { format: flags.format.format(), repair: flags.repair };
    let mut importing = Importing::new(context, (options, flags.limits()), watch.cancel(), &bar)?;
    let mut examined = Vec::new();
    for source in sources {
        let is_bundle = match flags.format {
            Wanted::Auto => source.is_bundle()?,
            wanted => wanted == Wanted::Bundle,
        };
        let looked_at = if is_bundle { importing.examine_bundle(source)? } else { importing.examine(source)? };
        examined.push(looked_at);
        // What was not read to its end is not known.
        if watch.cancel().is_cancelled() {
            return Err(Failure::quiet(Exit::Interrupted));
        }
    }
    one_name_for_one(flags, &examined)?;
    let mut done = Vec::new();
    for examined in examined {
        let is_refused = examined.is_refused(flags.lossy);
        done.push(if flags.dry_run || is_refused {
            importing.plan(examined, is_refused)
        } else {
            importing.import(&examined, flags.name.as_ref())?
        });
    }
    drop(bar);
    tell::tell(context, &done, flags.dry_run)
}

/// A name that is given is that of one session.
fn one_name_for_one(flags: &Flags, examined: &[Examined]) -> Result<(), Failure> {
    let sessions: u64 = examined.iter().map(|examined| examined.report.sessions).sum();
    if flags.name.is_none() || sessions <= 1 {
        return Ok(());
    }
    Err(Failure::new(Exit::Usage, format!("--name names one session, and there are {sessions}"))
        .hint("without --name each gets one of its own; nothing was imported"))
}

/// Something about a source that a person should know.
fn diagnostic(code: &str, error: &dyn std::error::Error) -> Diagnostic {
    Diagnostic { code: code.to_owned(), session: None, line: None, offset: None, text: causes(error) }
}
