//! The commit that the next turn follows.

use crate::checkpoints::Checkpoints;
use crate::locked::Locked;
use crate::point::read_commit;
use crate::refs::{Family, HEAD};
use crate::remembered::{KnownHead, file_id};
use crate::{Error, Oid, loose};

impl Checkpoints {
    /// Remembers the head that was just written, the packs being those that are there now.
    pub(crate) fn keep_head(&mut self, locked: &Locked, commit: Oid, tree: Oid, is_loose: bool) {
        let file = is_loose.then(|| file_id(&loose::path(&self.layout, commit))).flatten();
        let head = KnownHead { commit, tree, packs: locked.packs.fingerprint, file };
        self.head = Some(head).filter(|head| head.file.is_some() == is_loose);
    }

    /// The commit that the next turn follows, and its tree: the head, or the newest turn that can be read.
    pub(crate) fn head(&self, locked: &Locked) -> Result<Option<(Oid, Oid)>, Error> {
        let target = locked.refs.get(HEAD)?.flatten();
        let stands = |head: &&KnownHead| match head.file {
            Some(file) => file_id(&loose::path(&self.layout, head.commit)) == Some(file),
            None => head.packs == locked.packs.fingerprint,
        };
        let known = self.head.as_ref().filter(|head| target == Some(head.commit)).filter(stands);
        if let Some(head) = known {
            return Ok(Some((head.commit, head.tree)));
        }
        let read = |oid| read_commit(&locked.objects, oid).ok().map(|(oid, commit)| (oid, commit.tree));
        if let Some(head) = target.and_then(read) {
            return Ok(Some(head));
        }
        Ok(locked.refs.list(Family::Turn)?.into_values().rev().flatten().find_map(read))
    }
}
