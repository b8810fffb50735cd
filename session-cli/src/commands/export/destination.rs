//! Where an export goes, and what its files are called.

use super::{Form, Format};
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use session_core::SessionName;
use std::path::{Path, PathBuf};

/// Where an export goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    Stdout,
    /// One session.
    File(PathBuf),
    /// A file for each session.
    Directory(PathBuf),
}

/// The form that the ending of a file asks for.
pub(super) fn form(output: Option<&Path>) -> Option<Form> {
    let path = output.filter(|path| !is_directory(path))?;
    match path.extension()?.to_str()? {
        "md" | "markdown" => Some(Form::Of(Format::Md)),
        "html" | "htm" => Some(Form::Of(Format::Html)),
        "json" => Some(Form::Of(Format::Json)),
        "jsonl" => Some(Form::Of(Format::Jsonl)),
        "zst" => Some(Form::Bundle),
        _ => None,
    }
}

/// Whether a path is a directory's, be it there or not.
fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

impl Destination {
    /// What `-o` means for so many sessions.
    pub(super) fn of(output: Option<&Path>, sessions: usize) -> Result<Self, Failure> {
        match output {
            None => Destination::stdout(sessions),
            Some(path) if path.as_os_str() == "-" => Destination::stdout(sessions),
            Some(path) if is_directory(path) => Ok(Destination::Directory(path.to_owned())),
            Some(path) if sessions == 1 => Ok(Destination::File(path.to_owned())),
            Some(path) => {
                Err(Failure::new(Exit::Usage, format!("{} is one file for {sessions} sessions", path.display()))
                    .hint(format!("name a directory: -o {}/", path.display())))
            }
        }
    }

    fn stdout(sessions: usize) -> Result<Self, Failure> {
        if sessions == 1 {
            return Ok(Destination::Stdout);
        }
        Err(Failure::new(Exit::Usage, "several sessions do not go into one stream").hint("name a directory: -o DIR/"))
    }

    /// The file of a session.
    pub(super) fn path(&self, name: &SessionName, ending: &str) -> PathBuf {
        match self {
            Destination::Stdout => PathBuf::from("-"),
            Destination::File(path) => path.clone(),
            Destination::Directory(dir) => {
                // The name of the index is taken: a session of that name, with or without such marks, gets one more.
                let mark = if ending == "html" && name.as_str().trim_end_matches('_') == "index" { "_" } else { "" };
                dir.join(format!("{name}{mark}.{ending}"))
            }
        }
    }

    /// The page that lists the pages of several sessions.
    pub(super) fn index(&self, sessions: usize) -> Option<PathBuf> {
        match self {
            Destination::Directory(dir) if sessions > 1 => Some(dir.join("index.html")),
            Destination::Stdout | Destination::File(_) | Destination::Directory(_) => None,
        }
    }

    /// Makes the directory.
    pub(super) fn prepare(&self) -> Result<(), Failure> {
        match self {
            Destination::Stdout | Destination::File(_) => Ok(()),
            Destination::Directory(dir) => {
                session_disk::create_dir_all(dir).map_err(|error| Failure::new(Exit::Usage, causes(&error)))
            }
        }
    }
}
