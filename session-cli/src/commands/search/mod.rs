//! `session search`

mod flags;
mod printer;

pub(crate) use flags::Flags;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use crate::interrupt;
use crate::output::Diagnostic;
use crate::output::number::counted;
use crate::progress::Bar;
use indicatif::{HumanBytes, HumanCount};
use printer::Printer;
use session_store::{Damage, Found, Searched, Unsearched};
use std::ops::ControlFlow;

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let (query, options) = flags.search(context)?;
    let watch = interrupt::watch()?;
    let cancel = watch.cancel();
    let bar = Bar::new(context.out.is_quiet());
    let mut printer = Printer::new(flags.limit, flags.shape(), context);
    let mut failure = None;
    let searched = context.store.search(&query, &options, &mut |found| {
        let told = match found {
            Found::Hit { session, hit, live, .. } => printer.hit(session, hit, live),
            Found::Progress { sessions, bytes, .. } => {
                bar.say(|| format!("{} sessions, {} searched", HumanCount(sessions), HumanBytes(bytes)));
                bar.aside(|| printer.flush()).map(|()| ControlFlow::Continue(()))
            }
            _ => Ok(ControlFlow::Continue(())),
        };
        match told {
            Ok(ControlFlow::Continue(())) if !cancel.is_cancelled() => ControlFlow::Continue(()),
            Ok(_) => ControlFlow::Break(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    drop(bar);
    if let Some(failure) = failure {
        return Err(failure);
    }
    let searched = searched?;
    let diagnostics: Vec<_> = searched.skipped.iter().map(diagnostic).collect();
    let hits = printer.finish(&searched, &diagnostics)?;
    context.out.diagnostics(&diagnostics);
    if cancel.is_cancelled() {
        return Err(Failure::new(Exit::Interrupted, "stopped before all sessions were searched"));
    }
    tell(context, hits, &searched);
    Ok(match hits {
        _ if !searched.skipped.is_empty() => Exit::Partial,
        0 => Exit::No,
        _ => Exit::Done,
    })
}

/// What was searched, for a person.
fn tell(context: &Context, hits: u64, searched: &Searched) {
    if context.out.is_terminal() {
        let Searched { sessions, bytes, stopped, .. } = searched;
        let (hits, sessions) = (counted(hits, "hit", "hits"), counted(*sessions, "session", "sessions"));
        let end = if *stopped { "; --limit ended it" } else { "" };
        context.out.note(&format!("{hits}; {sessions}, {} searched{end}", HumanBytes(*bytes)));
    }
}

fn diagnostic(skipped: &Unsearched) -> Diagnostic {
    let first = skipped.first.as_ref();
    let text = match (&skipped.damage, first) {
        (Damage::Lines { skipped: 1, .. }, Some(first)) => format!("a line could not be searched: {first}"),
        (Damage::Lines { skipped, .. }, Some(first)) => {
            format!("{skipped} lines could not be searched, the first one: {first}")
        }
        (Damage::Unreadable(error), _) => format!("not searched: {}", causes(error)),
        (damage, _) => format!("not searched: {damage}"),
    };
    Diagnostic {
        code: code(&skipped.damage).to_owned(),
        session: Some(skipped.session.clone()),
        line: first.and_then(|first| first.place.line),
        offset: first.map(|first| first.place.offset),
        text,
    }
}

/// A stable name for what was not searched.
fn code(damage: &Damage) -> &'static str {
    match damage {
        Damage::Lines { .. } => "lines",
        Damage::Link => "link",
        Damage::NotAFile => "not-a-file",
        _ => "unreadable",
    }
}
