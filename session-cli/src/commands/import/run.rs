//! Looking at a source, and bringing its sessions in.

use super::diagnostic;
use super::source::{Counted, Source, hex};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::progress::Bar;
use indicatif::HumanBytes;
use session_checkpoint::Cancel;
use session_core::SessionName;
use session_core::interop::import::{Import, ImportError, ImportFormat, ImportOptions, ImportReport, Imported};
use session_store::{BundleLimits, ImportOrigin, NewImport};
use sha2::{Digest as _, Sha256};
use std::cell::{Cell, RefCell};

/// What brings sessions in.
pub(super) struct Importing<'a> {
    pub(super) context: &'a Context,
    options: ImportOptions,
    pub(super) limits: BundleLimits,
    pub(super) cancel: Cancel,
    pub(super) bar: &'a Bar,
    /// What came in before, and now.
    known: Vec<(SessionName, ImportOrigin)>,
}

/// A source that was looked at.
pub(super) struct Examined {
    pub(super) source: Source,
    /// How many bytes it has, and their digest.
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// Whether it is a bundle. The report of one has no format.
    pub(super) is_bundle: bool,
    pub(super) report: ImportReport,
    /// What is in it.
    pub(super) sessions: Vec<Told>,
    /// Why nothing of it can come in.
    pub(super) error: Option<Diagnostic>,
}

/// A source that is done with.
pub(super) struct Done {
    pub(super) label: String,
    pub(super) sha256: String,
    pub(super) is_bundle: bool,
    pub(super) report: ImportReport,
    pub(super) sessions: Vec<Told>,
    /// Whether nothing of it came in, because of what stands in it.
    pub(super) is_refused: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// What is told of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    /// Its name; none where it did not come in.
    pub(super) name: Option<SessionName>,
    /// Whether it came in before.
    pub(super) is_known: bool,
    pub(super) id: String,
    pub(super) parent: String,
    pub(super) title: String,
    pub(super) messages: u64,
}

impl Examined {
    /// Whether nothing of it comes in: it cannot be read, or something in it was not understood.
    pub(super) fn is_refused(&self, lossy: bool) -> bool {
        self.error.is_some() || (self.report.has_unknown() && !lossy)
    }
}

impl Done {
    /// Tells of a source that was read twice and is another one the second time.
    pub(super) fn tell_change(&mut self, sha256: &str) {
        if sha256 != self.sha256 {
            let text = format!("{} was changed while it was read: what came in may be of both states", self.label);
            self.diagnostics.push(Diagnostic { code: "changed".into(), session: None, line: None, offset: None, text });
        }
    }

    /// What the format is called. `None`: it has none that is known.
    pub(super) fn format(&self) -> Option<&'static str> {
        if self.is_bundle { Some("bundle") } else { self.report.format.map(ImportFormat::as_str) }
    }
}

impl<'a> Importing<'a> {
    pub(super) fn new(
        context: &'a Context,
        (options, limits): (ImportOptions, BundleLimits),
        cancel: Cancel,
        bar: &'a Bar,
    ) -> Result<Self, Failure> {
        Ok(Importing { context, options, limits, cancel, bar, known: context.store.imports()? })
    }

    /// Reads a source through. Nothing is written.
    pub(super) fn examine(&self, source: Source) -> Result<Examined, Failure> {
        let (digest, bytes) = (RefCell::new(Sha256::new()), Cell::new(0));
        let mut sessions = Vec::new();
        let (report, error) = self.read(&source, u64::MAX, &digest, &bytes, |session| {
            sessions.push(told(&session));
            Ok(())
        })?;
        let sha256 = hex(digest.into_inner());
        self.mark_known(&sha256, &mut sessions);
        let error = error.map(|error| diagnostic("unreadable", &error));
        Ok(Examined { source, bytes: bytes.get(), sha256, is_bundle: false, report, sessions, error })
    }

    /// Tells of the sessions of a source which came in before.
    pub(super) fn mark_known(&self, sha256: &str, sessions: &mut [Told]) {
        for (index, session) in sessions.iter_mut().enumerate() {
            let origin = ImportOrigin { sha256: sha256.to_owned(), index: index as u64, ..Default::default() };
            session.name = self.known(&origin);
            session.is_known = session.name.is_some();
        }
    }

    fn known(&self, origin: &ImportOrigin) -> Option<SessionName> {
        let same = self.known.iter().find(|(_, known)| known.is_same(origin));
        same.map(|(name, _)| name.clone())
    }

