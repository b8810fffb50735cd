//! What the system refuses: locks, a home, room for output.

use crate::child;
use crate::scratch::{Scratch, name, picture, user};
use crate::support::{quick, said};
use nix::errno::Errno;
use nix::libc;
use session_store::{Deletion, StoreError, default_dir};
use session_testing::{Call, refusing};
use std::path::Path;

#[test]
fn a_file_system_without_locks_is_told_and_nothing_is_written() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant three oaks")]);
    let session = scratch.store_with(quick()).open(&name("demo")).expect("it is there");
    let before = picture(&scratch.path("demo"));
    let refused = refusing(Call::Flock, Errno::EOPNOTSUPP, || {
        (session.lock().map(drop), session.append(&[said("and a birch")]).map(drop))
    });
    let is_told = |refused: &Result<(), StoreError>, at: &Path| {
        let Err(StoreError::LockUnsupported { path, source }) = refused else { return false };
        path == at && source.raw_os_error() == Some(Errno::EOPNOTSUPP as i32)
    };
    assert!(is_told(&refused.0, session.dir()), "{refused:?}");
    assert!(is_told(&refused.1, &session.paths().history()), "{refused:?}");
    assert_eq!(picture(&scratch.path("demo")), before);
    session.append(&[said("and a birch")]).expect("elsewhere it can");
}

#[test]
fn without_a_home_there_is_no_directory_for_the_store() {
    let mut command = child::command("refused::child_without_a_home", &["homeless"]);
    command.env_remove("HOME");
    assert!(child::Running::start(command).wait().success());
}

#[test]
fn child_without_a_home() {
    let Some(_) = child::task() else { return };
    // Only root can become somebody whom the user database does not know.
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    const UNKNOWN: libc::uid_t = 54_321;
    // SAFETY: the raw call changes the user of this thread alone, which ends with the test.
    let changed = unsafe { libc::syscall(libc::SYS_setresuid, UNKNOWN, UNKNOWN, UNKNOWN) };
    assert_eq!(changed, 0);
    let dir = default_dir();
    assert!(matches!(dir, Err(StoreError::NoHome)), "{dir:?}");
}

#[test]
fn records_that_cannot_be_read_stand_against_deleting() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant three oaks")]);
    scratch.put("demo/proc", "a file where the records should be");
    let before = picture(&scratch.path("demo"));
    let refused = scratch.store().delete(&name("demo"), Deletion::Careful);
    assert!(matches!(refused, Err(StoreError::Process(_))), "{refused:?}");
    assert_eq!(picture(&scratch.path("demo")), before);
}
