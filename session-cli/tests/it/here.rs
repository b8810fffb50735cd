//! Which session `.` and `@` are, and that it is told.

use crate::support::{Ran, SESSION, Scratch, eventually};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Stdio};

const HELLO: &str = "{\"role\":\"user\",\"content\":\"plant\"}\n";

fn session(scratch: &Scratch, name: &str, workspace: &Path) {
    scratch.ok(&["new", name, "--workspace", &workspace.display().to_string()]);
    scratch.ok_with(&["append", name], HELLO);
}

/// What `session path WORD` says in a directory.
fn path(scratch: &Scratch, dir: &Path, word: &str) -> (Option<i32>, String, String) {
    let ran = scratch.command(SESSION).args(["path", word]).current_dir(dir).output().expect("the program was built");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
}

/// A turn of another process, which ends when this is dropped.
struct Turn(Child);

impl Turn {
    fn start(scratch: &Scratch, name: &str) -> Self {
        let mut command = scratch.command(SESSION);
        command.args(["turn", name, "--", "sh", "-c", "read line"]).stdin(Stdio::piped());
        let turn = Turn(command.spawn().expect("the program was built"));
        eventually("the turn runs", || scratch.ok(&["active"]).contains(name));
        turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

#[test]
fn ls03_the_newest_here_is_one_of_this_directory_whatever_path_leads_to_it_and_is_told() {
    let scratch = Scratch::new();
    let (orchard, forest) = (scratch.work().join("orchard"), scratch.work().join("forest"));
    for (dir, name) in [(&orchard, "oaks"), (&forest, "elms")] {
        fs::create_dir(dir).expect("it is new");
        session(&scratch, name, dir);
    }
    let link = scratch.work().join("link");
    symlink(&orchard, &link).expect("the name is free");
    for dir in [&orchard, &link] {
        let (code, shown, told) = path(&scratch, dir, ".");
        assert!(code == Some(0) && shown.ends_with("/oaks\n"), "{shown}{told}");
        assert_eq!(told, "note: . is oaks\n");
    }
    let (_, shown, told) = path(&scratch, &orchard, "@");
    assert!(shown.ends_with("/elms\n") && told == "note: @ is elms\n", "{shown}{told}");
    let (code, _, told) = path(&scratch, &scratch.work(), ".");
    assert!(code == Some(4) && told.contains("no session has the workspace"), "{told}");
    assert_eq!(scratch.run(&["-q", "path", "@"]).stderr, "");
}

#[test]
fn ls03_a_session_in_which_another_process_is_at_work_is_changed_only_by_its_name() {
    let scratch = Scratch::new();
    for name in ["oaks", "elms"] {
        session(&scratch, name, &scratch.work());
    }
    let turn = Turn::start(&scratch, "elms");
    let ran = scratch.run_with(&["append", "."], HELLO);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "note: . is oaks; a turn of another process runs in elms\n"));
    assert_eq!(scratch.ok(&["load", "oaks"]).lines().count(), 2);
    // By its name it is changed all the same, and who only looks sees the newest.
    scratch.ok_with(&["append", "elms"], HELLO);
    assert!(scratch.run(&["last-model", ".", "--json"]).stdout.contains("\"elms\""));
    assert_eq!(scratch.run(&["steer", "-s", ".", "use tabs"]).stderr, "note: . is elms\n");
    let second = Turn::start(&scratch, "oaks");
    let ran = scratch.run_with(&["append", "."], HELLO);
    assert!(ran.code == 5 && ran.stderr.contains("name the session"), "{ran:?}");
    assert!(ran.stderr.contains("elms") && ran.stderr.contains("oaks"), "{ran:?}");
    drop((turn, second));
    assert_eq!(scratch.run_with(&["append", "."], HELLO).code, 0);
}

#[test]
fn ls03_the_command_of_a_turn_finds_its_own_session_here() {
    let scratch = Scratch::new();
    for name in ["oaks", "elms"] {
        session(&scratch, name, &scratch.work());
    }
    let script = "echo '{\"role\":\"user\",\"content\":\"more\"}' | session append .";
    let ran = scratch.run(&["turn", "elms", "--", "sh", "-c", script]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "note: . is elms\n"), "{ran:?}");
    assert_eq!(scratch.ok(&["load", "elms"]).lines().count(), 2);
}

#[test]
fn the_one_liner_with_fzf_picks_a_session_by_its_name() {
    let scratch = Scratch::new();
    for name in ["oaks", "elms"] {
        session(&scratch, name, &scratch.work());
    }
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli/sessions.md")).expect("it is there");
    let line = page.lines().find(|line| line.contains("| fzf") && !line.contains('`')).expect("the page has it");
    // It may not be installed: this one picks the second line, as a person would who goes down once.
    let bin = scratch.work().join("bin");
    fs::create_dir(&bin).expect("it is new");
    fs::write(bin.join("fzf"), "#!/bin/sh\nsed -n 2p\n").expect("there is room");
    let script = format!("chmod +x bin/fzf; PATH=\"$PWD/bin:$PATH\"; {line}");
    let ran = scratch.command("sh").args(["-c", &script]).output().expect("there is a shell");
    let picked = scratch.ok(&["show", "oaks"]);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), picked, "{line}: {ran:?}");
}

#[test]
fn a_workspace_whose_path_is_no_text_is_refused_and_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let scratch = Scratch::without_processes();
    let (odd, twin) = (scratch.work().join(std::ffi::OsStr::from_bytes(b"d\xFF")), scratch.work().join("d\u{fffd}"));
    for dir in [&odd, &twin] {
        fs::create_dir(dir).expect("the name is free");
    }
    let run = |words: &[&str], dir: &Path, last: Option<&Path>| {
        let mut command = scratch.command(SESSION);
        Ran::of(&command.args(words).args(last).current_dir(dir).output().expect("the program was built"))
    };
    let tries = [
        run(&["new", "oaks"], &odd, None),
        run(&["new", "oaks", "--workspace"], &scratch.work(), Some(&odd)),
        run(&["new", "oaks", "--workspace", "below"], &odd, None),
    ];
    for ran in tries {
        assert!(ran.code == 2 && ran.stderr.contains(r"d\xFF"), "{ran:?}");
        assert!(!scratch.store().exists(), "{ran:?}");
    }
    scratch.ok(&["new", "elms"]);
    let work = scratch.work().display().to_string();
    let ran = run(&["relocate", "-y", &work], &scratch.work(), Some(&odd));
    assert!(ran.code == 2 && ran.stderr.contains(r"d\xFF"), "{ran:?}");
    assert_eq!(scratch.ok(&["meta", "elms", "workspace"]), format!("{work}\n"));
}
