//! Sessions that come in a bundle.

use super::diagnostic;
use super::run::{Done, Examined, Importing, Told};
use super::source::{Counted, Source, hex};
use crate::exit::Exit;
use crate::failure::Failure;
use indicatif::HumanBytes;
use session_core::SessionName;
use session_core::interop::import::ImportReport;
use session_store::{BundleContents, BundleImport, BundledContents, StoreError};
use sha2::{Digest as _, Sha256};
use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::path::Path;

impl Importing<'_> {
    /// Reads a bundle through. Nothing is written.
    pub(super) fn examine_bundle(&self, source: Source) -> Result<Examined, Failure> {
        let file = Path::new(&source.label).to_owned();
        let (contents, sha256, bytes) = self
            .read_bundle(&source, u64::MAX, |reader| self.context.store.examine_bundle(&file, reader, &self.limits))?;
        let (contents, error) = match contents {
            Ok(contents) => (contents, None),
            Err(error @ StoreError::Bundle(_)) => (BundleContents::default(), Some(diagnostic("unreadable", &error))),
            Err(error) => return Err(error.into()),
        };
        let sum = |count: fn(&BundledContents) -> u64| contents.sessions.iter().map(count).sum();
        let report = ImportReport {
            sessions: contents.sessions.len() as u64,
            messages: sum(|session| session.messages),
            other_events: sum(|session| session.other_events),
            ..ImportReport::default()
        };
        let mut sessions: Vec<Told> = contents.sessions.into_iter().map(told).collect();
        self.mark_known(&sha256, &mut sessions);
        Ok(Examined { source, bytes, sha256, is_bundle: true, report, sessions, error })
    }

    /// Brings in what is in a bundle and not here yet.
    pub(super) fn import_bundle(
        &self,
        examined: &Examined,
        name: Option<&SessionName>,
        done: &mut Done,
    ) -> Result<(), Failure> {
        let file = Path::new(&examined.source.label);
        let import = BundleImport { file, sha256: &examined.sha256, limits: self.limits, name };
        let (imported, sha256, _) = self.read_bundle(&examined.source, examined.bytes, |reader| {
            self.context.store.import_bundle(&import, reader)
        })?;
        match imported {
            Ok(imported) => {
                for (told, imported) in done.sessions.iter_mut().zip(imported) {
                    if imported.name != imported.was && !imported.is_known {
                        let (was, name) = (&imported.was, &imported.name);
                        self.bar.aside(|| self.context.out.note(&format!("note: {was} is {name} here")));
                    }
                    told.name = Some(imported.name);
                }
                done.tell_change(&sha256);
            }
            // It was another one a moment ago.
            Err(error @ StoreError::Bundle(_)) => done.diagnostics.push(diagnostic("unreadable", &error)),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Gives a bundle to `read`; what that says, the digest of the file, and how long it is.
    fn read_bundle<T>(
        &self,
        source: &Source,
        len: u64,
        read: impl FnOnce(&mut dyn Read) -> T,
    ) -> Result<(T, String, u64), Failure> {
        let (digest, bytes) = (RefCell::new(Sha256::new()), Cell::new(0));
        let seen = |read: u64| {
            bytes.set(bytes.get() + read);
            self.bar.say(|| format!("{}, {} read", source.label, HumanBytes(bytes.get())));
            !self.cancel.is_cancelled()
        };
        let (name, reader) = source
            .open()?
            .into_iter()
            .next()
            .ok_or_else(|| Failure::new(Exit::Usage, format!("there is nothing to import in {}", source.label)))?;
        let mut reader = Counted::new(reader, len, &digest, &seen);
        let answer = read(&mut reader);
        // The digest is that of the whole file, wherever reading ended.
        io::copy(&mut reader, &mut io::sink()).map_err(|error| Failure::input(&name, &error))?;
        if self.cancel.is_cancelled() {
            return Err(Failure::quiet(Exit::Interrupted));
        }
        Ok((answer, hex(digest.into_inner()), bytes.get()))
    }
}

fn told(session: BundledContents) -> Told {
    Told {
        id: session.name.to_string(),
        parent: session.parent,
        title: session.title,
        messages: session.messages,
        ..Told::default()
    }
}
