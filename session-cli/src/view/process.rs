//! How background processes look.

use crate::output::{Form, Out, when};
use chrono::{DateTime, Utc};
use serde::Serialize;
use session_proc::{Gone, Lifetime, State, Status};

/// A background process, for machines.
#[derive(Debug, Serialize)]
pub(crate) struct ProcessDocument {
    session: String,
    id: String,
    name: Option<String>,
    /// `null` once it has ended: another process may have it.
    pid: Option<i32>,
    state: String,
    started: Option<String>,
    ended: Option<String>,
    exit_code: Option<i64>,
    signal: Option<String>,
    gone: Option<&'static str>,
    lifetime: Option<&'static str>,
    turn: Option<String>,
    orphan: bool,
    cwd: String,
    command: String,
}

impl ProcessDocument {
    pub(crate) fn new(session: &str, status: &Status) -> Self {
        let time = |time: Option<DateTime<Utc>>| time.map(|time| when::machine(&time.fixed_offset()));
        ProcessDocument {
            session: session.to_owned(),
            id: status.id.to_string(),
            name: status.name.clone(),
            pid: pid(status),
            state: status.state.to_string(),
            started: time(status.started),
            ended: time(status.ended),
            exit_code: status.exit_code,
            signal: status.signal.clone(),
            gone: status.gone.map(|gone| match gone {
                Gone::Unrecorded => "unrecorded",
                Gone::PidReused => "pid_reused",
                Gone::OtherBoot => "other_boot",
                Gone::NeverStarted => "never_started",
                Gone::Elsewhere => "elsewhere",
            }),
            lifetime: status.lifetime.map(|lifetime| match lifetime {
                Lifetime::Ephemeral => "ephemeral",
                Lifetime::Persistent => "persistent",
            }),
            turn: status.turn_id.clone(),
            orphan: status.is_orphan,
            cwd: status.cwd.clone(),
            command: status.command.clone(),
        }
    }
}

/// Its pid, while it is its own.
pub(crate) fn pid(status: &Status) -> Option<i32> {
    status.pid.filter(|_| !status.state.is_final())
}

/// Its state: the word, and for a person how it ended.
pub(crate) fn state(status: &Status, out: &Out) -> String {
    match (&status.state, status.exit_code, &status.signal, out.form) {
        (State::Exited, _, Some(signal), Form::Terminal) => format!("exited {signal}"),
        (State::Exited, Some(code), None, Form::Terminal) => format!("exited {code}"),
        (State::Gone, .., Form::Terminal) => match status.gone {
            Some(Gone::PidReused) => "gone (pid reused)".to_owned(),
            Some(Gone::OtherBoot) => "gone (rebooted)".to_owned(),
            Some(Gone::NeverStarted) => "gone (never started)".to_owned(),
            Some(Gone::Elsewhere) => "gone (ran elsewhere)".to_owned(),
            Some(Gone::Unrecorded) | None => "gone".to_owned(),
        },
        (state, ..) => state.to_string(),
    }
}

/// How long ago it was started; for machines, when.
pub(crate) fn age(started: Option<DateTime<Utc>>, out: &Out) -> String {
    let Some(started) = started else { return String::new() };
    if out.form == Form::Terminal {
        when::span(Utc::now().signed_duration_since(started))
    } else {
        when::machine(&started.fixed_offset())
    }
}
