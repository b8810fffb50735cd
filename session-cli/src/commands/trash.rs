//! `session trash`

use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows, when};
use crate::span;
use chrono::{DateTime, Utc};
use serde::Serialize;
use session_store::TrashEntry;

/// The flags of `trash`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  session trash list\n  session trash restore oaks\n  session trash empty --older-than 30d -n"
)]
pub(crate) struct Flags {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List what is in the trash, the newest first
    List,
    /// Put a session back under its name
    Restore {
        /// The session's name, which means the newest of that name, or an id from the list
        session: String,
    },
    /// Delete for good what is in the trash
    Empty {
        /// Only what was moved there before then
        #[arg(long, value_name = "WHEN", value_parser = span::instant)]
        older_than: Option<DateTime<Utc>>,
        #[command(flatten)]
        consent: Consent,
    },
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    match &flags.verb {
        Verb::List => list(context),
        Verb::Restore { session } => restore(context, session),
        Verb::Empty { older_than, consent } => empty(context, *older_than, *consent),
    }
}

fn list(context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document {
        entries: Vec<Entry>,
    }
    #[derive(Serialize)]
    struct Entry {
        id: String,
        session: String,
        deleted: String,
        why: String,
    }
    let entries = context.store.trash_list()?;
    let mut rows = Rows::new(&["ID", "SESSION", "DELETED", "WHY"]);
    for entry in &entries {
        let deleted = match context.out.is_terminal() {
            true => when::relative(&entry.deleted, Utc::now()),
            false => when::machine(&entry.deleted),
        };
        rows.push(vec![entry.id.clone(), entry.session.to_string(), deleted, entry.why.clone()]);
    }
    let entry = |entry: TrashEntry| Entry {
        session: entry.session.to_string(),
        deleted: when::machine(&entry.deleted),
        id: entry.id,
        why: entry.why,
    };
    let document = Document { entries: entries.into_iter().map(entry).collect() };
    context.out.answer("trash-list", &document, |out| {
        if rows.is_empty() {
            out.note("the trash is empty");
            return Ok(());
        }
        out.rows(&rows)
    })
}

fn restore(context: &Context, wanted: &str) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        id: &'a str,
    }
    let entries = context.store.trash_list()?;
    // The newest of a name comes first; an id is never a name that is looked up before it.
    let by_id = entries.iter().find(|entry| entry.id == wanted);
    let found = by_id.or_else(|| entries.iter().find(|entry| entry.session.as_str() == wanted));
    let Some(found) = found else {
        return Err(Failure::new(Exit::NotFound, format!("there is no {wanted:?} in the trash"))
            .hint("`session trash list` shows what there is"));
    };
    let name = context.store.restore_from_trash(&found.id)?;
    context
        .out
        .answer("trash-restore", &Document { session: name.as_str(), id: &found.id }, |out| out.line(name.as_str()))
}

fn empty(context: &Context, older_than: Option<DateTime<Utc>>, consent: Consent) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document {
        planned: Vec<String>,
        removed: u64,
    }
    let before = older_than.map(|before| before.fixed_offset());
    let entries = context.store.trash_list()?;
    let doomed: Vec<_> = entries.iter().filter(|entry| before.is_none_or(|before| entry.deleted < before)).collect();
    let plan: Vec<_> = doomed.iter().map(|entry| format!("{}: to be deleted for good", entry.id)).collect();
    let mut document = Document { planned: doomed.iter().map(|entry| entry.id.clone()).collect(), removed: 0 };
    let mut failed = Vec::new();
    if consent.ask(context, &plan)? == Answer::Go {
        let emptied = context.store.empty_trash(before.as_ref())?;
        document.removed = emptied.removed;
        let diagnostic = |error: &session_store::StoreError| Diagnostic {
            code: "not-removed".to_owned(),
            session: None,
            line: None,
            offset: None,
            text: error.to_string(),
        };
        failed = emptied.failed.iter().map(diagnostic).collect();
    }
    context.out.diagnostics(&failed);
    if context.out.is_json() {
        context.out.document("trash-empty", failed.is_empty(), &failed, &document)?;
    } else if document.removed > 0 {
        context.out.line(&document.removed.to_string())?;
    }
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Partial })
}
