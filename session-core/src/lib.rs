//! The pure core of a session store for coding agents: it turns the bytes of a history into values and back.
//!
//! A *session* is a directory that holds a conversation with a coding agent. Its `history.jsonl` is append-only, one
//! *event* a line; a *rollback* event takes messages back without removing them. This crate knows what a line means,
//! which messages are *live*, what `meta.json` says, what a session may be called, and which bytes to write so that the
//! reference reads them as its own. *The reference* is the Go package `session` of kvit-coder v0.2.0, whose files these
//! are. Whoever has the bytes has the session: the format is described in `docs/format.md`, well enough to read it without
//! this crate.
//!
//! ```
//! use session_core::{Conversation, Event, Limits, Message, parse_time};
//!
//! let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
//! let mut history = Vec::new();
//! Event::message(ts, Message::user("plant three oaks")).encode(&mut history);
//! history.extend_from_slice(b"{\"ts\":\"2026-01-02T03:04\n"); // a write that was cut off
//! Event::message(ts, Message::assistant("digging")).encode(&mut history);
//! Event::rollback(ts, 1).encode(&mut history);
//!
//! let conversation = Conversation::read(&history[..], Limits::default())?;
//! assert_eq!(conversation.messages, [Message::user("plant three oaks")]);
//! assert_eq!(conversation.defects[0].to_string(), "line 2, byte 102: not JSON: ends inside a string, 23 bytes in");
//! assert!(!conversation.is_complete());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # What it promises
//!
//! - **Content never fails.** A bad line is a [`Defect`], a value with its line and offset beside the events. The only
//!   errors are those of the reader that the caller brought.
//! - **What is unknown is kept.** Unknown kinds, roles and members survive reading and writing. What was repaired is not
//!   written again as it was: a member of the wrong type that the event can do without is dropped, bytes that are no text
//!   become U+FFFD. The defect tells it ([`Outcome::Repaired`]), and the [`Record`] says where the file's own bytes stand.
//!   Known members that say nothing are dropped without a word: `null`, empty ones, all but the last of several with one
//!   name, and a `reasoning` beside a `reasoning_content`.
//! - **One judgement, one fold.** Loading, counting, scanning from either end and the view without texts share the same
//!   decoder and the same replay, and agree on every file, however damaged.
//! - **Memory is bounded** by what is asked for and the longest line that the [`Limits`] allow: see [Memory](#memory).
//! - **The reference's bytes.** What the reference can express is written exactly as it writes it.
//!
//! # What it deliberately does not do
//!
//! - It touches no file, clock, environment, thread, process, source of randomness or logger. Bytes, times and ids come
//!   from the caller; `session-store` brings them.
//! - It repairs nothing. It says what is wrong; what to do about it is a decision for somebody who can ask.
//! - Its events, messages and metadata do not implement serde's traits. A derived form would be a second JSON of every
//!   message, with other defaults and another order; [`Message::to_json`], [`Event::encode`] and [`Meta::to_json`] write
//!   the one that there is, and `serde_json` reads it. Only what stands inside the member `x` implements them: the parts
//!   of [`Extension`], and [`RewindMark`].
//! - It does not check what a conversation means: order, pairs of calls and results, and sizes are as they stand in the
//!   file. [`api_view()`] makes what a model endpoint accepts, and lists what it changed.
//!
//! # Memory
//!
//! | | what is held at most |
//! | --- | --- |
//! | all of them | one line of [`Limits::max_line_bytes`], in a buffer of up to twice its length, and what it says |
//! | [`ScanBackwards`] | also a block of up to 1 MiB; [`search::Search`] has one too |
//! | [`count()`], [`Counter`] | nothing more |
//! | [`Conversation`], [`Replay`] | the live messages; a conversation also up to [`Conversation::MAX_DEFECTS`] defects |
//! | [`LiveEvents`], [`Timeline`] | an entry for each event; a timeline also the beginning of each turn's prompt |
//! | [`Spending`] | an entry for each response and each rewind |
//! | [`Statistics`] | the duration of each call and the id of each response; of the history that is being read also what a timeline and a spending hold |
//!
//! What a line says can be tens of times as large as the line: an empty object in the list `tool_calls` has three bytes
//! with its comma, and is a whole [`ToolCall`] in memory. The default limit of 1 GiB is meant for files that one's own
//! programs wrote. For files that others wrote, small [`Limits`] are advised.
//!
//! # What is where
//!
//! - **Read a stream.** [`Scan`] gives each [`Item`] of a history: a [`Record`] with its [`Event`], or a [`Defect`].
//!   [`scan_bytes`] reads what is in memory, [`scan_line`] one [`RawLine`]. [`Limits`] bounds a line, and [`Bodies`] says
//!   whether texts are kept. An event has a [`Kind`] and may carry a [`Message`] with its [`Role`], [`Content`],
//!   [`ToolCall`]s and [`Image`]s. Members without a name here are [`Fields`]. [`Event::extension`] says what an event of
//!   this project's own kinds says: an [`Extension`].
//! - **Fold it.** [`Replay`] holds what is live, by the [`Effect`] of each event. [`HistoryPart`]s are read side by side
//!   and joined.
//! - **Ask the usual questions.** [`Conversation::read`] gives the live messages, [`count()`] and [`Counter`] their number,
//!   [`LiveEvents::read`] which events are live. [`api_view()`] makes what a model endpoint accepts, [`reference_show`]
//!   what the reference shows.
//! - **Read from the end.** [`ScanBackwards`] and [`ReplayBackwards`], [`last_messages`], [`last_model`], and
//!   [`last_report`], whose reports are in [`report`].
//! - **Write.** [`Event::encode`], [`Message::to_json`], [`Meta::to_json`], [`Extension::into_event`], [`parse_time`] and
//!   [`format_time`]. [`json`] has what is needed to write other JSON alike.
//! - **Search.** [`search::Search`] looks for a [`search::Pattern`] in the texts of a [`search::Scope`].
//! - **Take secrets out.** [`redact`] says which strings are text and may be changed; the rules are a [`Redact`].
//! - **Export and import**, with the feature `interop`: Markdown, JSON and what endpoints take, and the sessions of other
//!   agents.
#![cfg_attr(feature = "interop", doc = "  See [`interop::export`] and [`interop::import`].")]
//! - **Names, titles, metadata.** [`SessionName`] and [`SessionPath`] check a name and a path, [`layout`] has the names of
//!   files. [`normalize_title`], [`first_words_title`] and [`fork_title`] make titles. [`Meta`] is `meta.json`,
//!   [`run_id()`] the id for requests.
//! - **Costs and statistics.** [`Spending`] has what each response of a model cost, [`Responses`] the sums. [`Statistics`]
//!   counts by session, day, model and tool over a [`Period`]. [`is_failure`] judges a result.
//! - **Turns and rewinding.** [`Timeline`] has the turns of a history ([`TurnSpan`]), and says what going back to a
//!   [`Point`] takes ([`Timeline::cut`]). [`prompt_of`] is what a person wrote in a message. [`RewindMark`] is the trace of
//!   a rewind. [`checkpoint`] is what a store asks of whoever keeps snapshots of a workspace.

