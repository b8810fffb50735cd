//! The verbs, one file each: flags, a few calls of the libraries, and printing.

pub(crate) mod active;
pub(crate) mod append;
pub(crate) mod checkpoint;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod du;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod import;
pub(crate) mod inbox;
pub(crate) mod kill;
pub(crate) mod last_model;
pub(crate) mod lineage;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod meta;
pub(crate) mod new;
pub(crate) mod notice;
pub(crate) mod path;
pub(crate) mod pin;
pub(crate) mod prune;
pub(crate) mod ps;
#[cfg(feature = "remote")]
pub(crate) mod pull;
#[cfg(feature = "remote")]
pub(crate) mod push;
pub(crate) mod relocate;
#[cfg(feature = "remote")]
pub(crate) mod remote;
pub(crate) mod rename;
pub(crate) mod report;
pub(crate) mod rewind;
pub(crate) mod rm;
pub(crate) mod rollback;
pub(crate) mod run;
pub(crate) mod run_id;
pub(crate) mod scan;
pub(crate) mod scrub;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod show;
pub(crate) mod spill;
pub(crate) mod stats;
pub(crate) mod steer;
#[cfg(feature = "remote")]
pub(crate) mod sync;
pub(crate) mod tail;
pub(crate) mod title;
pub(crate) mod trash;
pub(crate) mod turn;
pub(crate) mod unpin;
pub(crate) mod usage;
pub(crate) mod wait;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use session_core::{Event, SessionName};
use session_store::{Appended, Options, Session};

/// Opens the session that `text` names, to change it, and says so if its conversation goes on elsewhere.
fn opened(context: &Context, text: &str, options: Options) -> Result<Session, Failure> {
    opened_by_name(context, &target::resolve_to_change(context, text)?, options)
}

/// The same for a session whose name is known.
fn opened_by_name(context: &Context, name: &SessionName, options: Options) -> Result<Session, Failure> {
    let session = context.store_with(options).open(name)?;
    if session.name() != name.as_str() {
        context.out.note(&format!("note: {name} goes on as {}", session.name()));
    }
    Ok(session)
}

/// Appends one event. On a terminal and in a pipe nothing is printed: the exit status says it.
fn appended(context: &Context, verb: &str, session: &str, event: Event) -> Result<Exit, Failure> {
    let session = opened(context, session, Options::default())?;
    let appended = session.append(&[event])?;
    if appended.events == 0 {
        return Err(Failure::new(Exit::Busy, format!("session {} has no conversation yet", session.name()))
            .hint("its first message or notice comes first; nothing was appended"));
    }
    tell_isolated(context, &appended);
    context.out.answer(verb, &AppendedDocument::new(session.name(), &appended), |_| Ok(()))
}

/// What an append did, for machines.
#[derive(Debug, Serialize)]
struct AppendedDocument<'a> {
    session: &'a str,
    events: usize,
    bytes: u64,
    offset: u64,
    isolated: Vec<IsolatedDocument>,
}

#[derive(Debug, Serialize)]
struct IsolatedDocument {
    offset: u64,
    bytes: u64,
    quarantine: Option<String>,
}

impl<'a> AppendedDocument<'a> {
    fn new(session: &'a str, appended: &Appended) -> Self {
        let isolated = appended.isolated.iter().map(|isolated| IsolatedDocument {
            offset: isolated.offset,
            bytes: isolated.len,
            quarantine: isolated.quarantine.as_ref().ok().map(|path| path.display().to_string()),
        });
        let isolated = isolated.collect();
        AppendedDocument { session, events: appended.events, bytes: appended.bytes, offset: appended.offset, isolated }
    }
}

/// A torn line that the append found and set apart is worth a word.
fn tell_isolated(context: &Context, appended: &Appended) {
    for isolated in &appended.isolated {
        let (offset, len) = (isolated.offset, isolated.len);
        let kept = match &isolated.quarantine {
            Ok(path) => format!("are kept in {}", path.display()),
            Err(error) => format!("stand on a line of their own, which readers skip: {error}"),
        };
        context.out.note(&format!("note: {len} bytes of a torn line at byte {offset} {kept}"));
    }
}
