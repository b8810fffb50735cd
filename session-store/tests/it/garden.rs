//! A store with a session in it, its workspace, and real checkpoints of that.

use crate::scratch::{Scratch, name};
use session_checkpoint::{Attached, Cancel, Options as CheckpointOptions};
use session_core::checkpoint::{
    ChangesOf, CheckpointDepth, CheckpointError, CheckpointHealth, CheckpointRef, CheckpointedFile, Checkpointer,
    Checkpointers, FilePlan, FilesRestored, InterruptedRestore, LastRestore, OnConflict,
};
use session_core::{CheckpointMark, Extension, Message};
use session_disk::faults::Fault;
use session_store::{NewSession, Session, SessionName, Store};
use std::fs;
use std::path::{Path, PathBuf};

/// A fault of one kind, at an operation.
pub(crate) type FaultAt = fn(u64) -> Fault;
pub(crate) const FAIL: FaultAt = |at| Fault::Fail { at };
pub(crate) const FULL: FaultAt = |at| Fault::Full { at };
pub(crate) const STOP: FaultAt = |at| Fault::Stop { at };

/// Runs `attempt` with every fault at every operation, until one no longer reaches it.
pub(crate) fn at_every_step(least: usize, attempt: impl FnMut(Fault) -> bool) {
    at_every_step_of(&[FAIL, FULL, STOP], least, attempt);
}

/// The same with some kinds of faults, where each try takes long.
pub(crate) fn at_every_step_of(faults: &[FaultAt], least: usize, mut attempt: impl FnMut(Fault) -> bool) {
    for fault in faults {
        let reached = (0..2_000).take_while(|at| attempt(fault(*at))).count();
        assert!((least..2_000).contains(&reached), "{reached} operations were tried");
    }
}

pub(crate) struct Garden {
    pub(crate) scratch: Scratch,
}

impl Garden {
    /// An empty store, and an empty workspace.
    pub(crate) fn new() -> Self {
        let garden = Garden { scratch: Scratch::new() };
        fs::create_dir(garden.work()).expect("the scratch directory is ours");
        garden
    }

    /// The same with a session `demo` of two turns. Before the first, the workspace holds an oak that is one; then it is
    /// two; then three. Each state has its checkpoint, from 1.
    pub(crate) fn of_two_turns() -> Self {
        let garden = Garden::new();
        let session = garden.create("demo");
        garden.turn(&session, "plant one more", "2");
        garden.turn(&session, "and another", "3");
        garden
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.scratch.outside().join("work")
    }

    pub(crate) fn store(&self) -> Store {
        self.scratch.store()
    }

    pub(crate) fn quick(&self) -> Store {
        self.scratch.store_with(crate::support::quick())
    }

    pub(crate) fn open(&self, session: &str) -> Session {
        self.store().open(&name(session)).expect("it is there")
    }

    /// A session whose workspace holds one oak, with the checkpoint of that.
    pub(crate) fn create(&self, session: &str) -> Session {
        let new = NewSession {
            name: Some(name(session)),
            workspace: self.work().display().to_string(),
            title: "Oaks".into(),
            ..NewSession::default()
        };
        let session = self.quick().create(&new).expect("it can be created");
        self.plant("1");
        self.take(&session);
        session
    }

    pub(crate) fn plant(&self, oaks: &str) {
        fs::write(self.work().join("oaks"), oaks).expect("the workspace is ours");
    }

    pub(crate) fn oaks(&self) -> String {
        fs::read_to_string(self.work().join("oaks")).expect("it is there")
    }

    /// A user asks, the agent changes the workspace and answers, and a checkpoint is taken.
    pub(crate) fn turn(&self, session: &Session, asked: &str, oaks: &str) {
        session.append_messages([Message::user(asked)]).expect("nothing forbids it");
        self.plant(oaks);
        session.append_messages([Message::assistant(format!("{oaks} oaks"))]).expect("nothing forbids it");
        self.take(session);
    }