mod api_view;
pub mod checkpoint;
mod counted;
mod decode;
mod defect;
mod encode;
mod event;
mod extension;
mod failure;
mod fields;
#[cfg(feature = "interop")]
pub mod interop;
pub mod json;
pub mod layout;
mod members;
mod message;
mod meta;
mod name;
mod prompt;
pub mod redact;
mod replay;
pub mod report;
mod rewind_mark;
mod run_id;
mod scan;
pub mod search;
mod session_path;
mod show;
mod spending;
mod statistics;
mod thin_vec;
mod time;
mod timeline;
mod title;

pub use api_view::{ApiView, MISSING_RESULT, Repair, api_view};
#[doc(hidden)]
pub use counted::{counted, noun};
pub use decode::{Item, RawLine, Record};
pub use defect::{Defect, Fault, Outcome, Place};
pub use event::{Event, Kind};
pub use extension::{
    CheckpointMark, Extension, FORMAT, Note, SessionHeader, Successor, TitleSet, TitleSource, TurnMark, TurnPhase,
    Usage,
};
pub use failure::is_failure;
pub use fields::Fields;
pub use message::{Content, Image, Message, Parts, Role, ToolCall};
pub use meta::{Meta, MetaFault};
pub use name::{MAX_NAME_BYTES, NameError, NameRule, SessionName};
pub use prompt::{prompt_of, written_by_hand};
pub use redact::{Redact, RedactError};
pub use replay::{
    Conversation, Count, Counter, Effect, HistoryPart, LastReport, LiveEvents, Replay, ReplayBackwards, count,
    last_messages, last_model, last_report,
};
pub use rewind_mark::{RewindMark, RewindStep};
pub use run_id::{RUN_ID_VAR, run_id};
pub use scan::{Bodies, Limits, Scan, ScanBackwards, scan_bytes, scan_line};
pub use session_path::{Belongs, MAX_PATH_BYTES, PathRule, SessionPath, SessionPathError};
pub use show::reference_show;
pub use spending::{Amount, Responses, Spending, Spent};
pub use statistics::{Cell, CellKey, Period, Statistics};
pub use thin_vec::ThinVec;
pub use time::{Timestamp, format_time, parse_time};
pub use timeline::{Cut, CutError, ParsePointError, Point, Timeline, TurnSpan};
pub use title::{MAX_TITLE_BYTES, TITLE_WORDS, first_words_title, fork_title, normalize_title};
