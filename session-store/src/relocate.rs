//! A project was moved: its sessions learn where it is now.

use crate::chain::Member;
use crate::processes::refuse_turn;
use crate::{Empties, Result, Session, Store, StoreError, workspace};
use session_core::{Extension, Note, SessionName};
use std::path::{Path, PathBuf};

/// A session whose workspace is somewhere else now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Relocation {
    /// The session.
    pub name: SessionName,
    /// The workspace that it names.
    pub from: String,
    /// The one that it is to name.
    pub to: String,
    /// Whether that one is there.
    pub exists: bool,
}

/// What relocating did.
#[derive(Debug, Default)]
#[must_use = "it tells which sessions name the old workspace still, and why"]
#[non_exhaustive]
pub struct Relocated {
    /// Sessions that name their new workspace now.
    pub moved: Vec<Relocation>,
    /// Those that name the old one still, and why.
    pub failed: Vec<(SessionName, StoreError)>,
}

impl Store {
    /// Says which sessions work in `old` or below it, and where their workspace is now that `old` became `new`. Links in
    /// the part of a path that exists are resolved. A session whose workspace is gone and was the directory that is `new`
    /// now is one of them whatever its path said. Reads only.
    ///
    /// # Errors
    /// [`StoreError::NotADirectory`] where `new` is none; as [`Store::list`].
    pub fn plan_relocate(&self, old: &Path, new: &Path) -> Result<Vec<Relocation>> {
        if !new.is_dir() {
            return Err(StoreError::NotADirectory { path: new.to_owned() });
        }
        let new = new.canonicalize().map_err(StoreError::read(new))?;
        let mut plan = Vec::new();
        for info in self.list(Empties::Show)? {
            let (Ok(name), Some(from)) = (SessionName::new(&info.name), info.workspace.clone()) else { continue };
            // A path through links that are gone, too, tells no more where it led; the directory itself does.
            let was_new = || workspace::was(&from, info.workspace_id.as_deref(), &new).then(PathBuf::new);
            let Some(below) = below(Path::new(&from), old).or_else(was_new) else { continue };
            // Joining nothing would leave a slash at the end.
            let to = if below.as_os_str().is_empty() { new.clone() } else { new.join(below) };
            let exists = to.is_dir();
            // A path that is no text cannot be written into metadata; the session stays as it is.
            let Some(to) = to.to_str().map(str::to_owned).filter(|to| *to != from) else { continue };
            plan.push(Relocation { name, from, to, exists });
        }
        plan.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(plan)
    }

    /// Writes what a plan says, session by session. One with a live turn, or whose workspace is another one by now, stays
    /// as it is.
    ///
    /// On disk when it returns: the new workspace in the metadata of each session, and in its history where it has one
    /// that is still written to. Repeating one that was interrupted does the rest.
    pub fn relocate(&self, plan: &[Relocation]) -> Relocated {
        let mut relocated = Relocated::default();
        for relocation in plan {
            match self.relocate_one(relocation) {
                Ok(()) => relocated.moved.push(relocation.clone()),
                Err(error) => relocated.failed.push((relocation.name.clone(), error)),
            }
        }
        relocated
    }

    fn relocate_one(&self, relocation: &Relocation) -> Result<()> {
        let name = &relocation.name;
        let paths = self.existing(name)?;
        refuse_turn(&paths, name.as_str())?;
        let session = self.session(Member { name: name.clone(), paths, dangling: None })?;
        session.work_in(&relocation.from, &relocation.to)
    }
}

impl Session {
    /// The history first: who dies before the metadata says it repeats it.
    fn work_in(&self, from: &str, to: &str) -> Result<()> {
        if self.meta()?.meta.workspace != from {
            return Err(StoreError::Moved { name: self.name().to_owned(), from: from.to_owned() });
        }
        let is_told = self.has_history()?;
        if is_told {
            self.tell_moved(to)?;
        }
        self.update_meta(|meta| to.clone_into(&mut meta.workspace))?;
        if !is_told && self.begun_without(|told| told.workspace == to)? {
            self.tell_moved(to)?;
        }
        Ok(())
    }

    fn tell_moved(&self, to: &str) -> Result<()> {
        let note = Note { topic: Note::RELOCATED.to_owned(), text: to.to_owned() };
        match self.append(&[Extension::Note(note).into_event(self.now())]) {
            // Its history is closed; what its metadata says is all that is asked of it.
            Ok(_) | Err(StoreError::Succeeded { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The path of a workspace below a directory; `None` where it is not below it. Neither has to exist.
fn below(workspace: &Path, dir: &Path) -> Option<PathBuf> {
    let plain = workspace.strip_prefix(dir).ok().map(Path::to_owned);
    plain.or_else(|| resolved(workspace).strip_prefix(resolved(dir)).ok().map(Path::to_owned))
}

/// A path with the links resolved in that part of it that exists.
fn resolved(path: &Path) -> PathBuf {
    let mut there = path;
    loop {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), path.strip_prefix(there)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
        match there.parent() {
            Some(parent) => there = parent,
            None => return path.to_owned(),
        }
    }
}