    /// Takes a checkpoint, and tells the history.
    pub(crate) fn take(&self, session: &Session) -> u64 {
        let taken = self.checkpoints(session.name()).take("", ChangesOf::Session).expect("the workspace is small");
        let mark = CheckpointMark { action: "taken".into(), turn: Some(taken), note: String::new() };
        let now = crate::support::ts();
        session.append(&[Extension::Checkpoint(mark).into_event(now)]).expect("nothing forbids it");
        taken
    }

    pub(crate) fn checkpoints(&self, session: &str) -> Attached {
        self.checkpoints_beside(session, &[])
    }

    /// The same, with the sessions that work there too.
    pub(crate) fn checkpoints_beside(&self, session: &str, others: &[&str]) -> Attached {
        let store = |session: &str| self.scratch.path(session).join("checkpoints");
        let options = CheckpointOptions::new(self.work(), store(session));
        Attached::new(options, others.iter().map(|other| store(other)).collect(), Cancel::new())
    }

    /// What the live messages say.
    pub(crate) fn said(&self, session: &str) -> Vec<String> {
        let conversation = self.store().load(&name(session)).expect("it can be read");
        crate::support::texts(&conversation)
    }

    pub(crate) fn history(&self, session: &str) -> Vec<u8> {
        fs::read(self.scratch.path(session).join("history.jsonl")).unwrap_or_default()
    }

    /// The names of all sessions.
    pub(crate) fn names(&self) -> Vec<SessionName> {
        self.store().names().expect("it can be read")
    }
}

/// The checkpoints of all sessions of a garden.
pub(crate) struct Gardens<'a>(pub(crate) &'a Garden);

impl Checkpointers for Gardens<'_> {
    fn to_examine(&self, dir: &Path) -> Option<Box<dyn Checkpointer + '_>> {
        let session = dir.parent()?.file_name()?.to_str()?.to_owned();
        Some(Box::new(self.0.checkpoints(&session)))
    }

    fn to_restore(&self, session: &str, _: &Path) -> Result<Box<dyn Checkpointer + '_>, CheckpointError> {
        Ok(Box::new(self.0.checkpoints(session)))
    }
}

/// Checkpoints of nothing, which call when they are to be shared.
pub(crate) struct Sharing<F: Fn()>(pub(crate) F);

impl<F: Fn()> Checkpointer for Sharing<F> {
    fn take(&mut self, _: &str, _: ChangesOf) -> Result<u64, CheckpointError> {
        Err("there is no workspace".into())
    }

    fn plan(&mut self, _: CheckpointRef) -> Result<FilePlan, CheckpointError> {
        Err("there is no workspace".into())
    }

    fn restore(&mut self, _: CheckpointRef, _: OnConflict) -> Result<FilesRestored, CheckpointError> {
        Err("there is no workspace".into())
    }

    fn interrupted(&self) -> Result<Option<InterruptedRestore>, CheckpointError> {
        Ok(None)
    }

    fn resume(&mut self) -> Result<FilesRestored, CheckpointError> {
        Err("there is no workspace".into())
    }

    fn go_back(&mut self, _: OnConflict) -> Result<FilesRestored, CheckpointError> {
        Err("there is no workspace".into())
    }

    fn last_restore(&self) -> Result<Option<LastRestore>, CheckpointError> {
        Ok(None)
    }

    fn share(&self, _: &Path, _: Option<u64>) -> Result<u64, CheckpointError> {
        (self.0)();
        Ok(0)
    }

    fn find_files(&self, _: &mut dyn FnMut(&[u8]) -> bool) -> Result<Vec<CheckpointedFile>, CheckpointError> {
        Ok(Vec::new())
    }

    fn examine(&self, _: CheckpointDepth) -> Result<CheckpointHealth, CheckpointError> {
        Ok(CheckpointHealth::default())
    }
}
