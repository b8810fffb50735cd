//! Everything of a session but its history: modes, the turn, the inbox, processes, metadata, what was left over.

use super::case::Case;
use super::{Repair, fixes, note};
use crate::doctor::checks::modes;
use crate::doctor::{Finding, Fix, Patient};
use crate::flock::Inode;
use crate::meta::{self, Facts, Update};
use crate::{Inbox, Result, StoreError, processes};
use session_core::{counted, layout};
use session_disk::{remove_file, set_mode};
use session_proc::TurnMarker;
use std::time::Duration;

/// How long an update of the metadata waits for those of other processes.
const UPDATE_WAIT: Duration = Duration::from_secs(10);

impl Case<'_> {
    /// Shuts others out, from the outside to the inside: nobody else can put anything else in the place of what is next.
    pub(super) fn tighten(&self, patient: &Patient<'_>, repair: &mut Repair) -> Result<()> {
        let loose = modes::loose(patient);
        loose.iter().try_for_each(|(path, mode)| set_mode(path, mode & 0o700))?;
        if let Some((path, mode)) = loose.first() {
            let path = path.strip_prefix(self.store.base_dir()).unwrap_or(path).display();
            let more = match loose.len() {
                1 => String::new(),
                2 => " and another place".to_owned(),
                n => format!(" and {} other places", n - 1),
            };
            repair.done.push(format!("others are kept out of {path} (mode {mode:04o}){more}"));
        }
        Ok(())
    }

    pub(super) fn end_rewind(&self, repair: &mut Repair) -> Result<()> {
        let Some(all) = self.ward.checkup.checkpoints else { return Ok(()) };
        let dir = self.paths.checkpoints();
        let own = all.to_restore(self.name.as_str(), &dir);
        let mut own = own.map_err(|source| StoreError::Checkpoint { path: dir, source })?;
        if self.session.finish_rewind(Some(&self.lock), Some(&mut *own))?.is_some() {
            repair.done.push("an interrupted rewind was ended".to_owned());
        }
        Ok(())
    }

    /// Tells the history that the turn crashed, and moves its marker away.
    pub(super) fn end_turn(&self, repair: &mut Repair) -> Result<()> {
        let left = self.session.tell_left_turn()?;
        for file in [layout::TURN_PID, layout::TURN] {
            // Nobody begins a turn while the lock is held, but for programs that do not ask for it.
            if TurnMarker::read(&self.paths.proc())?.is_none() {
                repair.kept.extend(self.aside().take(&self.paths.proc().join(file))?);
            }
        }
        let who = left.map(|turn| format!(" (process {})", turn.pid)).unwrap_or_default();
        repair.done.push(format!("the marker of a turn that was over{who} was moved away"));
        Ok(())
    }

    pub(super) fn give_back(&self, findings: &[Finding], repair: &mut Repair) -> Result<()> {
        let inbox = Inbox::new(self.paths.clone(), self.name.as_str(), self.options().durability);
        let (mut waiting, mut recorded) = (Vec::new(), Vec::new());
        for (_, fix) in fixes(findings) {
            match fix {
                Fix::GiveBack { id } => waiting.push(id.as_str()),
                Fix::Acknowledge { id } => recorded.push(id.as_str()),
                _ => {}
            }
        }
        if !waiting.is_empty() {
            inbox.release(waiting.iter().copied())?;
        }
        if !recorded.is_empty() {
            inbox.acknowledge(recorded.iter().copied())?;
        }
        note(&mut repair.done, waiting.len(), || {
            format!(
                "{} again",
                counted(waiting.len() as u64, "message of the inbox waits", "messages of the inbox wait")
            )
        });
        note(&mut repair.done, recorded.len(), || {
            let what = counted(
                recorded.len() as u64,
                "message that the history has was",
                "messages that the history has were",
            );
            format!("{what} removed from the inbox")
        });
        Ok(())
    }

    /// Moves away what somebody died over, and removes names that somebody who was going to replace the history gave it.
    pub(super) fn set_aside(&self, findings: &[Finding], repair: &mut Repair) -> Result<()> {
        let mut moved = 0;
        for finding in Case::with(findings, &Fix::SetAside) {
            if let Some(kept) = self.aside().take(&finding.path)? {
                repair.kept.push(kept);
                moved += 1;
            }
        }
        let inode = |path: &std::path::Path| path.symlink_metadata().ok().map(|metadata| Inode::of(&metadata));
        let history = inode(&self.paths.history());
        for finding in Case::with(findings, &Fix::Remove) {
            if history.is_some() && inode(&finding.path) == history {
                remove_file(&finding.path)?;
                moved += 1;
            }
        }
        note(&mut repair.done, moved, || {
            format!(
                "{} moved away",
                counted(moved as u64, "file that was not finished was", "files that were not finished were")
            )
        });
        Ok(())
    }

    pub(super) fn reconcile(&self, findings: &[Finding], repair: &mut Repair) -> Result<()> {
        for finding in Case::with(findings, &Fix::Reconcile) {
            repair.kept.extend(self.aside().keep(&finding.path)?);
        }
        let changed = processes::registry(&self.paths)?.reconcile()?.processes;
        let told: Vec<_> = changed.iter().map(|status| format!("{} is {}", status.id, status.state)).collect();
        note(&mut repair.done, told.len(), || format!("records were put right: {}", told.join(", ")));
        Ok(())
    }

    pub(super) fn write_meta(&self, facts: Option<&Facts>, repair: &mut Repair) -> Result<()> {
        for path in [self.paths.meta(), self.paths.meta_copy()] {
            repair.kept.extend(self.aside().keep(&path)?);
        }
        let update = Update {
            paths: &self.paths,
            name: self.name.as_str(),
            limits: self.options().limits,
            durability: self.options().durability,
            now: self.now,
            wait: UPDATE_WAIT,
        };
        meta::update(&update, |meta| {
            if let Some(facts) = facts {
                facts.correct(meta);
            }
            self.name.as_str().clone_into(&mut meta.name);
            Ok(())
        })?;
        repair.done.push("the metadata was written anew".to_owned());
        Ok(())
    }

    pub(super) fn tell_successor(&self, findings: &[Finding], repair: &mut Repair) -> Result<()> {
        for (_, fix) in fixes(findings) {
            if let Fix::TellSuccessor { successor } = fix {
                self.session.tell_successor(successor)?;
                repair.done.push(format!("{successor} goes on with it, and the history tells so"));
            }
        }
        Ok(())
    }
}
