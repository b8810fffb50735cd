//! The pages under `docs/cli`, `docs/by-hand.md`, the one of the gates, and the README are run: each `$ command` of a
//! `console` block, by a shell, in order, on a store of the page's own. What follows a command is what it must print,
//! standard error included; `[..]` stands for anything on a line, a line `...` for any lines. `? n` after the output
//! says an exit status other than 0. Documents that are printed are held against `docs/schemas`.
//!
//! With `SNAPSHOTS=overwrite` a page that differs is written anew with what was printed; lines that still match stay.

use crate::schemas;
use crate::support::Scratch;
use snapbox::{Data, assert_data_eq};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

fn pages() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages: Vec<PathBuf> = fs::read_dir(root.join("docs/cli"))
        .expect("the pages are in the repository")
        .map(|entry| entry.expect("the directory can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        // Its verbs are in a build with the feature only.
        .filter(|path| cfg!(feature = "remote") || !path.ends_with("remote.md"))
        .collect();
    pages.extend(["README.md", "docs/by-hand.md", "docs/format-gates.md"].map(|page| root.join(page)));
    pages.sort();
    pages
}

/// A page with its commands run, and what they printed in the place of what stood there; lines that say the same stay.
fn run(page: &str) -> String {
    let scratch = Scratch::new();
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    let mut in_console = false;
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        if !in_console {
            continue;
        }
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let mut wanted = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("```")) {
            wanted.push(line);
        }
        let script = format!("exec 2>&1\n{command}");
        let ran = scratch.command("sh").arg("-c").arg(script).output().expect("there is a shell");
        schemas::documents(&String::from_utf8_lossy(&ran.stdout));
        for (number, line) in String::from_utf8_lossy(&ran.stdout).lines().enumerate() {
            let same = wanted.get(number).filter(|wanted| matches(wanted, line));
            out.push_str(same.copied().unwrap_or(line));
            out.push('\n');
        }
        match ran.status.code() {
            Some(0) => {}
            code => writeln!(out, "? {}", code.unwrap_or(-1)).expect("writing to a string cannot fail"),
        }
    }
    out
}

/// Whether a line is what a line with `[..]` for anything asks for.
fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let mut last = "";
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = part;
    }
    rest.is_empty() || (pattern.contains("[..]") && (last.is_empty() || rest.ends_with(last)))
}

#[test]
fn what_the_pages_show_is_what_the_program_prints() {
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|mode| mode == "overwrite");
    let pages = pages();
    assert!(!pages.is_empty(), "there are pages");
    for path in pages {
        let wanted = fs::read_to_string(&path).expect("the page is text");
        let actual = run(&wanted);
        if overwrite {
            fs::write(&path, &actual).expect("the pages are writable where snapshots are recorded");
        } else {
            assert_data_eq!(actual, Data::text(wanted).raw());
        }
    }
}
