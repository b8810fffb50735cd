//! What a store offers for deleting.

use super::entries::unreadable;
use super::remove::Which;
use super::{Deletion, EmptiedTrash, TrashEntry, UnreadableTrash, empty, entries, remove, restore};
use crate::candidate::{Node, candidate};
use crate::flock::Inode;
use crate::{Result, Store, StoreError, chain};
use session_core::SessionName;

/// Deleting. The session is the directory of that name directly in the store, with the flat file of that name; where a
/// symbolic link has the name, the link is removed and what it points to is not touched. Successors are not followed.
impl Store {
    /// Deletes a session for good. Its background processes are stopped first, with whatever its turns have left running;
    /// that may take the time that they are given to end. One between two others of a chain is only deleted if it is
    /// forced: the first would lead nowhere then.
    ///
    /// On disk when it returns: nothing of the session. After an error it stands whole, or its name is free and what
    /// could not be removed is in the store's staging area.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`]; [`crate::StoreError::NotASession`] for a directory that is none;
    /// [`crate::StoreError::LiveTurn`], [`crate::StoreError::Locked`] and [`crate::StoreError::InChain`] unless forced;
    /// [`crate::StoreError::Survivors`]
    /// names processes that could not be stopped; [`crate::StoreError::LiveProcesses`] where others start all the time;
    /// what the disk says.
    #[doc(alias = "DeleteSession")]
    pub fn delete(&self, name: &SessionName, deletion: Deletion) -> Result<()> {
        refuse_middle(self, name, deletion)?;
        remove::delete(self.base_dir(), name, deletion, self.options())
    }

    /// Moves a session into the store's trash, after its processes were stopped as by [`Store::delete`], and says under which id it can be restored. `why` is kept with it.
    ///
    /// On disk when it returns: the session in the trash, whole, synced as the durability says. After an error it stands
    /// in its place.
    ///
    /// # Errors
    /// As [`Store::delete`].
    pub fn trash(&self, name: &SessionName, why: &str, deletion: Deletion) -> Result<TrashEntry> {
        refuse_middle(self, name, deletion)?;
        let how = (deletion, Which::Named);
        remove::trash(self.base_dir(), name, why, &self.clock().utc(), how, self.options())
    }

    /// The sessions in the trash, the newest first. Reads only.
    ///
    /// # Errors
    /// [`crate::StoreError::Read`].
    pub fn trash_list(&self) -> Result<Vec<TrashEntry>> {
        entries(self.base_dir())
    }

    /// What is in the trash beside them and cannot be restored, because its record cannot be read. Reads only.
    ///
    /// # Errors
    /// [`crate::StoreError::Read`].
    pub fn trash_unreadable(&self) -> Result<Vec<UnreadableTrash>> {
        unreadable(self.base_dir())
    }

    /// Puts a session from the trash back under its name, or spilled output back into its session.
    ///
    /// On disk when it returns: the session in its place. After an error it is in the trash.
    ///
    /// # Errors
    /// [`crate::StoreError::NotInTrash`]; [`crate::StoreError::Exists`] where its name is taken;
    /// [`crate::StoreError::NotFound`] where the session of spilled output is gone; what the disk says.
    pub fn restore_from_trash(&self, id: &str) -> Result<SessionName> {
        restore::restore(self.base_dir(), id, self.options())
    }

    /// Deletes for good what has these ids in the trash, as [`Store::trash_list`] and [`Store::trash_unreadable`] give
    /// them: what a caller has shown, and nothing that came there since. What is not there any more is no error.
    ///
    /// On disk when it returns: nothing of those that it counts, parts of those that it could not remove.
    ///
    /// # Errors
    /// [`crate::StoreError::Read`] where the trash cannot be read. An entry that cannot be removed is part of the answer.
    pub fn empty_trash(&self, ids: &[impl AsRef<str>]) -> Result<EmptiedTrash> {
        empty::empty(self.base_dir(), ids)
    }
}

/// Moves a session into the trash if it still is the one that was looked at and nothing of it runs.
pub(crate) fn trash_seen(
    store: &Store,
    name: &SessionName,
    why: &str,
    deletion: Deletion,
    seen: Inode,
) -> Result<TrashEntry> {
    refuse_middle(store, name, deletion)?;
    let how = (deletion, Which::Seen(seen));
    remove::trash(store.base_dir(), name, why, &store.clock().utc(), how, store.options())
}

/// A session that one goes on as, and that goes on itself, is what leads from one to the other.
fn refuse_middle(store: &Store, name: &SessionName, deletion: Deletion) -> Result<()> {
    let Some(paths) = candidate(store.base_dir(), name)?.and_then(|found| found.paths(store.base_dir())) else {
        return Ok(());
    };
    let Ok(next) = SessionName::new(store.read_meta(name)?.meta.succeeded_by) else { return Ok(()) };
    let goes_on = candidate(store.base_dir(), &next)?.is_some_and(|found| found.directory != Some(Node::Link));
    let before = chain::predecessors(&paths, name.as_str(), store.options().limits)?.into_iter().next();
    match (before, deletion) {
        (Some((before, _)), Deletion::Careful) if goes_on && next != *name => {
            Err(StoreError::InChain { name: name.clone(), before, next })
        }
        (Some(_) | None, Deletion::Careful | Deletion::Forced) => Ok(()),
    }
}
