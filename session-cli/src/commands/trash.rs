//! `session trash`

use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows, when};
use crate::span;
use chrono::{DateTime, Utc};
use serde::Serialize;
use session_store::{TrashEntry, UnreadableTrash};

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
        unreadable: Vec<String>,
    }
    #[derive(Serialize)]
    struct Entry {
        id: String,
        session: String,
        deleted: String,
        why: String,
    }
    let (entries, unreadable) = (context.store.trash_list()?, context.store.trash_unreadable()?);
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
    let diagnostics: Vec<_> = unreadable.iter().map(|one| diagnostic("unreadable", cannot_be_read(one))).collect();
    let unreadable = unreadable.into_iter().map(|one| one.id).collect();
    let document = Document { entries: entries.into_iter().map(entry).collect(), unreadable };
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        context.out.document("trash-list", diagnostics.is_empty(), &diagnostics, &document)?;
    } else if !rows.is_empty() {
        context.out.rows(&rows)?;
    } else if diagnostics.is_empty() {
        context.out.note("the trash is empty");
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
}

fn cannot_be_read(one: &UnreadableTrash) -> String {
    format!("{}: its record cannot be read; what it holds is in {}", one.id, one.path.display())
}

fn diagnostic(code: &str, text: String) -> Diagnostic {
    Diagnostic { code: code.to_owned(), session: None, line: None, offset: None, text }
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
    let unreadable = context.store.trash_unreadable()?;
    if let Some(one) = unreadable.iter().find(|one| found.is_none() && one.id == wanted) {
        let record = one.path.join("record.json");
        return Err(Failure::new(Exit::Busy, cannot_be_read(one))
            .hint(format!("with a record in {} it can be restored", record.display())));
    }
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
    let (mut entries, mut unreadable) = (context.store.trash_list()?, context.store.trash_unreadable()?);
    entries.retain(|entry| before.is_none_or(|before| entry.deleted < before));
    let mut diagnostics = Vec::new();
    if before.is_some() {
        // How long something was there is what its record says.
        diagnostics.extend(unreadable.drain(..).map(|one| diagnostic("unreadable", cannot_be_read(&one))));
    }
    let plan = entries.iter().map(|entry| format!("{}: to be deleted for good", entry.id));
    let blind = unreadable.iter().map(|one| format!("{}; to be deleted for good", cannot_be_read(one)));
    let plan: Vec<String> = plan.chain(blind).collect();
    let planned = entries.into_iter().map(|entry| entry.id).chain(unreadable.into_iter().map(|one| one.id)).collect();
    let mut document = Document { planned, removed: 0 };
    if consent.ask(context, &plan)? == Answer::Go {
        let emptied = context.store.empty_trash(&document.planned)?;
        document.removed = emptied.removed;
        diagnostics.extend(emptied.failed.iter().map(|error| diagnostic("not-removed", error.to_string())));
    }
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        context.out.document("trash-empty", diagnostics.is_empty(), &diagnostics, &document)?;
    } else if document.removed > 0 {
        context.out.line(&document.removed.to_string())?;
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
}
