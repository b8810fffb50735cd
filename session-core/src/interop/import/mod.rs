//! Other agents' sessions, read into events of this format.
//!
//! ```
//! use session_core::interop::import::{Import, ImportFormat, ImportOptions};
//!
//! let file = br#"{"type":"session","version":1,"id":"s1","cwd":"/w","timestamp":"2026-01-02T03:04:05Z"}
//! {"type":"message","message":{"role":"user","content":"plant three oaks"}}
//! "#;
//! let mut import = Import::new([("s1.jsonl", &file[..])], ImportOptions::default());
//! let session = import.next().expect("there is one").expect("it can be read");
//! assert_eq!((session.id.as_str(), session.first_prompt().as_str()), ("s1", "plant three oaks"));
//! assert!(import.next().is_none());
//! assert_eq!(import.report().format, Some(ImportFormat::Pi));
//! assert!(import.report().is_complete());
//! ```
//!
//! # What it promises
//!
//! - **The format is told by its content**, never guessed: what is nothing that a format has is counted as unknown, and
//!   [`ImportReport::has_unknown`] says so. Whoever imports refuses then, unless a person accepts the loss.
//! - **Nothing goes silently.** Whatever does not come in as it stands is in the report, with a count and its first place.
//! - **No content fails.** Torn lines, glued objects, half a surrogate pair: the rest comes in. The only errors are those
//!   of the readers, and content that is no known format.
//! - **Memory is that of one session**, not of the file: an array of two hundred gives one after the other.
//!
//! Which field goes where is in `docs/import.md`.

mod calls;
mod claude;
mod claude_events;
mod claude_queue;
mod codex;
mod codex_items;
mod content;
mod detect;
mod draft;
mod events;
mod format;
mod gemini;
mod imported;
mod openai;
mod openhands;
mod out;
mod pi;
mod pi_shell;
mod report;
mod time;
mod value;
mod values;

pub use draft::NO_RESULT_RECORDED;
pub use format::ImportFormat;
pub use imported::{Imported, ImportedFile};
pub use report::{ImportReport, Loss, LossFate};

use out::Out;
use std::collections::VecDeque;
use std::io::{self, BufRead};
use values::{Found, Value, Values};

/// How many records may stand before the first that tells the format.
const UNDECIDED: usize = 10_000;

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// The format; told by the content where it is left out.
    pub format: Option<ImportFormat>,
    /// Whether a call without a result gets one, [`NO_RESULT_RECORDED`].
    pub repair: bool,
}

/// What stops an import. What was given before stands.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A reader failed.
    #[error("cannot read {file}")]
    Read {
        /// The name that it was given with.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// There is nothing in it that could be read.
    #[error("there is no record in {file}")]
    Empty {
        /// The name that it was given with.
        file: String,
    },
    /// It is no format that is known.
    #[error("{file} has no format that is known: line {line} is {what}")]
    Unrecognized {
        /// The name that it was given with.
        file: String,
        /// The line of its first record.
        line: u64,
        /// What stands there.
        what: String,
    },
}

/// A format's importer: takes the values of a file in their order.
trait Importer {
    /// Takes a value.
    fn take(&mut self, value: Value, out: &mut Out);
    /// Nothing more comes.
    fn finish(&mut self, out: &mut Out);
}

/// The sessions that stand in a file, or in the files of a folder.
pub struct Import<I, R> {
    files: I,
    open: Option<Values<R>>,
    importer: Option<Box<dyn Importer>>,
    /// Values from before the format was known.
    waiting: VecDeque<Value>,
    first_file: String,
    options: ImportOptions,
    out: Out,
    is_over: bool,
}

impl<I, N, R> Import<I, R>
where
    I: Iterator<Item = (N, R)>,
    N: Into<String>,
    R: BufRead,
{
    /// Reads the files that are given with their names: one, or those of a folder in the order in which they follow on
    /// another. Nothing is read yet.
    pub fn new(files: impl IntoIterator<IntoIter = I>, options: ImportOptions) -> Self {
        Import {
            files: files.into_iter(),
            open: None,
            importer: options.format.map(ImportFormat::importer),
            waiting: VecDeque::new(),
            first_file: String::new(),
            options,
            out: Out { repair: options.repair, ..Out::default() },
            is_over: false,
        }
    }

    /// What came in so far, and what did not; all of it once there are no more sessions.
    pub fn report(&self) -> &ImportReport {
        &self.out.report
    }

    /// Reads on until there is a session, or the end.
    fn advance(&mut self) -> Result<(), ImportError> {
        while self.out.ready.is_empty() && !self.is_over {
            let Some(open) = &mut self.open else {
                match self.files.next() {
                    Some((name, reader)) => self.begin(name.into(), reader),
                    None => self.end()?,
                }
                continue;
            };
            match open.next() {
                Ok(Some(found)) => self.found(found)?,
                Ok(None) => self.open = None,
                Err(source) => {
                    self.is_over = true;
                    return Err(ImportError::Read { file: self.name(), source });
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, name: String, reader: R) {
        if self.first_file.is_empty() {
            self.first_file = name;
        } else {
            self.out.file = name;
        }
        self.open = Some(Values::new(reader));
    }

    fn name(&self) -> String {
        if self.out.file.is_empty() { self.first_file.clone() } else { self.out.file.clone() }
    }

    fn found(&mut self, found: Found) -> Result<(), ImportError> {
        match found {
            Found::Unreadable { line, what } => {
                self.out.line = line;
                self.out.count(LossFate::Unreadable, what);
            }
            Found::Repaired { line, what } => {
                self.out.line = line;
                self.out.repaired(what);
            }
            Found::Value(value) => return self.value(value),
        }
        Ok(())
    }

    fn value(&mut self, value: Value) -> Result<(), ImportError> {
        if let Some(importer) = &mut self.importer {
            self.out.line = value.line;
            importer.take(value, &mut self.out);
            return Ok(());
        }
        let told = detect::format_of(&value.json);
        self.waiting.push_back(value);
        match told {
            Some(format) => {
                self.out.report.format = Some(format);
                let mut importer = format.importer();
                for value in self.waiting.drain(..) {
                    self.out.line = value.line;
                    importer.take(value, &mut self.out);
                }
                self.importer = Some(importer);
                Ok(())
            }
            None if self.waiting.len() >= UNDECIDED => self.end(),
            None => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), ImportError> {
        self.is_over = true;
        let file = self.first_file.clone();
        match (&mut self.importer, self.waiting.front()) {
            (Some(importer), _) => {
                self.out.report.format = self.out.report.format.or(self.options.format);
                importer.finish(&mut self.out);
                Ok(())
            }
            (None, None) => Err(ImportError::Empty { file }),
            (None, Some(first)) => {
                let (line, what) = (first.line, detect::describe(&first.json));
                Err(ImportError::Unrecognized { file, line, what })
            }
        }
    }
}

impl<I, N, R> Iterator for Import<I, R>
where
    I: Iterator<Item = (N, R)>,
    N: Into<String>,
    R: BufRead,
{
    type Item = Result<Imported, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.advance() {
            return Some(Err(error));
        }
        self.out.ready.pop_front().map(Ok)
    }
}
