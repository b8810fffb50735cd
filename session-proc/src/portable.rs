//! What goes along of a background process when its session is copied to another place.
//!
//! A record names a process of this machine, and so does everything that leads to its members: identities, and the mark
//! of its start. In a copy all of that would be a stranger, or worse, the very process of the session that was copied. So
//! the copy has a record of what was, and nothing that leads to a process: it can be read and told, and never acted upon.

use crate::dossier::Dossier;
use crate::dossier::Gone;
use crate::id::Paths;
use crate::record::Record;
use crate::settle::NO_STATUS;
use crate::{ProcError, ProcessId, Registry, State};
use std::ffi::OsStr;
use std::path::Path;

/// The files of a background process as a copy of its session has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortableProcess {
    /// The record, in a final state.
    pub record: Vec<u8>,
    /// What else is known of it. `None`: nothing.
    pub more: Option<Vec<u8>>,
}

/// What a file in the directory of the records is, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessFile {
    /// The record of a process.
    Record(ProcessId),
    /// What else is known of one.
    More(ProcessId),
}

impl ProcessFile {
    /// `None` for every other file.
    pub fn of(name: &OsStr) -> Option<Self> {
        let name = name.to_str()?;
        let id = |id: &str| ProcessId::new(id).ok();
        match name.strip_suffix(".json") {
            Some(stem) => Some(ProcessFile::Record(id(stem)?)),
            None => Some(ProcessFile::More(id(name.strip_prefix('.')?.strip_suffix(".id")?)?)),
        }
    }

    /// The file's name.
    pub fn name(&self) -> String {
        let nowhere = |id| Paths::new(Path::new(""), id);
        let path = match self {
            ProcessFile::Record(id) => nowhere(id).record(),
            ProcessFile::More(id) => nowhere(id).dossier(),
        };
        path.to_string_lossy().into_owned()
    }

    /// Whether a file with these bytes leads to no process: whether it may stand in a session that came from elsewhere.
    pub fn is_portable(&self, bytes: &[u8]) -> bool {
        match self {
            ProcessFile::Record(_) => Record::parse(bytes).is_ok_and(|record| record.state.is_final()),
            ProcessFile::More(_) => {
                let read = serde_json::from_slice::<Dossier>(bytes);
                read.is_ok_and(|dossier| dossier == portable(dossier.clone()))
            }
        }
    }
}

impl Registry {
    /// A process as a copy of the session has it. One that runs is gone there, and when it ended is not known. Writes
    /// nothing.
    ///
    /// # Errors
    /// As [`Registry::look`].
    pub fn portable(&self, id: &ProcessId) -> Result<PortableProcess, ProcError> {
        let mut entry = self.settled(id)?.1;
        let is_at_home = entry.is_at_home();
        let record = entry.record_or_claim();
        let is_over = record.state.is_final();
        if !is_over {
            (record.state, record.exit_code) = (State::Gone, NO_STATUS);
        }
        let record = record.encode();
        if !is_over && is_at_home {
            entry.dossier.gone = Some(Gone::Elsewhere);
        }
        let dossier = portable(entry.dossier);
        // One that cannot be read says nothing to anybody.
        let more = (!dossier.is_foreign && dossier != Dossier::default()).then(|| dossier.encode());
        Ok(PortableProcess { record, more })
    }
}

fn portable(dossier: Dossier) -> Dossier {
    Dossier { origin: None, supervisor: None, process: None, members: Vec::new(), ..dossier }
}
