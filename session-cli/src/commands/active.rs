//! `session active`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use crate::output::{Diagnostic, Rows, when};
use chrono::Utc;
use serde::Serialize;
use session_store::StoreError;

/// The flags of `active`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  session active\n  session active --json")]
pub(crate) struct Flags {}

pub(crate) fn run(_: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        sessions: Vec<Turn<'a>>,
    }
    #[derive(Serialize)]
    struct Turn<'a> {
        name: &'a str,
        pid: i32,
        turn: Option<&'a str>,
        command: Option<&'a str>,
        since: String,
    }
    let active = context.store.active_turns()?;
    let turns: Vec<_> = active
        .turns
        .iter()
        .map(|active| Turn {
            name: active.session.as_str(),
            pid: active.turn.pid,
            turn: active.turn.turn_id.as_deref(),
            command: active.turn.command.as_deref(),
            since: when::machine(&active.turn.since.fixed_offset()),
        })
        .collect();
    let mut rows = Rows::new(&["SESSION", "PID", "SINCE", "COMMAND", "TURN"]).numeric(1);
    for (turn, active) in turns.iter().zip(&active.turns) {
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let since = match context.out.is_terminal() {
            true => when::relative(&active.turn.since.fixed_offset(), Utc::now()),
            false => turn.since.clone(),
        };
        rows.push(vec![turn.name.to_owned(), turn.pid.to_string(), since, text(turn.command), text(turn.turn)]);
    }
    let diagnostics: Vec<_> = active.unreadable.iter().map(unreadable).collect();
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        context.out.document("active", diagnostics.is_empty(), &diagnostics, &Document { sessions: turns })?;
    } else if !rows.is_empty() {
        context.out.rows(&rows)?;
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
}

fn unreadable(error: &StoreError) -> Diagnostic {
    Diagnostic { code: "unreadable".to_owned(), session: None, line: None, offset: None, text: causes(error) }
}
