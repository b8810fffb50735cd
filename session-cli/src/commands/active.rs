//! `session active`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Rows, when};
use serde::Serialize;

/// The flags of `active`.
#[derive(Debug, clap::Args)]
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
    let mut rows = Rows::new(&["SESSION", "PID", "SINCE", "COMMAND"]).numeric(1);
    for turn in &turns {
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        rows.push(vec![turn.name.to_owned(), turn.pid.to_string(), turn.since.clone(), text(turn.command)]);
    }
    context.out.answer(
        "active",
        &Document { sessions: turns },
        |out| if rows.is_empty() { Ok(()) } else { out.rows(&rows) },
    )
}
