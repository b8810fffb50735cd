//! What a verb prints: data on stdout, in one of three forms, and everything else on stderr.

pub(crate) mod escape;
pub(crate) mod number;
mod pager;
pub(crate) mod size;
mod table;
pub(crate) mod when;

pub(crate) use table::Rows;

use crate::exit::Exit;
use crate::failure::{Failure, causes};
use anstyle::Style;
use escape::{Layout, escaped};
use serde::Serialize;
use session_core::SessionName;
use session_store::StoreError;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

/// The form in which data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For a person at a terminal.
    Terminal,
    /// For a pipe or a file: tab-separated, nothing cut.
    Pipe,
    /// One JSON document.
    Json,
}

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal that has them, and where neither NO_COLOR nor TERM=dumb says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Something that a person or a program should know besides the data.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Diagnostic {
    /// A stable name.
    pub(crate) code: String,
    /// The session that it is about.
    pub(crate) session: Option<String>,
    /// The line of the history, from 1.
    pub(crate) line: Option<u64>,
    /// The byte of the history, from 0.
    pub(crate) offset: Option<u64>,
    /// What it is, for a person.
    pub(crate) text: String,
}

impl Diagnostic {
    /// About a session that something could not be done with.
    pub(crate) fn failed(code: &str, session: &SessionName, error: &StoreError) -> Self {
        Diagnostic {
            code: code.to_owned(),
            session: Some(session.to_string()),
            line: None,
            offset: None,
            text: causes(error),
        }
    }

    /// About a defect of a session's history.
    pub(crate) fn defect(session: &str, defect: &session_core::Defect) -> Self {
        Diagnostic {
            code: defect.fault.code().to_owned(),
            session: Some(session.to_owned()),
            line: defect.place.line,
            offset: Some(defect.place.offset),
            text: defect.to_string(),
        }
    }
}

/// Output that comes in many small pieces is written in pieces of about this many bytes.
pub(crate) const CHUNK: usize = 64 << 10;

/// Where a verb prints.
#[derive(Debug)]
pub(crate) struct Out {
    pub(crate) form: Form,
    /// Whether standard output is a terminal, whatever the form.
    is_shown: bool,
    colour: bool,
    quiet: bool,
    pager: bool,
}

impl Out {
    pub(crate) fn new(json: bool, colour: Colour, quiet: bool, no_pager: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let form = match (json, terminal) {
            (true, _) => Form::Json,
            (false, true) => Form::Terminal,
            (false, false) => Form::Pipe,
        };
        let choice = match colour {
            Colour::Auto => anstream::AutoStream::choice(&io::stdout()),
            Colour::Always => anstream::ColorChoice::Always,
            Colour::Never => anstream::ColorChoice::Never,
        };
        let colour = choice != anstream::ColorChoice::Never && form != Form::Json;
        Out { form, is_shown: terminal, colour, quiet, pager: terminal && !no_pager }
    }

