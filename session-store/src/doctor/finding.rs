//! What the doctor finds.

use super::Fix;
use session_core::Place;
use std::fmt;
use std::path::{Path, PathBuf};

/// Something that is not as it should be, or that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of finding it is.
    pub code: FindingCode,
    /// How much it matters.
    pub severity: Severity,
    /// The session, as a list names it; `None` where it is about the store.
    pub session: Option<String>,
    /// The file or directory that it is about.
    pub path: PathBuf,
    /// Where in that file.
    pub place: Option<Place>,
    /// What it is, in a sentence. It may quote what stands in files: escape it before it reaches a terminal.
    pub text: String,
    /// What [`Store::repair`](crate::Store::repair) does about it. `None`: nothing can be done without a guess, or nothing
    /// has to be.
    pub fix: Option<Fix>,
    /// Whether a repair has done it, and it is not so any more.
    pub fixed: bool,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is wrong; it takes room, or it waits for somebody.
    Info,
    /// Something is not as it should be, and nothing is lost by it.
    Warning,
    /// Something is lost, hidden, or exposed.
    Error,
}

impl Severity {
    /// A stable name, for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident $code:literal $severity:ident,)*) => {
        /// The kinds of findings.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingCode {
            $($(#[$doc])* $name,)*
        }

        impl FindingCode {
            /// Every kind.
            pub const ALL: &'static [FindingCode] = &[$(FindingCode::$name),*];

            /// A stable name, for machines.
            pub fn as_str(self) -> &'static str {
                match self { $(FindingCode::$name => $code,)* }
            }

            /// How much findings of this kind matter.
            pub fn severity(self) -> Severity {
                match self { $(FindingCode::$name => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// A line of a history gives no event.
    BadLine "bad-line" Error,
    /// A line of a history gives an event, but is not as it should be.
    OddLine "odd-line" Info,
    /// A history ends inside a line.
    TornTail "torn-tail" Warning,
    /// A rollback reaches back across a line that gives no event.
    UncertainReplay "uncertain-replay" Error,
    /// Lines that were written to a history while another took its place, and are not in that.
    LateLines "late-lines" Error,
    /// Bytes that were taken out of a history are kept aside.
    Quarantine "quarantine" Info,
    /// What was replaced or moved away by a repair is kept aside.
    Backup "backup" Info,
    /// A history of a newer format: it is not written.
    NewerFormat "newer-format" Warning,
    /// Something cannot be read.
    Unreadable "unreadable" Error,
    /// The newest event claims a time that has not come yet.
    TimeAhead "time-ahead" Warning,
    /// An event claims an earlier time than the one before it.
    TimeBack "time-back" Info,
    /// A tool's call without a result.
    CallWithoutResult "call-without-result" Warning,
    /// A tool's result without a call.
    ResultWithoutCall "result-without-call" Warning,
    /// The same id on two calls.
    RepeatedCallId "repeated-call-id" Warning,
    /// The arguments of a call are no JSON.
    BadArguments "bad-arguments" Warning,
    /// The metadata cannot be used.
    BadMeta "bad-meta" Error,
    /// There is a conversation and no metadata.
    MetaMissing "meta-missing" Info,
    /// The metadata names another session than its directory, as in a copy.
    MetaName "meta-name" Warning,
    /// The metadata has a name that no session has: a renaming was interrupted.
    HalfRenamed "half-renamed" Warning,
    /// The metadata says something else than the history.
    MetaDiffers "meta-differs" Warning,
    /// The metadata was lost and made again from the history.
    MetaRebuilt "meta-rebuilt" Info,
    /// A copy of metadata that could not be used.
    MetaAside "meta-aside" Info,
    /// The marker of a turn that does not run.
    StaleTurn "stale-turn" Info,
    /// A process that a turn or a background process has started, and that no record leads to.
    LostProcess "lost-process" Warning,
    /// A background process whose turn is over, and that should have ended with it.
    LeftProcess "left-process" Warning,
    /// The record of a background process that has ended since, or was started since.
    StaleRecord "stale-record" Info,
    /// A message that nobody has taken out of the inbox.
    InboxWaiting "inbox-waiting" Info,
    /// A message that was taken and not acknowledged, by a process that lives.
    InboxClaimed "inbox-claimed" Info,
    /// A message that was taken by a process that is gone, and that the history does not have.
    InboxAbandoned "inbox-abandoned" Warning,
    /// A message that was taken and that the history has.
    InboxRecorded "inbox-recorded" Info,
    /// A message that could not be delivered.
    InboxFailed "inbox-failed" Warning,
    /// Something that somebody died over.
    Leftover "leftover" Info,
    /// Others than the owner can read or write it.
    LooseMode "loose-mode" Error,
    /// A directory or flat file whose name is no session name.
    HostileName "hostile-name" Warning,
    /// A symbolic link, or something else that is no file, where a session should be.
    NotASession "not-a-session" Warning,
    /// A session in which nothing has happened and whose name begins another one's, or the other way round.
    EmptyTwin "empty-twin" Info,
    /// A flat file that was not migrated.
    FlatWaiting "flat-waiting" Info,
    /// A flat file whose migration was interrupted.
    FlatInterrupted "flat-interrupted" Warning,
    /// A flat file that was migrated and has not been renamed.
    FlatMigrated "flat-migrated" Info,
    /// A flat file that another conversation hides.
    FlatShadowed "flat-shadowed" Error,
    /// The session that goes on with this one does not exist.
    DanglingSuccessor "dangling-successor" Warning,
    /// A session that was made to go on with another one, which does not name it.
    UnlinkedSuccessor "unlinked-successor" Info,
    /// The metadata names a successor and the history does not tell of it.
    UntoldSuccessor "untold-successor" Info,
    /// Sessions that go on with each other in a circle.
    SuccessorLoop "successor-loop" Error,
    /// Sessions that come from each other in a circle.
    ParentLoop "parent-loop" Warning,
    /// A rewind that has not ended.
    RewindInterrupted "rewind-interrupted" Warning,
    /// A repair that was interrupted, and of which the history does not tell.
    RepairInterrupted "repair-interrupted" Warning,
    /// A checkpoint that lacks something, or whose reference is none.
    CheckpointDamaged "checkpoint-damaged" Error,
    /// A checkpoint that the history tells of, newer than all there are.
    CheckpointMissing "checkpoint-missing" Error,
    /// A part of the checkpoints that was found damaged and set aside.
    CheckpointAside "checkpoint-aside" Info,
    /// Restoring a checkpoint has not ended.
    RestoreInterrupted "restore-interrupted" Warning,
    /// What the trash takes.
    Trash "trash" Info,
    /// Something in the trash that is no session.
    BrokenTrash "broken-trash" Info,
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Finding {
    /// A finding about a path.
    pub(super) fn new(code: FindingCode, path: &Path, text: impl Into<String>) -> Self {
        Finding {
            code,
            severity: code.severity(),
            session: None,
            path: path.to_owned(),
            place: None,
            text: text.into(),
            fix: None,
            fixed: false,
        }
    }

    /// Whether it is the same thing, found again.
    pub(super) fn is_again(&self, other: &Finding) -> bool {
        (self.code, &self.session, &self.path, self.place) == (other.code, &other.session, &other.path, other.place)
    }

    /// The same, with what is to be done about it.
    pub(super) fn fixed_by(self, fix: Fix) -> Self {
        Finding { fix: Some(fix), ..self }
    }

    /// The same, at a place in the file.
    pub(super) fn at(self, place: Place) -> Self {
        Finding { place: Some(place), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(Place { line, offset }) = self.place {
            line.map_or(Ok(()), |line| write!(f, ", line {line}"))?;
            write!(f, ", byte {offset}")?;
        }
        write!(f, ": {} [{}]", self.text, self.code)
    }
}
