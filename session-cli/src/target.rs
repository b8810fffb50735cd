//! Which session a person means: an exact name, a unique prefix, `@`, `@2`, or `.`.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::kin::is_kin;
use crate::output::escape::{Layout, escaped};
use clap::builder::StyledStr;
use clap_complete::{ArgValueCompleter, CompletionCandidate};
use session_core::SessionName;
use session_store::{Empties, SessionInfo, Store};
use std::ffi::OsStr;

/// How many candidates an ambiguous prefix lists.
const SHOWN: usize = 10;

/// What a session is named for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Nothing of it changes.
    Look,
    /// It is written to, or more: then `.` is never one that another process is at work in.
    Change,
}

/// The session that `text` names, for who only looks at it. It must exist; nothing is ever created by naming it.
pub(crate) fn resolve(context: &Context, text: &str) -> Result<SessionName, Failure> {
    named(context, text, Purpose::Look)
}

/// The session that `text` names, for who changes it.
pub(crate) fn resolve_to_change(context: &Context, text: &str) -> Result<SessionName, Failure> {
    named(context, text, Purpose::Change)
}

fn named(context: &Context, text: &str, purpose: Purpose) -> Result<SessionName, Failure> {
    if text == "." {
        return here(context, purpose);
    }
    if let Some(rank) = text.strip_prefix('@') {
        let name = newest(context, rank)?;
        context.out.note(&format!("note: {text} is {name}"));
        return Ok(name);
    }
    let name = SessionName::new(text)?;
    if context.store.exists(&name) {
        return Ok(name);
    }
    by_prefix(context, text)
}

/// The sessions that these texts name, each once, in their order, for who only looks at them.
pub(crate) fn resolve_all(context: &Context, texts: &[String]) -> Result<Vec<SessionName>, Failure> {
    each_once(texts.iter().map(|text| resolve(context, text)))
}

/// The same, for who changes them.
pub(crate) fn resolve_all_to_change(context: &Context, texts: &[String]) -> Result<Vec<SessionName>, Failure> {
    each_once(texts.iter().map(|text| resolve_to_change(context, text)))
}

fn each_once(all: impl Iterator<Item = Result<SessionName, Failure>>) -> Result<Vec<SessionName>, Failure> {
    let mut names: Vec<SessionName> = Vec::new();
    for name in all {
        let name = name?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

fn by_prefix(context: &Context, text: &str) -> Result<SessionName, Failure> {
    let names = context.store.names()?;
    let matching: Vec<&SessionName> = names.iter().filter(|name| name.as_str().starts_with(text)).collect();
    match &matching[..] {
        [only] => Ok((*only).clone()),
        [] => {
            let failure = Failure::new(Exit::NotFound, format!("there is no session {text:?}"));
            Err(match context.store.similar(text)?.first() {
                Some(name) => failure.hint(format!("did you mean {name}? `session list` shows all")),
                None => failure.hint("`session list` shows all, `session new` creates one"),
            })
        }
        several => {
            let shown: Vec<&str> = several.iter().take(SHOWN).map(|name| name.as_str()).collect();
            let more =
                if several.len() > SHOWN { format!(" and {} more", several.len() - SHOWN) } else { String::new() };
            let text = format!("{text:?} is the start of {} sessions", several.len());
            Err(Failure::new(Exit::NotFound, text).hint(format!("one of {}{more}", shown.join(", "))))
        }
    }
}

/// `@` is the newest, `@2` the second newest.
fn newest(context: &Context, rank: &str) -> Result<SessionName, Failure> {
    let rank = match rank {
        "" => 1,
        digits => digits.parse::<usize>().ok().filter(|rank| *rank > 0).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("@{digits} is no session")).hint("@ is the newest, @2 the second newest")
        })?,
    };
    let sessions = context.store.newest(Empties::Hide, rank, |session| SessionName::new(&session.name).is_ok())?;
    let name = sessions.into_iter().filter_map(|session| SessionName::new(session.name).ok()).nth(rank - 1);
    name.ok_or_else(|| Failure::new(Exit::NotFound, format!("there are fewer than {rank} sessions")))
}

/// `.` is the newest whose workspace is this directory. Which one that is is told.
fn here(context: &Context, purpose: Purpose) -> Result<SessionName, Failure> {
    let here = std::env::current_dir().and_then(|dir| dir.canonicalize());
    let here = here.map_err(|error| Failure::input("the current directory", &error))?;
    let mut passed_over = Vec::new();
    let is_meant = |session: &SessionInfo| {
        if !session.works_in(&here) || SessionName::new(&session.name).is_err() {
            return false;
        }
        // Whose turn cannot be told is not ours.
        let is_anothers = session.pid.is_some_and(|pid| !is_kin(pid).unwrap_or(false));
        if purpose == Purpose::Look || !is_anothers {
            return true;
        }
        passed_over.push(session.name.clone());
        false
    };
    let found = context.store.newest(Empties::Hide, 1, is_meant)?.pop();
    let busy = passed_over.join(", ");
    if let Some(name) = found.and_then(|session| SessionName::new(session.name).ok()) {
        let why = if busy.is_empty() { String::new() } else { format!("; a turn of another process runs in {busy}") };
        context.out.note(&format!("note: . is {name}{why}"));
        return Ok(name);
    }
    let here = here.display();
    Err(if busy.is_empty() {
        Failure::new(Exit::NotFound, format!("no session has the workspace {here}")).hint("`session list` shows all")
    } else {
        Failure::new(Exit::Busy, format!("a turn of another process runs in each session of {here}: {busy}"))
            .hint("name the session to take it all the same")
    })
}

/// Which processes are completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Processes {
    All,
    Running,
}

/// Completes the ids of the background processes of the session that stands before them.
pub(crate) fn process_completer(which: Processes) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let typed = typed.to_string_lossy();
        let mut candidates = processes(which).unwrap_or_default();
        candidates.retain(|candidate| candidate.get_value().to_string_lossy().starts_with(&*typed));
        candidates
    })
}

fn processes(which: Processes) -> Option<Vec<CompletionCandidate>> {
    let context = Context::for_completion()?;
    // What is being completed follows a `--`: the program, the verb, and what stands behind it.
    let words = std::env::args().skip_while(|word| word != "--").skip(3);
    let session = words.into_iter().find(|word| !word.starts_with('-'))?;
    let registries = context.store.registries(&resolve(&context, &session).ok()?).ok()?;
    let listed = registries.iter().filter_map(|(_, registry)| registry.list().ok());
    let mut processes: Vec<_> = listed.flat_map(|listing| listing.processes).collect();
    processes.retain(|status| which == Processes::All || !status.state.is_final());
    let candidate = |status: &session_proc::Status| {
        CompletionCandidate::new(status.id.as_str()).help(Some(shown_beside(&status.command)))
    };
    Some(processes.iter().map(candidate).collect())
}

/// Completes session names.
pub(crate) fn completer() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let typed = typed.to_string_lossy();
        let Some(Context { store, .. }) = Context::for_completion() else { return Vec::new() };
        let names = store.names().unwrap_or_default();
        let matching = names.iter().filter(|name| name.as_str().starts_with(&*typed));
        matching.map(|name| CompletionCandidate::new(name.as_str()).help(title(&store, name))).collect()
    })
}

fn title(store: &Store, name: &SessionName) -> Option<StyledStr> {
    store.title(name).ok().flatten().map(|title| shown_beside(&title))
}

/// What a shell shows beside a word that it may complete.
pub(crate) fn shown_beside(text: &str) -> StyledStr {
    StyledStr::from(escaped(text, Layout::OneLine).into_owned())
}