    /// A text in a style, where styles are used.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Whether one JSON document is asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Whether this is printed for a person at a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.form == Form::Terminal
    }

    /// Whether only errors are wanted on stderr.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Bytes as they are, also on a terminal: nothing in them may be what a model, a tool or a person wrote, unless it is
    /// escaped already.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| Failure::stdout(&error))
    }

    /// A text as it is, or, on a terminal, with what would steer it shown as escapes.
    pub(crate) fn text(&self, text: &[u8]) -> Result<(), Failure> {
        if !self.is_shown {
            return self.bytes(text);
        }
        self.bytes(escaped(&String::from_utf8_lossy(text), Layout::Lines).as_bytes())
    }

    /// One line, as [`Out::text`].
    pub(crate) fn line(&self, text: &str) -> Result<(), Failure> {
        self.text(format!("{text}\n").as_bytes())
    }

    /// One line in a style, where styles are used.
    pub(crate) fn styled_line(&self, style: Style, text: &str) -> Result<(), Failure> {
        let text = if self.is_shown { escaped(text, Layout::Lines) } else { text.into() };
        self.bytes(format!("{}\n", self.styled(style, &text)).as_bytes())
    }

    /// Whole lines of JSON as they are, or, on a terminal, with the escapes of JSON for what would steer it.
    pub(crate) fn json_lines(&self, lines: &[u8]) -> Result<(), Failure> {
        if !self.is_shown {
            return self.bytes(lines);
        }
        self.bytes(escape::json(&String::from_utf8_lossy(lines)).as_bytes())
    }

    /// One line of JSON, as [`Out::json_lines`].
    pub(crate) fn json_line(&self, value: &impl Serialize) -> Result<(), Failure> {
        let mut line = serde_json::to_vec(value).map_err(Failure::bug)?;
        line.push(b'\n');
        self.json_lines(&line)
    }

    /// The bytes of a file of JSON lines, as [`Out::json_lines`].
    pub(crate) fn copy(&self, from: impl io::Read) -> Result<Exit, Failure> {
        let mut from = io::BufReader::with_capacity(CHUNK, from);
        let mut line = Vec::new();
        // A terminal gets whole lines, because a piece of one may end inside of a character.
        let mut next = |line: &mut Vec<u8>| match self.is_shown {
            true => from.read_until(b'\n', line),
            false => from.by_ref().take(CHUNK as u64).read_to_end(line),
        };
        while next(&mut line).map_err(|error| Failure::input("the history", &error))? > 0 {
            self.json_lines(&line)?;
            line.clear();
        }
        Ok(Exit::Done)
    }

    /// A long text for a person, through the pager where there is one.
    pub(crate) fn page(&self, text: &str) -> Result<(), Failure> {
        if self.pager && pager::show(text) { Ok(()) } else { self.bytes(text.as_bytes()) }
    }

    /// Rows in the form for a person or for a pipe.
    pub(crate) fn rows(&self, rows: &Rows) -> Result<(), Failure> {
        if self.is_terminal() {
            let width = terminal_size::terminal_size().map(|(width, _)| width.0);
            self.page(&rows.aligned(width, self.colour))
        } else {
            self.bytes(rows.separated().as_bytes())
        }
    }

    /// One JSON document: schema, completeness and diagnostics, then the verb's own members.
    pub(crate) fn document(
        &self,
        verb: &str,
        complete: bool,
        diagnostics: &[Diagnostic],
        members: &impl Serialize,
    ) -> Result<(), Failure> {
        #[derive(Serialize)]
        struct Document<'a, T: Serialize> {
            schema: String,
            complete: bool,
            diagnostics: &'a [Diagnostic],
            #[serde(flatten)]
            members: &'a T,
        }
        let document = Document { schema: format!("session/{verb}.v1"), complete, diagnostics, members };
        self.json_line(&document)
    }

    /// A small answer: one document, or whatever `plain` prints.
    pub(crate) fn answer(
        &self,
        verb: &str,
        members: &impl Serialize,
        plain: impl FnOnce(&Out) -> Result<(), Failure>,
    ) -> Result<Exit, Failure> {
        if self.is_json() {
            self.document(verb, true, &[], members)?;
        } else {
            plain(self)?;
        }
        Ok(Exit::Done)
    }

    /// Something besides the data, on stderr, unless `-q`. In JSON the diagnostics are inside the document.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }

    /// Diagnostics on stderr, for the forms that are no JSON; many alike are summed up.
    pub(crate) fn diagnostics(&self, diagnostics: &[Diagnostic]) {
        const SHOWN: usize = 10;
        if self.form == Form::Json {
            return;
        }
        for diagnostic in diagnostics.iter().take(SHOWN) {
            let session = diagnostic.session.as_deref().map(|session| format!("{session}: ")).unwrap_or_default();
            self.note(&format!("warning: {session}{}", diagnostic.text));
        }
        if diagnostics.len() > SHOWN {
            self.note(&format!("warning: and {} more; --json lists all", diagnostics.len() - SHOWN));
        }
    }
}

/// A line on stderr. That it cannot be written is nothing that could still be told.
pub(crate) fn say(text: &str) {
    let text = escaped(text, Layout::Lines);
    drop(writeln!(io::stderr().lock(), "{text}"));
}
