//! The names inside a session's directory. Who builds a path takes them from here.

/// The append-only transcript.
pub const HISTORY: &str = "history.jsonl";
/// The metadata, for quick reading and for the reference.
pub const META: &str = "meta.json";
/// Our full copy of the metadata, with the fields that the reference drops.
pub const META_COPY: &str = ".meta.json";
/// The lock that an update of the metadata holds.
pub const META_LOCK: &str = ".meta.lock";
/// The shadow repository.
#[doc(alias = "CheckpointsSubdir")]
pub const CHECKPOINTS: &str = "checkpoints";
/// Records and logs of background processes, and the marker of the running turn.
#[doc(alias = "ProcSubdir")]
pub const PROC: &str = "proc";
/// Messages that wait for the running turn.
#[doc(alias = "InboxSubdir")]
pub const INBOX: &str = "inbox";
/// Tool output that is too large for a message.
#[doc(alias = "TmpSubdir")]
pub const TMP: &str = "tmp";
/// The session's lock.
pub const LOCK: &str = ".lock";
/// Bytes that were taken out of a history because they are no whole line.
pub const QUARANTINE: &str = ".quarantine";
/// Histories as they were before a repair or a scrub put another in their place.
pub const BACKUPS: &str = ".backup";
/// Records of an import that nobody understood, as they were read.
pub const RAW: &str = ".raw";
/// What is known of the copies of a session in object stores.
pub const REMOTE: &str = ".remote";
/// A repair that has not told the history yet what it did.
pub const REPAIR: &str = ".repair";
/// A rewind that changes files and has not ended.
pub const REWIND: &str = ".rewind";
/// Which bundle the session came with.
pub const BUNDLE: &str = ".bundle";
/// How the names of files begin that get another name when they are whole.
pub const TEMPORARY: &str = ".tmp-";
/// Inside the inbox: messages that were claimed and not yet acknowledged.
pub const CLAIMS: &str = ".claims";
/// Inside the inbox: files that cannot be delivered.
pub const FAILED: &str = ".failed";
/// Inside `proc`: the process id of the running turn, as the reference writes it.
pub const TURN_PID: &str = "turn.pid";
/// Inside `proc`: who wrote the marker, in full.
pub const TURN: &str = ".turn";
/// Inside `proc`: the event of the running turn's start, until it is written with the turn's first event.
pub const TURN_START: &str = ".turn.start";
/// Inside the store's directory: what belongs to the store as a whole.
pub const STORE: &str = ".session-store";
/// Inside [`STORE`]: deleted sessions.
pub const TRASH: &str = "trash";
/// Inside [`STORE`]: sessions that are being built.
pub const STAGING: &str = "staging";
/// The end of the name of a session's flat file, from before sessions were directories.
pub const FLAT_SUFFIX: &str = ".jsonl";
/// What is added to the name of a flat file that was migrated.
pub const MIGRATED_SUFFIX: &str = ".migrated";

/// A writer refuses a line of this many bytes, its newline not counted: the reference could not read the session any
/// more. 10 MiB.
pub const MAX_REFERENCE_LINE: u64 = 10_485_760;
/// A message for the inbox that is larger than this, encoded, is refused: the reference deletes it unread. 64 KiB.
pub const MAX_INBOX_BYTES: u64 = 65_536;
