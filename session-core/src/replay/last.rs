//! The questions about the end of a history.

use crate::report::{Report, TOOL_NAME};
use crate::{Conversation, Item, Kind, Message, ReplayBackwards, Role, ToolCall};
use std::io;

/// The last live messages of a history, at most `n`, in order. `items` come last first.
///
/// The defects are those of the lines that were read.
///
/// # Errors
/// What the reader underneath reports.
pub fn last_messages(items: impl Iterator<Item = io::Result<Item>>, n: usize) -> io::Result<Conversation> {
    let mut live = ReplayBackwards::new(items);
    let mut messages = Vec::new();
    while messages.len() < n {
        match live.next().transpose()? {
            Some(record) => messages.extend(record.event.message.map(|message| *message)),
            None => break,
        }
    }
    messages.reverse();
    Ok(live.into_conversation(messages))
}

/// The model of the last settings event that names one. `items` come last first. Rollbacks do not touch settings.
///
/// # Errors
/// What the reader underneath reports.
#[doc(alias = "LastSettingsModel")]
pub fn last_model(items: impl Iterator<Item = io::Result<Item>>) -> io::Result<Option<String>> {
    for item in items {
        if let Item::Record(record) = item?
            && record.event.kind == Kind::Settings
            && !record.event.model.is_empty()
        {
            return Ok(Some(record.event.model));
        }
    }
    Ok(None)
}

/// The last structured report of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastReport {
    /// The report.
    pub report: Report,
    /// Whether nothing follows it but its own result, so that it is still what the conversation says.
    pub current: bool,
}

/// The last report among the live messages that can be read. `items` come last first.
///
/// # Errors
/// What the reader underneath reports.
#[doc(alias = "LastReport")]
pub fn last_report(items: impl Iterator<Item = io::Result<Item>>) -> io::Result<Option<LastReport>> {
    let mut followers = Followers::None;
    for record in ReplayBackwards::new(items) {
        let Some(message) = record?.event.message else { continue };
        if let Some((call, report)) = reported(&message) {
            let current = followers.only_answer(&call.id);
            return Ok(Some(LastReport { report, current }));
        }
        followers.note(&message);
    }
    Ok(None)
}

/// The first report call of an assistant's message that can be read.
fn reported(message: &Message) -> Option<(&ToolCall, Report)> {
    if message.role != Role::Assistant {
        return None;
    }
    let reports = message.tool_calls.iter().filter(|call| *call.name == *TOOL_NAME);
    reports.filter_map(|call| Some((call, Report::from_arguments(&call.arguments)?))).next()
}

/// What stands after a message, as far as it matters.
enum Followers {
    None,
    /// Tool results, all for this call.
    Answers(Box<str>),
    Others,
}

impl Followers {
    fn note(&mut self, message: &Message) {
        let answers = message.role == Role::Tool
            && match self {
                Followers::None => true,
                Followers::Answers(id) => *id == message.tool_call_id,
                Followers::Others => false,
            };
        *self = if answers { Followers::Answers(message.tool_call_id.clone()) } else { Followers::Others };
    }

    fn only_answer(&self, call_id: &str) -> bool {
        match self {
            Followers::None => true,
            Followers::Answers(id) => **id == *call_id,
            Followers::Others => false,
        }
    }
}
