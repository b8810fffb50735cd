//! The pages under `docs/cli` are run: each `$ command` of a `console` block, by a shell, in order, on a store of the
//! page's own. What follows a command is what it must print, standard error included; `[..]` stands for anything on a
//! line, a line `...` for any lines. `? n` after the output says an exit status other than 0.
//!
//! With `SNAPSHOTS=overwrite` a page that differs is written anew with what was printed.

use crate::support::Scratch;
use snapbox::filter::{Filter as _, FilterNewlines};
use snapbox::{Data, assert_data_eq};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

fn pages() -> Vec<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/cli");
    let mut pages: Vec<PathBuf> = fs::read_dir(&dir)
        .expect("the pages are in the repository")
        .map(|entry| entry.expect("the directory can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages
}

/// A page with its commands run: what it says, and what it would have to say.
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
        while lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("```")).is_some() {}
        let script = format!("exec 2>&1\n{command}");
        let ran = scratch.command("sh").arg("-c").arg(script).output().expect("there is a shell");
        let printed = String::from_utf8_lossy(&ran.stdout);
        out.push_str(&printed);
        if !printed.is_empty() && !printed.ends_with('\n') {
            out.push('\n');
        }
        match ran.status.code() {
            Some(0) => {}
            code => writeln!(out, "? {}", code.unwrap_or(-1)).expect("writing to a string cannot fail"),
        }
    }
    out
}

#[test]
fn what_the_pages_show_is_what_the_program_prints() {
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|mode| mode == "overwrite");
    let pages = pages();
    assert!(!pages.is_empty(), "there are pages");
    for path in pages {
        let wanted = fs::read_to_string(&path).expect("the page is text");
        let actual = run(&wanted);
        let same = {
            let wanted = FilterNewlines.filter(Data::text(wanted.clone()));
            std::panic::catch_unwind(|| assert_data_eq!(actual.clone(), wanted)).is_ok()
        };
        if !same && overwrite {
            fs::write(&path, &actual).expect("the pages are writable where snapshots are recorded");
        } else {
            assert!(same, "{} differs from what was printed; `cargo xtask bless` records it", path.display());
        }
    }
}
