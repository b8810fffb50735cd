//! `session checkpoint list`

use super::at::At;
use super::place::Place;
use super::rows::{Row, time};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows, when};
use crate::target;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use session_checkpoint::{Error, Reader, Status, TurnRef};

/// The flags of `checkpoint list`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Safety snapshots are the workspace as it was before a restore. Turns of the reference's repository are called \
reference:N.\n\nExamples:\n  session checkpoint list @\n  session checkpoint list oaks --json"
)]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
}

/// What there is of a session.
#[derive(Default)]
struct All {
    rows: Vec<Row>,
    status: Option<Status>,
    reference_externals: Vec<String>,
    diagnostics: Vec<Diagnostic>,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let place = Place::of(context, &flags.session)?;
    let mut all = All::default();
    if let Some(reader) = place.reference()? {
        all.reference(&reader)?;
    }
    if let Some(reader) = place.ours()? {
        all.ours(&place, &reader)?;
    }
    print(context, &place, &all)?;
    Ok(if all.rows.iter().any(Row::is_broken) { Exit::Partial } else { Exit::Done })
}

impl All {
    fn reference(&mut self, reader: &Reader) -> Result<(), Failure> {
        self.rows.extend(reader.turns()?.iter().map(|turn| Row::of(At::Reference(turn.turn), turn)));
        // A list that does not read takes nothing from the turns, which have their own.
        let externals = reader.reference_externals().unwrap_or_default();
        self.reference_externals = externals.iter().map(|path| path.display().to_string()).collect();
        Ok(())
    }

    fn ours(&mut self, place: &Place, reader: &Reader) -> Result<(), Failure> {
        let mut ours: Vec<Row> = reader.turns()?.iter().map(Row::ours).collect();
        for (n, commit) in reader.safeties()? {
            match reader.turn(TurnRef::Safety(n)) {
                Ok(turn) => ours.push(Row::ours(&turn)),
                Err(Error::BrokenTurn { .. } | Error::MissingObject { .. } | Error::DamagedObject { .. }) => {
                    ours.push(Row::broken_safety(n, commit));
                }
                Err(error) => return Err(error.into()),
            }
        }
        ours.sort_by_key(Row::place);
        self.rows.extend(ours);
        let status = match reader.status() {
            // A meta file that is damaged is made anew at the next snapshot.
            Err(Error::Damaged { .. }) => return Ok(()),
            other => other?,
        };
        let mut tell = |code: &str, text: String| {
            let session = Some(place.name.to_string());
            self.diagnostics.push(Diagnostic { code: code.to_owned(), session, line: None, offset: None, text });
        };
        let at = |ms| time(ms).as_ref().map(when::machine).unwrap_or_default();
        if let Some(restore) = &status.interrupted {
            let (when, target) = (at(restore.time_ms), super::at::name(&restore.target));
            tell(
                "restore-interrupted",
                format!(
                    "the restore of {target} at {when} did not end: `session checkpoint undo` goes back, `session checkpoint restore --resume` goes on"
                ),
            );
        }
        if let Some(failure) = &status.failure {
            tell(
                "last-failed",
                format!("the last {} failed at {}: {}", failure.during, at(failure.time_ms), failure.error),
            );
        }
        self.status = Some(status);
        Ok(())
    }
}

fn print(context: &Context, place: &Place, all: &All) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        workspace: Option<String>,
        checkpoints: &'a [Row],
        externals: Vec<String>,
        reference_externals: &'a [String],
        interrupted: Option<Interrupted>,
    }
    #[derive(Serialize)]
    struct Interrupted {
        target: String,
        safety: u32,
        time: Option<String>,
    }
    if context.out.is_json() {
        let status = all.status.as_ref();
        let document = Document {
            session: place.name.as_str(),
            workspace: status.map(|status| status.workspace.display().to_string()),
            checkpoints: &all.rows,
            externals: externals(status).collect(),
            reference_externals: &all.reference_externals,
            interrupted: status.and_then(|status| status.interrupted.as_ref()).map(|interrupted| Interrupted {
                target: super::at::name(&interrupted.target),
                safety: interrupted.safety,
                time: time(interrupted.time_ms).as_ref().map(when::machine),
            }),
        };
        let complete = !all.rows.iter().any(Row::is_broken);
        return context.out.document("checkpoint-list", complete, &all.diagnostics, &document);
    }
    if all.rows.is_empty() {
        context.out.note("no checkpoints; `session checkpoint create` takes one");
    } else {
        context.out.rows(&rows(context, &all.rows))?;
    }
    context.out.diagnostics(&all.diagnostics);
    for path in externals(all.status.as_ref()).chain(all.reference_externals.iter().cloned()) {
        context.out.note(&format!("note: {path} is captured too"));
    }
    Ok(())
}

fn externals(status: Option<&Status>) -> impl Iterator<Item = String> {
    status.into_iter().flat_map(|status| status.externals.iter().map(|path| path.display().to_string()))
}

fn rows(context: &Context, all: &[Row]) -> Rows {
    let mut rows = Rows::new(&["TURN", "TIME", "KIND", "LABEL", "CHANGED", "SKIPPED", "STATE"]).numeric(4).numeric(5);
    for row in all {
        let colour = if row.is_broken() { AnsiColor::Red } else { AnsiColor::BrightBlack };
        rows.push_styled(
            vec![
                row.name.clone(),
                row.when(context.out.is_terminal()),
                row.kind.to_owned(),
                row.label.clone(),
                row.changed.to_string(),
                row.skipped.to_string(),
                row.state(),
            ],
            &[(0, Style::new().bold()), (6, Style::new().fg_color(Some(colour.into())))],
        );
    }
    rows
}
