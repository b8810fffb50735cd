//! The pure core of a session store for coding agents.
//!
//! TODO

mod api_view;
mod decode;
mod defect;
mod encode;
mod event;
mod extension;
mod fields;
pub mod json;
pub mod layout;
mod message;
mod meta;
mod name;
mod replay;
pub mod report;
mod run_id;
mod scan;
mod show;
mod time;
mod title;

pub use api_view::{ApiView, MISSING_RESULT, Repair, api_view};
pub use decode::{Item, RawLine, Record};
pub use defect::{Defect, Fault, Outcome, Place};
pub use event::{Event, Kind};
pub use extension::{
    CheckpointMark, Extension, FORMAT, Note, SessionHeader, Successor, TitleSet, TitleSource, TurnMark, TurnPhase,
    Usage,
};
pub use fields::Fields;
pub use message::{Content, Image, Message, Parts, Role, ToolCall};
pub use meta::{Meta, MetaFault};
pub use name::{MAX_NAME_BYTES, NameError, NameRule, SessionName};
pub use replay::{
    Conversation, Count, Effect, LastReport, LiveEvents, Replay, ReplayBackwards, count, last_messages, last_model,
    last_report,
};
pub use run_id::{RUN_ID_VAR, run_id};
pub use scan::{Bodies, Limits, Scan, ScanBackwards, scan_bytes, scan_line};
pub use show::reference_show;
pub use time::{Timestamp, format_time, parse_time};
pub use title::{MAX_TITLE_BYTES, TITLE_WORDS, first_words_title, normalize_title};
