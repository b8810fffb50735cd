//! Secrets in the files of a session: finding them, and masking them where they stand.
//!
//! What is secret is judged by [`session_secrets`]. Here is which files are looked through ([`files`]), in bounded memory
//! ([`pieces`]), what is told ([`scan`]), and how files take the places of others ([`scrub`]): each under the lock of
//! those who change it, written beside the old one, synced, and given its name in one step. No file changes its length,
//! so that whatever counts bytes stays true.

mod files;
mod pieces;
mod put;
mod scan;
mod scrub;

#[cfg(feature = "bundle")]
pub(crate) use files::{Shape, shape};
#[cfg(feature = "bundle")]
pub(crate) use pieces::pieces;
#[cfg(feature = "bundle")]
pub(crate) use put::{Failed, masked};
#[cfg(feature = "bundle")]
pub(crate) use scan::in_checkpoints;
pub use scan::{SecretHit, SecretScan};
pub use scrub::{ScrubBackup, Scrubbed};

use crate::{Result, SessionPaths, Store, StoreError};
use session_core::SessionName;
use session_core::checkpoint::Checkpointer;
use session_secrets::Known;
use std::time::Duration;

/// How long a scrub waits for others who change the metadata.
const WAIT: Duration = Duration::from_secs(10);

impl Store {
    /// Looks for secrets in everything that a session holds. Links to successors are not followed. Nothing is written,
    /// locked or created. `progress` is told how many bytes were read.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; a directory that cannot be read. A file that cannot be looked
    /// through is part of the answer.
    pub fn scan_secrets(
        &self,
        name: &SessionName,
        checkpoints: Option<&dyn Checkpointer>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<SecretScan> {
        Ok(scan::scan(&self.to_look_through(name)?, self.options().limits, checkpoints, progress)?.0)
    }

    /// The secrets that are recognised anywhere in a session by what stands around them, for whoever passes on a part of
    /// it: [`Store::scan_secrets`] finds them wherever they stand, also where nothing tells them, and so does a redactor
    /// that knows them. Checkpoints are not looked through. Nothing is written, locked or created.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; a directory that cannot be read. What is in a file that cannot be looked through is not
    /// known.
    pub fn known_secrets(&self, name: &SessionName) -> Result<Known> {
        scan::known(&self.to_look_through(name)?, self.options().limits)
    }

    fn to_look_through(&self, name: &SessionName) -> Result<SessionPaths> {
        match self.existing(name) {
            Err(StoreError::NotFound { .. }) if self.has_history(name) => self.paths(name),
            paths => paths,
        }
    }
}
