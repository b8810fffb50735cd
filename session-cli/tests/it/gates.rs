//! What `docs/format-gates.md` claims and no other test shows. The page itself is run with the others.

use crate::support::{Scratch, tree};
use std::fs;
use std::path::{Path, PathBuf};

/// 10 KB, in bytes.
const SMALL_BYTES: usize = 10 << 10;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn a_trivial_session_takes_10_kb_or_less() {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks", "--title", "Plant three oaks", "--model", "m1"]);
    let script = "printf '%s\\n' '{\"role\":\"user\",\"content\":\"plant three oaks\"}' '{\"role\":\"assistant\",\"content\":\"done\"}' \
                  | session append oaks; session usage oaks --input 900 --output 80 --cost 0.0031";
    scratch.ok(&["turn", "oaks", "--", "sh", "-c", script]);
    assert_eq!(scratch.ok(&["load", "oaks"]).lines().count(), 2);
    let files = tree(&scratch.store().join("oaks"));
    let bytes: usize = files.values().map(Vec::len).sum();
    assert!(bytes <= SMALL_BYTES, "{bytes} bytes: {:?}", files.keys().collect::<Vec<_>>());
}

#[test]
fn going_back_and_on_never_changes_a_byte_that_was_written() {
    let scratch = Scratch::new();
    let say = "{\"role\":\"user\",\"content\":\"plant\"}\n{\"role\":\"assistant\",\"content\":\"digging\"}\n";
    scratch.ok(&["new", "oaks", "--workspace", "."]);
    scratch.ok_with(&["append", "oaks"], say);
    let history = scratch.store().join("oaks/history.jsonl");
    let mut before = fs::read(&history).expect("it is there");
    let steps: [&[&str]; 16] = [
        &["turn", "oaks", "--", "sh", "-c", "echo '{\"role\":\"user\",\"content\":\"more\"}' | session append oaks"],
        &["rollback", "oaks", "1"],
        &["notice", "oaks", "rain"],
        &["settings", "oaks", "--model", "m2"],
        &["usage", "oaks", "--cost", "0.5"],
        &["meta", "oaks", "title=Oaks", "summary=trees"],
        &["title", "oaks", "Trees"],
        &["rewind", "oaks", "--to", "2", "--chat", "-y"],
        &["rewind", "oaks", "--undo", "-y"],
        &["checkpoint", "create", "oaks"],
        &["checkpoint", "restore", "oaks", "1", "-y", "--adopt"],
        &["pin", "oaks"],
        &["relocate", ".", "/", "-y"],
        &["fork", "oaks", "elms"],
        &["doctor", "oaks", "--fix"],
        &["compact", "oaks", "birches", "--summary", "-"],
    ];
    for step in steps {
        let ran = scratch.run_with(step, "three oaks\n");
        assert!(ran.code <= 1, "{step:?}: {ran:?}");
        let after = fs::read(&history).expect("it is there");
        assert!(after.starts_with(&before), "{step:?}");
        before = after;
    }
}

/// The names that stand in a text as code and look like those of tests.
fn named(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let code = rows.flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_name = |text: &&str| {
        text.len() > 20 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    code.filter(is_name).collect()
}

/// The sources of a directory and of those below it, one behind the other.
fn sources(dir: &Path, all: &mut String) {
    for entry in fs::read_dir(dir).expect("the sources are here") {
        let path = entry.expect("it can be read").path();
        match path.extension() {
            _ if path.is_dir() && !path.ends_with("target") => sources(&path, all),
            Some(extension) if extension == "rs" => *all += &fs::read_to_string(&path).expect("it is text"),
            _ => {}
        }
    }
}

#[test]
fn the_page_of_the_gates_names_tests_that_are_there() {
    let page = fs::read_to_string(root().join("docs/format-gates.md")).expect("the page is in the repository");
    let mut all = String::new();
    for part in ["session-core", "session-store", "session-cli"] {
        sources(&root().join(part), &mut all);
    }
    let named = named(&page);
    assert!(named.len() > 20, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|name| !all.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
