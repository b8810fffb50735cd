//! What the doctor finds.

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
    /// Whether it can be repaired without losing anything.
    pub fixable: bool,
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
    ($($(#[$doc:meta])* $name:ident $code:literal $severity:ident $fixable:literal,)*) => {
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

            /// Whether they can be repaired without losing anything.
            pub fn is_fixable(self) -> bool {
                match self { $(FindingCode::$name => $fixable,)* }
            }
        }
    };
}

codes! {
    /// A line of a history gives no event.
    BadLine "bad-line" Error false,
    /// A line of a history gives an event, but is not as it should be.
    OddLine "odd-line" Info false,
    /// A history ends inside a line.
    TornTail "torn-tail" Warning true,
    /// A rollback reaches back across a line that gives no event.
    UncertainReplay "uncertain-replay" Error false,
    /// Bytes that were taken out of a history are kept aside.
    Quarantine "quarantine" Info false,
    /// A history of a newer format: it is not written.
    NewerFormat "newer-format" Warning false,
    /// Something cannot be read.
    Unreadable "unreadable" Error false,
    /// The newest event claims a time that has not come yet.
    TimeAhead "time-ahead" Warning false,
    /// A tool's call without a result.
    CallWithoutResult "call-without-result" Warning false,
    /// A tool's result without a call.
    ResultWithoutCall "result-without-call" Warning false,
    /// The same id on two calls.
    RepeatedCallId "repeated-call-id" Warning false,
    /// The metadata cannot be used.
    BadMeta "bad-meta" Error true,
    /// The metadata names another session than its directory, as in a copy.
    MetaName "meta-name" Warning true,
    /// A copy of metadata that could not be used.
    MetaAside "meta-aside" Info false,
    /// The marker of a turn that does not run.
    StaleTurn "stale-turn" Info true,
    /// A process that a turn or a background process has started, and that no record leads to.
    LostProcess "lost-process" Warning false,
    /// A background process whose turn is over, and that should have ended with it.
    LeftProcess "left-process" Warning false,
    /// The record of a background process that has ended since, or was started since.
    StaleRecord "stale-record" Info true,
    /// A message that nobody has taken out of the inbox.
    InboxWaiting "inbox-waiting" Info false,
    /// A message that was taken and not acknowledged.
    InboxClaimed "inbox-claimed" Warning false,
    /// A message that could not be delivered.
    InboxFailed "inbox-failed" Warning false,
    /// A temporary file that somebody died over.
    Leftover "leftover" Info true,
    /// Others than the owner can read or write it.
    LooseMode "loose-mode" Error true,
    /// A directory or flat file whose name is no session name.
    HostileName "hostile-name" Warning true,
    /// A symbolic link, or something else that is no file, where a session should be.
    NotASession "not-a-session" Warning false,
    /// A flat file that was not migrated.
    FlatWaiting "flat-waiting" Info true,
    /// A flat file whose migration was interrupted.
    FlatInterrupted "flat-interrupted" Warning true,
    /// A flat file that was migrated and has not been renamed.
    FlatMigrated "flat-migrated" Info true,
    /// A flat file that another conversation hides.
    FlatShadowed "flat-shadowed" Error false,
    /// The session that goes on with this one does not exist.
    DanglingSuccessor "dangling-successor" Warning false,
    /// A session that was made to go on with another one, which does not name it.
    UnlinkedSuccessor "unlinked-successor" Info false,
    /// A rewind that has not ended.
    RewindInterrupted "rewind-interrupted" Warning false,
    /// Sessions that go on with each other in a circle.
    SuccessorLoop "successor-loop" Error false,
    /// Sessions that come from each other in a circle.
    ParentLoop "parent-loop" Warning false,
    /// What the trash takes.
    Trash "trash" Info false,
    /// Something in the trash that is no session.
    BrokenTrash "broken-trash" Info false,
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
            fixable: code.is_fixable(),
        }
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
