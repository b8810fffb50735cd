//! Reading works for somebody who may only read, and creates nothing.
//!
//! Root may write wherever it likes, so as root the reading is done by a child under another user: this program again,
//! told by a variable what it is.

use crate::scratch::{Scratch, at_second, name, picture, user};
use session_store::{Checkup, Empties, SessionState, Store, StoreError};
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const STORE_VARIABLE: &str = "SESSION_TEST_READ_ONLY_STORE";
const NOBODY: &str = "65534";

/// Makes everything below a directory readable for all and writable for none.
fn freeze(path: &Path) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("it is ours") {
            freeze(&entry.expect("it can be read").path());
        }
    }
    let mode = if path.is_dir() { 0o555 } else { 0o444 };
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

fn thaw(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o755)).expect("it is ours");
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("it is ours") {
            thaw(&entry.expect("it can be read").path());
        }
    }
}

fn frozen() -> Scratch {
    let scratch = Scratch::new();
    scratch.session(
        "demo",
        &[
            user(1, "plant three oaks"),
            "{\"ts\":\"2026-01-02T03:04:02Z\",\"kind\":\"settings\",\"model\":\"m\"}\n".into(),
            user(3, "now"),
        ],
    );
    scratch.put("demo/meta.json", "{\"name\":\"demo\",\"title\":\"Oaks\"}");
    scratch.put_at("cut/meta.json", "{\"name\":", at_second(1));
    scratch.put("cut/history.jsonl", user(1, "a") + "{\"torn");
    scratch.put("old.jsonl", "{\"role\":\"user\",\"content\":\"flat\"}\n");
    scratch.session("closed", &[user(1, "secret")]);
    freeze(&scratch.base());
    fs::set_permissions(scratch.path("closed"), Permissions::from_mode(0o000)).expect("it is ours");
    fs::set_permissions(scratch.outside(), Permissions::from_mode(0o755)).expect("it is ours");
    scratch
}

#[test]
fn l06_i26_reading_verbs_work_for_a_user_who_may_only_read_and_create_nothing() {
    let scratch = frozen();
    if nix::unistd::geteuid().is_root() {
        let before = picture(&scratch.base());
        // The program may lie where nobody else can reach it.
        let program = scratch.outside().join("program");
        fs::copy(env::current_exe().expect("the program has a path"), &program).expect("it can be copied");
        let mut child = Command::new("setpriv");
        child.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(program);
        child.args(["--exact", "list_readonly::l06_reading_verbs_as_told_by_the_environment"]);
        let output = child.env(STORE_VARIABLE, scratch.base()).current_dir("/").output().expect("setpriv can be run");
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        assert_eq!(picture(&scratch.base()), before);
    } else {
        read_everything(&scratch.base());
        fs::set_permissions(scratch.path("closed"), Permissions::from_mode(0o755)).expect("it is ours");
    }
    thaw(&scratch.base());
}

#[test]
fn l06_reading_verbs_as_told_by_the_environment() {
    if let Some(base) = env::var_os(STORE_VARIABLE) {
        assert!(!nix::unistd::geteuid().is_root());
        read_everything(Path::new(&base));
    }
}

fn read_everything(base: &Path) {
    let store = Store::open_at(base);
    assert!(fs::write(base.join("probe"), "").is_err(), "the store is read-only for this user");
    let listed = store.list(Empties::Show).expect("it can be read");
    let mut rows: Vec<_> = listed.iter().map(|info| (info.name.as_str(), info.state, info.messages)).collect();
    rows.sort_by_key(|row| row.0);
    assert_eq!(
        rows,
        [
            ("closed", SessionState::Damaged, None),
            ("cut", SessionState::Damaged, Some(1)),
            ("demo", SessionState::Idle, Some(2)),
            ("old", SessionState::Idle, Some(1)),
        ]
    );
    let demo = name("demo");
    assert_eq!(store.most_recent().expect("it can be read"), Some(name("old")));
    assert_eq!(store.load(&demo).expect("it can be read").messages.len(), 2);
    assert_eq!(store.load(&name("old")).expect("it can be read").messages.len(), 1);
    assert!(store.show_reference(&demo).expect("it can be read").0.contains("Title: Oaks\n"));
    assert_eq!(store.title(&demo).expect("it can be read").as_deref(), Some("Oaks"));
    assert_eq!(store.title(&name("old")).expect("it can be read"), None);
    assert_eq!(store.read_meta(&demo).expect("it can be read").meta.title, "Oaks");
    assert_eq!(store.last_model(&demo).expect("it can be read").as_deref(), Some("m"));
    assert_eq!(store.last_report(&demo).expect("it can be read"), None);
    assert_eq!(store.similar("dem").expect("it can be read"), std::slice::from_ref(&demo));
    assert!(store.has_history(&demo) && store.has_history(&name("old")) && !store.has_history(&name("nobody")));
    assert_eq!(store.active_turns().expect("it can be read").turns, []);
    assert_eq!(store.trash_list().expect("it can be read"), []);
    assert_eq!(store.examine(&Checkup::default()).expect("it can be read").sessions, 4);
    assert!(matches!(store.load(&name("closed")), Err(StoreError::Read { .. })));
    assert!(matches!(store.load(&name("nobody")), Err(StoreError::NotFound { .. })));
}

#[test]
fn l06_a_store_that_does_not_exist_is_empty_and_stays_away() {
    let scratch = Scratch::new();
    let base = scratch.outside().join("not").join("here");
    let store = Store::open_at(&base);
    assert!(store.list(Empties::Show).expect("nothing is no error").is_empty());
    assert_eq!(store.most_recent().expect("nothing is no error"), None);
    assert_eq!(store.active_turns().expect("nothing is no error").turns, []);
    assert_eq!(store.trash_list().expect("nothing is no error"), []);
    assert_eq!(store.examine(&Checkup::default()).expect("nothing is no error").findings, []);
    assert!(matches!(store.load(&name("demo")), Err(StoreError::NotFound { .. })));
    assert!(!scratch.outside().join("not").exists());
}

#[test]
fn l06_a_store_whose_path_is_a_file_says_so() {
    let scratch = Scratch::new();
    let path = scratch.put("file", "");
    let store = Store::open_at(&path);
    assert!(matches!(store.list(Empties::Show), Err(StoreError::NotADirectory { .. })));
    assert!(matches!(store.most_recent(), Err(StoreError::NotADirectory { .. })));
}
