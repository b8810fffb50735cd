//! Masking the secrets of a session where they stand.

use super::files::{SessionFile, files};
use super::pieces::pieces;
use super::put::{Failed, Put, masked};
use super::scan::{SecretScan, scan};
use crate::chain::Member;
use crate::directory::own;
use crate::part::Part;
use crate::processes::refuse_running;
use crate::rewrite::{KeepBackup, Rewrite, late};
use crate::{LockGuard, Result, Session, Store, StoreError, flock, lock, meta};
use session_core::checkpoint::Checkpointer;
use session_core::{Event, SessionName, Timestamp, counted, layout};
use session_secrets::{Finder, Found};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Whether the files as they were are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScrubBackup {
    /// In the session's `.backup/`. They hold the secrets.
    #[default]
    Keep,
    /// They are not.
    Drop,
}

/// What a scrub did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Scrubbed {
    /// What was found, and was masked but for checkpoints and what could not be looked through.
    pub scan: SecretScan,
    /// The files that were replaced.
    pub files: Vec<String>,
    /// Where they stand as they were, by paths in the session: files and directories.
    pub kept: Vec<String>,
}

/// A scrub under way.
struct Scrub<'a> {
    session: &'a Session,
    lock: &'a LockGuard,
    finder: Finder,
    backup: ScrubBackup,
    now: Timestamp,
    /// The directory that keeps what is no history.
    kept_in: PathBuf,
    notice: Event,
    scrubbed: Scrubbed,
}

impl Store {
    /// Masks the secrets in the files of a session: in its history, its metadata, spilled output, logs and records of
    /// processes that have ended, messages that wait, what was put aside, and flat files. Each byte of one becomes an
    /// asterisk; everything else stays as it is, ids and signatures too. Links to successors are not followed.
    ///
    /// A secret that stands somewhere with what tells it is masked where it stands alone as well, and there first: who
    /// dies in between finds it again. Checkpoints are looked through and told, and stay.
    ///
    /// On disk when it returns: the masked files, each replaced in one step, one notice in the history, and the files as
    /// they were in `.backup/`, if they are kept; synced as the durability says. After an error or a death each file is old
    /// or new; repeating it does the rest. `progress` is told how many bytes were read.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::LiveTurn`], [`StoreError::Running`] and [`StoreError::Locked`]: nothing was
    /// changed; [`StoreError::NewerFormat`]; [`StoreError::KeepsChanging`]; the step that failed.
    pub fn scrub(
        &self,
        name: &SessionName,
        backup: ScrubBackup,
        checkpoints: Option<&dyn Checkpointer>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Scrubbed> {
        let paths = self.ready(name)?;
        let session = self.session(Member { name: name.clone(), paths, dangling: None })?;
        let lock = lock::unless(|| refuse_running(session.paths(), name), || session.lock())?;
        if session.has_history()? {
            late::carry(session.paths(), &lock, self.options().durability)?;
        }
        let (scan, known) = scan(session.paths(), self.options().limits, checkpoints, progress)?;
        if scan.hits.is_empty() {
            return Ok(Scrubbed { scan, ..Scrubbed::default() });
        }
        let now = session.now();
        let stamp = now.to_utc().format("%Y%m%dT%H%M%SZ");
        let backups = own(session.paths(), &[layout::BACKUPS])?;
        let kept_in = backups.join(format!("scrub-{stamp}-{:016x}", rand::random::<u64>()));
        let notice = Event::notice(now, told(&scan, backup));
        let scrubbed = Scrubbed { scan, ..Scrubbed::default() };
        Scrub {
            session: &session,
            lock: &lock,
            finder: Finder::knowing(&known),
            backup,
            now,
            kept_in,
            notice,
            scrubbed,
        }
        .run()
    }
}

/// The two passes over the files, in their order.
const PASSES: [fn(&Found) -> bool; 2] = [|found| found.by_itself, |found| !found.by_itself];

impl Scrub<'_> {
    fn run(mut self) -> Result<Scrubbed> {
        let files = files(self.session.paths())?;
        let history = |file: &&SessionFile| file.is_history(self.session.paths());
        let (of_history, others): (Vec<&SessionFile>, Vec<&SessionFile>) = files.iter().partition(history);
        let mut is_told = false;
        for (pass, which) in PASSES.into_iter().enumerate() {
            let has_hits = |file: &SessionFile| self.has_hits(file, pass);
            let meant: Vec<&SessionFile> = others.iter().copied().filter(|file| has_hits(file)).collect();
            let is_meant = of_history.iter().any(|file| has_hits(file));
            let is_last = pass + 1 == PASSES.len() || !of_history.iter().any(|file| self.has_hits(file, pass + 1));
            self.put(&meant, which)?;
            if is_meant {
                self.put_history(which, is_last)?;
                is_told |= is_last;
            }
        }
        if !is_told && self.session.has_history()? {
            self.session.append_closing(&[self.notice.clone()])?;
        }
        self.scrubbed.kept.extend(self.kept_in.is_dir().then(|| in_session(self.session, &self.kept_in)));
        Ok(self.scrubbed)
    }

