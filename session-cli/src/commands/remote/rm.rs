//! `session remote rm`

use super::place::Place;
use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Rows, size};
use serde::Serialize;
use session_core::{SessionName, counted};
use session_store::remote::{Remote, RemoteError, RemoteResult, RemoveOptions, Removed};

/// The flags of `remote rm`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What copies share, such as checkpoints, stays. There is no trash in an object store: what is removed is gone, unless the \
bucket keeps versions."
)]
pub(crate) struct Flags {
    /// The copies, by their exact names
    #[arg(required = true)]
    sessions: Vec<SessionName>,
    #[command(flatten)]
    place: Place,
    /// Only what the copies no longer name: segments that were put together, and what was there before a scrub
    #[arg(long)]
    superseded: bool,
    /// Also a copy that a machine works on: what that machine sends is refused
    #[arg(long, conflicts_with = "superseded")]
    force: bool,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
struct Document {
    planned: Vec<Row>,
    removed: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    session: String,
    objects: u64,
    bytes: u64,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let remote = flags.place.open()?;
    let all = |dry_run| -> RemoteResult<Vec<Row>> {
        flags.sessions.iter().map(|name| Ok(row(name, &remove(flags, &remote, name, dry_run)?))).collect()
    };
    let mut document = Document { planned: all(true).map_err(advised)?, removed: Vec::new() };
    let told = |row: &Row| {
        let objects = counted(row.objects, "object", "objects");
        format!("remove {}: {objects}, {}", row.session, size::words(row.bytes))
    };
    let plan: Vec<String> = document.planned.iter().map(told).collect();
    if flags.consent.ask(context, &plan)? == Answer::Go {
        document.removed = all(false).map_err(advised)?;
    }
    context.out.answer("remote-rm", &document, |out| {
        let mut rows = Rows::new(&["SESSION", "OBJECTS", "BYTES"]).numeric(1).numeric(2);
        for row in &document.removed {
            let bytes = if out.is_terminal() { size::words(row.bytes) } else { row.bytes.to_string() };
            rows.push(vec![row.session.clone(), row.objects.to_string(), bytes]);
        }
        out.rows(&rows)
    })
}

/// What helps is another thing here than elsewhere.
fn advised(error: RemoteError) -> Failure {
    let is_leased = matches!(error, RemoteError::Leased { .. });
    let failure = Failure::from(error);
    if is_leased {
        failure.hint("--force removes it all the same: what is sent for it later is refused")
    } else {
        failure
    }
}

fn remove(flags: &Flags, remote: &Remote, name: &SessionName, dry_run: bool) -> RemoteResult<Removed> {
    match flags.superseded {
        true => remote.remove_superseded(name, dry_run),
        false => remote.remove(name, &RemoveOptions { force: flags.force, dry_run }),
    }
}

fn row(name: &SessionName, removed: &Removed) -> Row {
    Row { session: name.to_string(), objects: removed.objects, bytes: removed.bytes }
}
