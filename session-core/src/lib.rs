//! The pure core of a session store for coding agents: it turns the bytes of a history into values and back.
//!
//! A *session* is a directory that holds a conversation with a coding agent. Its `history.jsonl` is append-only, one
//! *event* a line; a *rollback* event takes messages back without removing them. This crate knows what a line means,
//! which messages are *live*, what `meta.json` says, what a session may be called, and which bytes to write so that the
//! Go reference reads them as its own. Whoever has the bytes has the session: the format is described in
//! `docs/format.md`, well enough to read it without this crate.
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
//! - **Nothing is lost on the way through.** Unknown kinds, roles and members survive reading and writing; where a text
//!   had to be repaired, the [`Record`] says where the file's own bytes stand.
//! - **One judgement, one fold.** Loading, counting, scanning from either end and the view without texts share the same
//!   decoder and the same replay, and agree on every file, however damaged.
//! - **Memory is bounded** by the live conversation and the longest line that the [`Limits`] allow, not by the file.
//! - **The reference's bytes.** What the reference can express is written exactly as it writes it.
//!
//! # What it deliberately does not do
//!
//! - It touches no file, clock, environment, thread, process, source of randomness or logger. Bytes, times and ids come
//!   from the caller; `session-store` brings them.
//! - It repairs nothing. It says what is wrong; what to do about it is a decision for somebody who can ask.
//! - Its types do not implement serde's traits. A derived form would be a second JSON of every message, with other
//!   defaults and another order; [`Message::to_json`], [`Event::encode`] and [`Meta::to_json`] write the one that there
//!   is, and `serde_json` reads it.
//! - It does not check what a conversation means: order, pairs of calls and results, and sizes are as they stand in the
//!   file. [`api_view`] makes what a model endpoint accepts, and lists what it changed.
//!
//! # Modules, in reading order
//!
//! | to read | what is there |
//! | --- | --- |
//! | `event`, `message`, `fields`, `thin_vec` | [`Event`] and [`Kind`], [`Message`] and [`Content`], the members that have no name here ([`Fields`]), and the list that costs nothing while it is empty ([`ThinVec`]) |
//! | `defect` | what can be wrong with a line, and what that means for a reader |
//! | [`json`] | one tolerant reader and one exact writer of JSON |
//! | `decode`, `encode` | from a line to events and defects, and back |
//! | `scan` | from a file to lines: [`Scan`] forwards in bounded memory, [`ScanBackwards`] from the end |
//! | `replay` | what is live: the fold ([`Replay`]), from the end ([`ReplayBackwards`]), and the usual questions |
//! | [`search`] | looking for a text in the events of a history |
//! | `extension` | this project's own kinds, `x.session` and its kin |
//! | `spending`, `statistics` | what the responses of models cost, each once ([`Spending`]), and what histories come to by session, day, model and tool |
//! | `timeline`, `rewind_mark`, `prompt` | the turns of a history, and the points that it can go back to ([`Timeline`]) |
//! | [`checkpoint`] | what a store asks of whoever keeps snapshots of a workspace |
//! | `api_view`, [`report`], `show` | what others make of a conversation |
//! | [`redact`] | which strings are text, for whoever takes secrets out of them |
//! | `meta`, `name`, `title`, `run_id`, `time`, [`layout`] | the session around the history |

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
