//! What the tests of this crate share.

use session_core::{Conversation, Event, Message, Timestamp, parse_time};
use session_proc::Identity;
use session_store::{
    Access, Appended, Drained, Drainer, Durability, History, HistoryView, Inbox, Options, Result, SessionPaths,
    recorded_inbox_ids,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A point in time.
pub(crate) fn ts() -> Timestamp {
    parse_time("2026-01-02T03:04:05Z").expect("it is well formed")
}

/// A user's message.
pub(crate) fn said(text: &str) -> Event {
    Event::message(ts(), Message::user(text))
}

/// Its line.
pub(crate) fn line(event: &Event) -> Vec<u8> {
    let mut line = Vec::new();
    event.encode(&mut line);
    line
}

/// A session's directory of its own.
pub(crate) struct Session {
    dir: TempDir,
    pub(crate) paths: SessionPaths,
}

impl Session {
    pub(crate) fn new() -> Self {
        Session::inside(tempfile::tempdir().expect("a scratch directory"))
    }

    /// In memory where the machine has a place for that: for tests that sync ten thousand times.
    pub(crate) fn in_memory() -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Session::inside(dir.expect("a scratch directory"))
    }

    fn inside(dir: TempDir) -> Self {
        let paths = SessionPaths::new(dir.path().join("demo"));
        fs::create_dir(paths.dir()).expect("the scratch directory is empty");
        Session { dir, paths }
    }

    pub(crate) fn with_history(bytes: &[u8]) -> Self {
        let session = Session::new();
        session.write(bytes);
        session
    }

    pub(crate) fn base(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn write(&self, bytes: &[u8]) {
        fs::write(self.paths.history(), bytes).expect("a history can be written");
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(self.paths.history()).expect("there is a history")
    }

    pub(crate) fn history(&self) -> History {
        self.history_with(quick())
    }

    pub(crate) fn history_with(&self, options: Options) -> History {
        History::new(self.paths.clone(), "demo", options)
    }

    /// One append through a descriptor of its own.
    pub(crate) fn append(&self, events: &[Event]) -> Result<Appended> {
        self.history().append(events, Vec::new)
    }

    pub(crate) fn load(&self) -> Conversation {
        let view = HistoryView::open(&self.paths, Options::default().limits).expect("the history can be opened");
        view.load().expect("the history can be read")
    }

    /// The inbox, without syncs.
    pub(crate) fn inbox(&self) -> Inbox {
        Inbox::new(self.paths.clone(), "demo", Durability::Os)
    }

    /// Claims what waits as the holder of the lock, for this process.
    pub(crate) fn claim(&self) -> Drained {
        let caller = Identity::own().expect("there is a /proc");
        let drainer = self.inbox().drainer(Access::LockHolder, &caller).expect("there is a /proc");
        self.claim_as(&drainer.expect("the lock is enough"))
    }

    pub(crate) fn claim_as(&self, drainer: &Drainer) -> Drained {
        self.inbox().claim(drainer, |ids| self.recorded(ids)).expect("the inbox can be drained")
    }

    pub(crate) fn recorded(&self, ids: &BTreeSet<String>) -> Result<BTreeSet<String>> {
        recorded_inbox_ids(&HistoryView::open(&self.paths, Options::default().limits)?, ids)
    }

    /// What the live messages say.
    pub(crate) fn texts(&self) -> Vec<String> {
        texts(&self.load())
    }

    /// The files of the quarantine, in no order.
    pub(crate) fn quarantined(&self) -> Vec<Vec<u8>> {
        files(&self.paths.quarantine()).into_iter().map(|path| fs::read(path).expect("it was just listed")).collect()
    }
}

pub(crate) fn texts(conversation: &Conversation) -> Vec<String> {
    conversation.messages.iter().map(|message| message.content.text().into_owned()).collect()
}

/// The paths in a directory, sorted; none if there is no directory.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the directory can be read").path()).collect();
    paths.sort();
    paths
}

/// Without syncs: for claims that do not need them.
pub(crate) fn quick() -> Options {
    Options { durability: Durability::Os, ..Options::default() }
}
