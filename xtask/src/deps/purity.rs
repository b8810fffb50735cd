//! The scan that shows that `session-core` names no file, clock, environment, thread, process, random source
//! or logger.
//!
//! The traits of `std::io` are allowed: a reader that the caller brings is a value like any other.

use crate::tokens::{Token, lines_of, tokens};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules of `std` that reach outside the program.
const IMPURE_MODULES: [&str; 6] = ["env", "fs", "net", "os", "process", "thread"];

/// Ways to reach outside, wherever their names come from; each is a run of tokens.
const IMPURE_RUNS: [&[&str]; 28] = [
    &["File"],
    &["Instant"],
    &["Local"],
    &["RandomState"],
    &["SystemTime"],
    &["UNIX_EPOCH"],
    &["getrandom"],
    &["Utc", ":", ":", "now"],
    &["log", ":", ":"],
    &["rand", ":", ":"],
    &["tracing", ":", ":"],
    &["stderr", "("],
    &["stdin", "("],
    &["stdout", "("],
    // A path is a value, but these methods of it ask the disk.
    &[".", "canonicalize", "("],
    &[".", "exists", "("],
    &[".", "is_dir", "("],
    &[".", "is_file", "("],
    &[".", "metadata", "("],
    &[".", "read_dir", "("],
    &[".", "read_link", "("],
    &[".", "symlink_metadata", "("],
    &[".", "try_exists", "("],
    &["dbg", "!"],
    &["eprint", "!"],
    &["eprintln", "!"],
    &["print", "!"],
    &["println", "!"],
];

/// Scans every Rust file under `source`, in order.
pub(super) fn check(source: &Path) -> Result<Vec<String>> {
    let mut violations = Vec::new();
    for path in rust_files(source)? {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let tokens = tokens(&text).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(source).unwrap_or(&path).display();
        let found = impurities(&tokens).into_iter();
        violations
            .extend(found.map(|(line, what)| format!("session-core/src/{name}:{line}: the core may not name {what}")));
    }
    Ok(violations)
}

/// The impure names in a file, with their lines, in the order of the lines.
fn impurities(tokens: &[Token]) -> Vec<(usize, String)> {
    let mut found = std_modules(tokens);
    for run in IMPURE_RUNS {
        found.extend(lines_of(tokens, run).into_iter().map(|line| (line, format!("`{}`", run.concat()))));
    }
    found.sort();
    found
}

/// Impure modules of `std`, named by a path (`std::fs::read`) or in a group (`use std::{fmt, fs::File}`).
fn std_modules(tokens: &[Token]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, window) in tokens.windows(3).enumerate() {
        if !window.iter().map(|token| token.text.as_str()).eq(["std", ":", ":"]) {
            continue;
        }
        let named = first_segments(&tokens[index + 3..]);
        let impure = named.into_iter().filter(|token| IMPURE_MODULES.contains(&token.text.as_str()));
        found.extend(impure.map(|token| (token.line, format!("`std::{}`", token.text))));
    }
    found
}

/// What stands right after `std::`: one name, or those at the top of a braced group.
fn first_segments(rest: &[Token]) -> Vec<&Token> {
    if rest.first().is_none_or(|token| token.text != "{") {
        return rest.first().into_iter().collect();
    }
    let mut depth = 0_usize;
    let mut expects_name = false;
    let mut segments = Vec::new();
    for token in rest {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            "," => {}
            _ if expects_name && depth == 1 => segments.push(token),
            _ => {}
        }
        expects_name = matches!(token.text.as_str(), "{" | ",") && depth == 1;
    }
    segments
}

fn rust_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{check, impurities};
    use crate::tokens::tokens;

    fn found(source: &str) -> Vec<String> {
        let tokens = tokens(source).expect("it is Rust");
        impurities(&tokens).into_iter().map(|(line, what)| format!("{line}: {what}")).collect()
    }

    #[test]
    fn a_path_into_an_impure_module_is_found_however_it_is_spelled() {
        assert_eq!(found("use std::fs;"), ["1: `std::fs`"]);
        assert_eq!(found("fn f() {\n    ::std :: process::exit(1)\n}"), ["2: `std::process`"]);
        assert_eq!(
            found("use std::{\n    fmt::{self, Write},\n    env,\n    thread::spawn,\n};"),
            ["3: `std::env`", "4: `std::thread`"]
        );
    }

    #[test]
    fn clocks_printing_and_random_sources_are_found() {
        assert_eq!(found("fn f() { Utc::now(); }"), ["1: `Utc::now`"]);
        assert_eq!(found("use std::time::{Duration, Instant};"), ["1: `Instant`"]);
        assert_eq!(found("fn f() { println!(\"x\"); }"), ["1: `println!`"]);
        assert_eq!(found("fn f() { rand::rng(); }"), ["1: `rand::`"]);
        assert_eq!(found("fn f() { let _ = std::io::stdin(); }"), ["1: `stdin(`"]);
        assert_eq!(found("fn f(path: &std::path::Path) -> bool { path.exists() }"), ["1: `.exists(`"]);
    }

    #[test]
    fn readers_durations_and_words_in_comments_or_strings_are_pure() {
        let pure = "//! std::fs\n/// println!\nuse std::io::{BufRead, Read, Seek};\nuse std::{path::Path, time::Duration};\n\
                    use std::{borrow::Cow, fmt};\nconst TEXT: &str = \"std::fs rand::\"; // SystemTime\nfn f(log: f64) -> f64 { log }\n";
        assert_eq!(found(pure), Vec::<String>::new());
    }

    #[test]
    fn every_file_below_the_source_directory_is_scanned() {
        let root = tempfile::tempdir().expect("a scratch directory");
        std::fs::create_dir(root.path().join("inner")).expect("it is new");
        std::fs::write(root.path().join("lib.rs"), "mod inner;").expect("it is writable");
        std::fs::write(root.path().join("inner/deep.rs"), "\nuse std::env;").expect("it is writable");
        assert_eq!(
            check(root.path()).expect("both are Rust"),
            ["session-core/src/inner/deep.rs:2: the core may not name `std::env`"]
        );
    }
}