    /// What would come in.
    pub(super) fn plan(&self, examined: Examined, is_refused: bool) -> Done {
        let Examined { source, sha256, is_bundle, report, sessions, error, .. } = examined;
        let diagnostics = error.into_iter().collect();
        Done { label: source.label, sha256, is_bundle, report, sessions, is_refused, diagnostics }
    }

    /// Brings in what is not here yet.
    pub(super) fn import(&mut self, examined: &Examined, name: Option<&SessionName>) -> Result<Done, Failure> {
        let mut done = Done {
            label: examined.source.label.clone(),
            sha256: examined.sha256.clone(),
            is_bundle: examined.is_bundle,
            report: examined.report.clone(),
            sessions: examined.sessions.clone(),
            is_refused: false,
            diagnostics: Vec::new(),
        };
        // Another source of this call may have been the same.
        self.mark_known(&done.sha256, &mut done.sessions);
        if done.sessions.iter().all(|session| session.is_known) {
            return Ok(done);
        }
        if done.is_bundle {
            self.import_bundle(examined, name, &mut done)?;
            return Ok(done);
        }
        let mut index = 0;
        let mut known = std::mem::take(&mut self.known);
        let (digest, bytes) = (RefCell::new(Sha256::new()), Cell::new(0));
        let (_, error) = self.read(&examined.source, examined.bytes, &digest, &bytes, |session| {
            let at = index;
            index += 1;
            // What was not read to its end is no session.
            if self.cancel.is_cancelled() {
                return Err(Failure::quiet(Exit::Interrupted));
            }
            // The file is as long as it was, and another one all the same.
            let Some(told) = done.sessions.get_mut(at).filter(|told| !told.is_known) else { return Ok(()) };
            let origin = ImportOrigin {
                source: examined.source.label.clone(),
                sha256: examined.sha256.clone(),
                index: at as u64,
                format: examined.report.format.map(|format| format.as_str().to_owned()).unwrap_or_default(),
                version: session.version.clone(),
                id: session.id.clone(),
                parent: session.parent.clone(),
            };
            let name = create(self.context, &session, &origin, &known, name)?;
            told.name = Some(name.clone());
            known.push((name, origin));
            Ok(())
        })?;
        self.known = known;
        done.diagnostics.extend(error.iter().map(|error| diagnostic("unreadable", error)));
        done.tell_change(&hex(digest.into_inner()));
        Ok(done)
    }

    /// Reads a source, and gives each session.
    fn read(
        &self,
        source: &Source,
        len: u64,
        digest: &RefCell<Sha256>,
        bytes: &Cell<u64>,
        mut each: impl FnMut(Imported) -> Result<(), Failure>,
    ) -> Result<(ImportReport, Option<ImportError>), Failure> {
        let seen = |read: u64| {
            bytes.set(bytes.get() + read);
            self.bar.say(|| format!("{}, {} read", source.label, HumanBytes(bytes.get())));
            !self.cancel.is_cancelled()
        };
        // Of several files none is cut: they are whole when they appear.
        let len = if source.is_folder() { u64::MAX } else { len };
        let open = source.open()?.into_iter();
        let mut import =
            Import::new(open.map(|(name, reader)| (name, Counted::new(reader, len, digest, &seen))), self.options);
        while let Some(next) = import.next() {
            match next {
                Ok(session) => each(session)?,
                Err(error) => return Ok((import.report().clone(), Some(error))),
            }
        }
        Ok((import.report().clone(), None))
    }
}

fn told(session: &Imported) -> Told {
    Told {
        id: session.id.clone(),
        parent: session.parent.clone(),
        title: if session.title.is_empty() { session.first_prompt() } else { session.title.clone() },
        messages: session.messages(),
        ..Told::default()
    }
}

fn create(
    context: &Context,
    session: &Imported,
    origin: &ImportOrigin,
    known: &[(SessionName, ImportOrigin)],
    name: Option<&SessionName>,
) -> Result<SessionName, Failure> {
    let is_parent = |known: &ImportOrigin| known.format == origin.format && known.id == origin.parent;
    let parent = known.iter().rev().find(|(_, known)| !origin.parent.is_empty() && is_parent(known));
    let mut files = Vec::new();
    for file in &session.files {
        files.push((SessionName::new(file.name.clone())?, &file.bytes[..]));
    }
    let new = NewImport {
        name: name.cloned(),
        created: session.created,
        workspace: &session.workspace,
        title: &session.title,
        title_by: session.title_by,
        parent: parent.map(|(name, _)| name.clone()),
        events: &session.events,
        files: &files,
        unknown: &session.unknown,
        origin: origin.clone(),
    };
    Ok(context.store.import(&new)?)
}
