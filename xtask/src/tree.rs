//! The files that the rules look at.

use crate::project::Project;
use crate::say;
use crate::tokens::{Token, tokens};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A text file of the checkout.
pub(crate) struct TextFile {
    /// From the root, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
    tokens: OnceLock<Vec<Token>>,
}

/// The text files of the checkout, in the order of their paths. Of binary files only the paths are known.
pub(crate) struct Tree {
    files: Vec<TextFile>,
    binary: Vec<String>,
}

impl TextFile {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        TextFile { path: path.into(), text: text.into(), tokens: OnceLock::new() }
    }

    /// Recorded input or output of a test: its content is the test's affair, not a matter of style.
    pub(crate) fn is_test_data(&self) -> bool {
        self.path.starts_with("tests/data/") || self.path.contains("/tests/data/")
    }

    /// Source code of ours.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && !self.is_test_data()
    }

    /// The tokens of a Rust file. What cannot be read has none: the compiler says it better.
    pub(crate) fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| tokens(&self.text).unwrap_or_default())
    }
}

impl Tree {
    /// Reads what git tracks or would track; without git, everything but build output.
    pub(crate) fn read(project: &Project) -> Result<Self> {
        let mut paths = match listed_by_git(project) {
            Some(paths) => paths,
            None => {
                say::note("git cannot list the files here: every file is checked instead, but for build output");
                let mut paths = Vec::new();
                walk(project.root(), "", &mut paths)?;
                paths
            }
        };
        paths.sort();
        let (mut files, mut binary) = (Vec::new(), Vec::new());
        for path in paths {
            let full = project.root().join(&path);
            // A file that is listed and gone was deleted and not committed yet; a link is not a file of its own.
            if !full.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let bytes = fs::read(&full).with_context(|| format!("cannot read {}", full.display()))?;
            match String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) {
                Some(text) => files.push(TextFile::new(path, text)),
                None => binary.push(path),
            }
        }
        Ok(Tree { files, binary })
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| TextFile::new(*path, *text)).collect();
        Tree { files, binary: Vec::new() }
    }

    pub(crate) fn files(&self) -> &[TextFile] {
        &self.files
    }

    /// Whether there is a file, or a directory with one, at `path`.
    pub(crate) fn has(&self, path: &str) -> bool {
        let mut paths = self.files.iter().map(|file| &file.path).chain(&self.binary);
        paths.any(|known| known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    /// The text of the file at `path`, if there is one.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }
}

/// Tracked files, and those that are new and not ignored. `None` where git is missing or this is no repository.
fn listed_by_git(project: &Project) -> Option<Vec<String>> {
    let listed = project
        .command("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"])
        .quiet()
        .ignore_stderr()
        .read()
        .ok()?;
    let paths: Vec<String> = listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    (!paths.is_empty()).then_some(paths)
}

/// What git would ignore: its own directory (in a second worktree a file), build output, what fuzzing makes.
const NOT_OURS: [&str; 4] = [".git", "artifacts", "corpus", "target"];

fn walk(root: &Path, prefix: &str, paths: &mut Vec<String>) -> Result<()> {
    let directory = root.join(prefix);
    for entry in fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if NOT_OURS.contains(&name.as_str()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk(root, &path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{TextFile, walk};
    use std::fs;

    #[test]
    fn without_git_everything_but_build_output_is_listed() {
        let root = tempfile::tempdir().expect("a scratch directory");
        for directory in ["src", "target", ".git"] {
            fs::create_dir(root.path().join(directory)).expect("it is new");
            fs::write(root.path().join(directory).join("file"), "").expect("it is writable");
        }
        let mut paths = Vec::new();
        walk(root.path(), "", &mut paths).expect("it is readable");
        assert_eq!(paths, ["src/file"]);
    }

    #[test]
    fn recorded_rust_is_data_and_not_source() {
        assert!(TextFile::new("session-core/src/lib.rs", "").is_rust());
        assert!(!TextFile::new("session-core/tests/data/sample.rs", "").is_rust());
    }
}
