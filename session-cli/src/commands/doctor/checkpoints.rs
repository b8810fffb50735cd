//! The checkpoints of every session, for the doctor.

use crate::commands::checkpoint::attach::{Missing, attached};
use crate::context::Context;
use session_checkpoint::{Attached, Cancel, Options};
use session_core::SessionName;
use session_core::checkpoint::{CheckpointError, Checkpointer, Checkpointers};
use std::path::Path;

/// Whoever keeps the checkpoints of a store's sessions.
pub(super) struct AllCheckpoints<'a> {
    pub(super) context: &'a Context,
    pub(super) cancel: Cancel,
}

impl Checkpointers for AllCheckpoints<'_> {
    fn to_examine(&self, dir: &Path) -> Option<Box<dyn Checkpointer + '_>> {
        // Nobody looks at the workspace, which may be gone.
        let options = Options::new(Path::new("/"), dir);
        Some(Box::new(Attached::new(options, Vec::new(), self.cancel.clone())))
    }

    fn to_restore(&self, session: &str, _: &Path) -> Result<Box<dyn Checkpointer + '_>, CheckpointError> {
        let name = SessionName::new(session)?;
        match attached(self.context, &name, Missing::Leave, self.cancel.clone()) {
            Ok(Some(own)) => Ok(Box::new(own)),
            Ok(None) => Err(format!("session {name} has no checkpoints").into()),
            Err(failure) => Err(failure.text.into()),
        }
    }
}
