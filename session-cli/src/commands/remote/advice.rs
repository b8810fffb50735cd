//! The exit status and the advice that go with an error of an object store.

use crate::exit::Exit;
use crate::failure::{Failure, causes};
use session_store::remote::RemoteError;

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Self {
        let (exit, hint) = match error {
            RemoteError::Store(error) => return error.into(),
            RemoteError::Place { .. } => (Exit::Usage, Some("write it like s3://bucket/prefix or /a/directory")),
            RemoteError::NotThere { .. } => (Exit::NotFound, Some("`session remote list` shows all")),
            RemoteError::Diverged(_) => {
                (Exit::Refused, Some("nothing was changed; --as NAME keeps both, under another name"))
            }
            RemoteError::Behind { .. } => (Exit::Busy, Some("`session pull` brings it in, `session sync` does both")),
            RemoteError::Leased { .. } => {
                (Exit::Busy, Some("it is free when its turn has ended, or when the lease runs out"))
            }
            RemoteError::LeaseLost { .. } => {
                (Exit::Busy, Some("nothing was sent; `session pull` says whether both can be brought together"))
            }
            RemoteError::NoConditionalWrites { .. } => {
                (Exit::Busy, Some("`session push` and `session pull` work there all the same"))
            }
            RemoteError::Collecting { .. } => (Exit::Busy, Some("try again when that has ended, in an hour at most")),
            RemoteError::Contended { .. } | RemoteError::KeepsChanging { .. } => {
                (Exit::Busy, Some("somebody writes to it; try again when that has ended"))
            }
            RemoteError::Redaction { .. } => (Exit::Refused, Some("--as NAME makes another copy")),
            RemoteError::Corrupt { .. } | RemoteError::Missing { .. } => {
                (Exit::Partial, Some("`session remote verify` names all that is damaged"))
            }
            RemoteError::NewerFormat { .. } => (Exit::Busy, Some("a newer version of this program can read it")),
            _ => (Exit::Usage, None),
        };
        Failure { exit, text: causes(&error), hint: hint.map(str::to_owned) }
    }
}
