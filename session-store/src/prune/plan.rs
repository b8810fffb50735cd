//! What pruning would do.

use super::reasons::{Protection, PruneReason};
use super::relatives::Relatives;
use crate::flock::Inode;
use crate::meta::is_pinned;
use crate::{Empties, Result, SessionInfo, SessionState, Store, StoreError, processes};
use session_core::{SessionName, Timestamp};
use std::num::{NonZeroU64, NonZeroUsize};

/// Which sessions are chosen: those for which every rule that is set holds. Without a rule none is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PruneRules {
    /// Not used since then.
    pub older_than: Option<Timestamp>,
    /// Not among so many of the newest that have a message.
    pub keep_newest: Option<NonZeroUsize>,
    /// It takes more room on the disk than this.
    pub larger_than_bytes: Option<NonZeroU64>,
    /// Its conversation has no message.
    pub empty: bool,
    /// The directory that it worked in is gone.
    pub workspace_gone: bool,
}

/// A session that goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Doomed {
    /// Its name.
    pub name: SessionName,
    /// Why: one reason for each rule.
    pub reasons: Vec<PruneReason>,
    pub(super) seen: Seen,
}

/// A session that the rules choose and that stays.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Its name, as a list shows it.
    pub name: String,
    /// What keeps it.
    pub protections: Vec<Protection>,
}

/// What pruning would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PrunePlan {
    /// What goes, each after those that it comes from.
    pub doomed: Vec<Doomed>,
    /// What the rules choose and something keeps.
    pub kept: Vec<Kept>,
}

/// A session as it was looked at: whatever differs later is another one, or was used since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) inode: Inode,
    bytes: u64,
    modified: Option<Timestamp>,
}

impl Seen {
    pub(super) fn of(info: &SessionInfo) -> Result<Self> {
        let metadata = info.path.symlink_metadata().map_err(StoreError::read(&info.path))?;
        Ok(Seen { inode: Inode::of(&metadata), bytes: info.bytes, modified: info.modified })
    }
}

/// A session that the rules choose.
struct Chosen<'a> {
    /// Its number in the list.
    number: usize,
    info: &'a SessionInfo,
    reasons: Vec<PruneReason>,
    protections: Vec<Protection>,
}

impl Store {
    /// Says what [`Store::prune`] would do. Reads only.
    ///
    /// # Errors
    /// [`StoreError::PruneTime`] where `older_than` has not come yet; as [`Store::list`].
    pub fn plan_prune(&self, rules: &PruneRules) -> Result<PrunePlan> {
        let now = self.clock().utc();
        if let Some(before) = rules.older_than.filter(|before| *before >= now) {
            return Err(StoreError::PruneTime { before, now });
        }
        let sessions = self.list(Empties::Show)?;
        let mut chosen = Vec::new();
        let mut newer = 0;
        for (number, info) in sessions.iter().enumerate() {
            if let Some(reasons) = self.reasons(rules, info, newer)? {
                chosen.push(Chosen { number, info, reasons, protections: self.protections(info) });
            }
            newer += usize::from(info.messages.is_none_or(|messages| messages > 0));
        }
        let relatives = Relatives::of(&sessions);
        let going = chosen.iter().filter(|one| one.protections.is_empty()).map(|one| one.number);
        let mut held = relatives.protections(going.collect());
        for one in &mut chosen {
            one.protections.extend(held.remove(&one.number));
        }
        let mut plan = PrunePlan::default();
        // The oldest first, and of a chain the one that it begins with.
        chosen.reverse();
        chosen.sort_by_cached_key(|one| relatives.depth(one.number));
        for Chosen { info, reasons, mut protections, .. } in chosen {
            match (SessionName::new(&info.name), Seen::of(info)) {
                (Ok(name), Ok(seen)) if protections.is_empty() => plan.doomed.push(Doomed { name, reasons, seen }),
                (Err(_), _) | (Ok(_), Ok(_)) => plan.kept.push(Kept { name: info.name.clone(), protections }),
                (Ok(_), Err(error)) => {
                    protections.push(Protection::Damaged { what: error.to_string() });
                    plan.kept.push(Kept { name: info.name.clone(), protections });
                }
            }
        }
        Ok(plan)
    }

    /// Why the rules choose a session that has so many newer ones before it; `None` where they do not.
    fn reasons(&self, rules: &PruneRules, info: &SessionInfo, newer: usize) -> Result<Option<Vec<PruneReason>>> {
        let mut reasons = Vec::new();
        if let Some(before) = rules.older_than {
            let Some(updated) = info.updated.or(info.created).filter(|updated| *updated < before || info.is_ahead)
            else {
                return Ok(None);
            };
            reasons.push(PruneReason::Older { updated });
        }
        if let Some(keep) = rules.keep_newest.map(NonZeroUsize::get) {
            if newer < keep {
                return Ok(None);
            }
            reasons.push(PruneReason::NotAmongNewest { keep });
        }
        if rules.empty {
            if info.messages.is_none_or(|messages| messages > 0) {
                return Ok(None);
            }
            reasons.push(PruneReason::Empty);
        }
        if rules.workspace_gone {
            let Some(workspace) = info.workspace.as_ref().filter(|_| info.lost_its_workspace()) else {
                return Ok(None);
            };
            reasons.push(PruneReason::WorkspaceGone { workspace: workspace.clone() });
        }
        // Last, since it walks through the session.
        if let (Some(most), Ok(name)) = (rules.larger_than_bytes, SessionName::new(&info.name)) {
            let allocated_bytes = match self.disk_meter().measure(&name) {
                Ok(usage) => usage.total().allocated_bytes,
                Err(StoreError::Escapes { .. } | StoreError::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
            if allocated_bytes <= most.get() {
                return Ok(None);
            }
            reasons.push(PruneReason::Larger { allocated_bytes });
        }
        Ok(Some(reasons).filter(|reasons| !reasons.is_empty()))
    }

    /// What of itself keeps a session. What cannot be looked at keeps it, too.
    fn protections(&self, info: &SessionInfo) -> Vec<Protection> {
        let mut found = Vec::new();
        found.extend(info.pid.map(|pid| Protection::LiveTurn { pid }));
        found.extend(info.damage.iter().map(|damage| Protection::Damaged { what: damage.to_string() }));
        if info.state == SessionState::Damaged && info.damage.is_empty() {
            found.push(Protection::Damaged { what: "the list says so".to_owned() });
        }
        found.extend(info.updated.filter(|_| info.is_ahead).map(|updated| Protection::Ahead { updated }));
        if let Ok(name) = SessionName::new(&info.name)
            && info.path.is_dir()
            && let Err(error) = self.look_inside(&name, &mut found)
        {
            found.push(Protection::Damaged { what: error.to_string() });
        }
        found
    }

    pub(super) fn look_inside(&self, name: &SessionName, found: &mut Vec<Protection>) -> Result<()> {
        let ids = processes::running(&self.existing(name)?)?;
        if !ids.is_empty() {
            found.push(Protection::Processes { ids });
        }
        if is_pinned(&self.read_meta(name)?.meta) {
            found.push(Protection::Pinned);
        }
        Ok(())
    }
}