    fn has_hits(&self, file: &SessionFile, pass: usize) -> bool {
        self.scrubbed.scan.hits.iter().any(|hit| hit.file == file.shown && hit.by_itself == (pass == 0))
    }

    /// Replaces files that are no history, with those locked out that change them.
    fn put(&mut self, files: &[&SessionFile], which: fn(&Found) -> bool) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let paths = self.session.paths();
        let _metadata = meta::hold(paths, self.session.name(), super::WAIT)?;
        let _records = locked_dir(&own(paths, &[layout::PROC])?)?;
        let backup = match self.backup {
            ScrubBackup::Keep => Some(self.kept_in.as_path()),
            ScrubBackup::Drop => None,
        };
        let put = Put { finder: &self.finder, which, backup, durability: self.session.options().durability };
        for file in files {
            self.lock.check()?;
            put.file(file)?;
            self.scrubbed.replaced(&file.shown);
        }
        Ok(())
    }

    /// Replaces the history; what comes meanwhile is carried over.
    fn put_history(&mut self, which: fn(&Found) -> bool, is_last: bool) -> Result<()> {
        let paths = self.session.paths();
        let mut rewrite = Rewrite::begin(paths, self.lock, self.session.options())?;
        let old = rewrite.old();
        let part = Part { file: &old, at: 0, upto: rewrite.len() };
        pieces(part, super::files::Shape::Lines, &self.finder, &mut |piece| {
            let end = piece.offset + piece.bytes.len() as u64;
            rewrite.put_upto(end, &masked(piece, which)).map_err(Failed::Write)
        })
        .map_err(|failed| failed.of(&paths.history()))?;
        // What the first pass has kept is what was there before.
        let has_kept = self.scrubbed.files.iter().any(|file| file == layout::HISTORY);
        let keep = match self.backup {
            ScrubBackup::Keep if !has_kept => KeepBackup::Yes,
            ScrubBackup::Keep | ScrubBackup::Drop => KeepBackup::No,
        };
        let notice = if is_last { std::slice::from_ref(&self.notice) } else { &[] };
        let kept = rewrite.end(notice, keep, self.now)?;
        self.scrubbed.kept.extend(kept.map(|path| in_session(self.session, &path)));
        self.scrubbed.replaced(layout::HISTORY);
        Ok(())
    }
}

impl Scrubbed {
    fn replaced(&mut self, file: &str) {
        if !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_owned());
        }
    }
}

/// The path of something in a session, relative to it.
fn in_session(session: &Session, path: &Path) -> String {
    path.strip_prefix(session.dir()).unwrap_or(path).display().to_string()
}

/// The lock under which the records of processes change. `None`: there are none.
fn locked_dir(dir: &Path) -> Result<Option<File>> {
    match File::open(dir) {
        Ok(file) => flock::exclusive(&file, dir).map(|()| Some(file)),
        Err(error) if session_disk::is_absent(&error) => Ok(None),
        Err(source) => Err(StoreError::read(dir)(source)),
    }
}

/// What the notice says.
fn told(scan: &SecretScan, backup: ScrubBackup) -> String {
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    scan.hits.iter().for_each(|hit| *rules.entry(hit.rule).or_default() += 1);
    let rules: Vec<String> = rules.into_iter().map(|(rule, count)| format!("{rule} {count}")).collect();
    let files: BTreeSet<&str> = scan.hits.iter().map(|hit| hit.file.as_str()).collect();
    let kept = match backup {
        ScrubBackup::Keep => format!("; {} holds what was there before", layout::BACKUPS),
        ScrubBackup::Drop => String::new(),
    };
    let places = counted(scan.hits.len() as u64, "place", "places");
    let files = counted(files.len() as u64, "file", "files");
    format!("secrets were masked at {places} in {files}: {}{kept}", rules.join(", "))
}
