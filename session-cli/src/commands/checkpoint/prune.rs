//! `session checkpoint prune`

use super::place::Place;
use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::number::counted;
use crate::output::size;
use crate::{interrupt, span, target};
use chrono::{DateTime, Utc};
use serde::Serialize;
use session_checkpoint::{Checkpoints, Pruned, Reader, Retention};

/// The flags of `checkpoint prune`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Never dropped are the newest turn, pinned ones, the one that a fork began with, and both ends of the newest restore. \
Exit status 1 when there is nothing to drop.\n\nExamples:\n  session checkpoint prune @ --keep 20 -n\n  \
session checkpoint prune oaks --older-than 30d -y"
)]
#[command(group = clap::ArgGroup::new("rule").required(true).multiple(true).args(["keep", "older_than", "larger_than"]))]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// Keep so many of the newest turns
    #[arg(long, value_name = "N")]
    keep: Option<u32>,
    /// Drop what was taken before then
    #[arg(long, value_name = "WHEN", value_parser = span::instant)]
    older_than: Option<DateTime<Utc>>,
    /// Drop the oldest until the others take no more than this
    #[arg(long, value_name = "BYTES")]
    larger_than: Option<u64>,
    #[command(flatten)]
    consent: Consent,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        planned: &'a Pruned,
        pruned: Option<&'a Pruned>,
    }
    let place = Place::to_change(context, &flags.session)?;
    let retention = Retention {
        keep_last: flags.keep,
        not_before_ms: flags.older_than.map(|time| time.timestamp_millis()),
        max_bytes: flags.larger_than,
    };
    let watch = interrupt::watch()?;
    let planned = Reader::open(&place.store)?.plan_prune(retention, &watch.cancel())?;
    drop(watch);
    let is_nothing = planned.turns.is_empty() && planned.safeties.is_empty();
    let mut pruned = None;
    if is_nothing {
        context.out.note("nothing to drop");
    } else if flags.consent.ask(context, &lines(&planned))? == Answer::Go {
        let watch = interrupt::watch()?;
        let (mut checkpoints, _) = Checkpoints::open_store(&place.store)?;
        pruned = Some(checkpoints.prune(retention, &watch.cancel())?);
    }
    let document = Document { session: place.name.as_str(), planned: &planned, pruned: pruned.as_ref() };
    context.out.answer("checkpoint-prune", &document, |out| {
        let Some(pruned) = &pruned else { return Ok(()) };
        let names = dropped(pruned);
        if out.is_terminal() {
            let (before, after) = (size::words(pruned.bytes_before), size::words(pruned.bytes_after));
            let dropped = counted(names.len() as u64, "checkpoint", "checkpoints");
            return out.line(&format!("{dropped} dropped; {before} became {after}"));
        }
        names.iter().try_for_each(|name| out.line(name))
    })?;
    Ok(if is_nothing { Exit::No } else { Exit::Done })
}

fn dropped(pruned: &Pruned) -> Vec<String> {
    let turns = pruned.turns.iter().map(u32::to_string);
    turns.chain(pruned.safeties.iter().map(|n| format!("safety:{n}"))).collect()
}

fn lines(planned: &Pruned) -> Vec<String> {
    let mut lines: Vec<String> = dropped(planned).iter().map(|name| format!("drop {name}")).collect();
    lines.extend(planned.protected.iter().map(|n| format!("keep {n}: protected")));
    let (before, after) = (size::words(planned.bytes_before), size::words(planned.bytes_after));
    lines.push(format!("{before} will become about {after}"));
    lines
}
