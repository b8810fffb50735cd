//! The turns that a session can go back to.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows, when};
use serde::Serialize;
use session_core::{SessionName, TurnSpan};

#[derive(Serialize)]
struct Document<'a> {
    session: &'a str,
    events: u64,
    turns: Vec<Turn<'a>>,
}

#[derive(Serialize)]
struct Turn<'a> {
    turn: u64,
    id: Option<&'a str>,
    first: u64,
    last: u64,
    offset: u64,
    started: Option<String>,
    outcome: Option<&'a str>,
    before: Option<u64>,
    after: Option<u64>,
    messages: u64,
    live: u64,
    prompt: &'a str,
}

pub(super) fn list(context: &Context, name: &SessionName) -> Result<Exit, Failure> {
    let timeline = context.store.history(name)?.timeline()?;
    let turns = timeline.turns().iter().map(|turn| Turn {
        turn: turn.number,
        id: turn.id.as_deref(),
        first: turn.first,
        last: turn.last,
        offset: turn.offset,
        started: turn.started.as_ref().map(when::machine),
        outcome: turn.outcome.as_deref(),
        before: turn.before,
        after: turn.after,
        messages: turn.messages,
        live: turn.live,
        prompt: &turn.prompt,
    });
    let document = Document { session: name.as_str(), events: timeline.events(), turns: turns.collect() };
    let damage = timeline.damage_before(u64::MAX);
    let diagnostics: Vec<_> = damage.iter().map(|defect| Diagnostic::defect(name.as_str(), defect)).collect();
    let mut rows = Rows::new(&["TURN", "EVENTS", "LIVE", "CHECKPOINT", "OUTCOME", "PROMPT"]).numeric(0).numeric(3);
    for turn in timeline.turns() {
        rows.push(row(turn));
    }
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        context.out.document("rewind-turns", diagnostics.is_empty(), &diagnostics, &document)?;
    } else if rows.is_empty() {
        context.out.note("nobody has asked for anything yet");
    } else {
        context.out.rows(&rows)?;
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
}

fn row(turn: &TurnSpan) -> Vec<String> {
    let prompt = turn.prompt.lines().next().unwrap_or_default();
    vec![
        format!("turn:{}", turn.number),
        format!("{}..{}", turn.first, turn.last),
        if turn.is_live() { "live".to_owned() } else { "taken back".to_owned() },
        turn.after.map(|after| after.to_string()).unwrap_or_default(),
        turn.outcome.clone().unwrap_or_default(),
        prompt.to_owned(),
    ]
}
