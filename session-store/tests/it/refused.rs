//! What the system refuses: locks, a home, room for output.

use crate::child;
use crate::scratch::{Scratch, loaded, name, picture, user};
use crate::support::{quick, said};
use nix::errno::Errno;
use nix::libc;
use session_store::{
    Case, Deletion, Empties, Form, InboxMessage, NewFork, NewSession, Query, SearchOptions, StoreError, USER_LINE,
    Words, default_dir,
};
use session_testing::{Call, refusing};
use std::ops::ControlFlow;
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
fn where_no_thread_can_be_started_a_list_is_whole_and_a_search_says_why_there_is_none() {
    let scratch = Scratch::new();
    for n in 0..40 {
        scratch.session(&format!("demo-{n}"), &[user(1, "plant three oaks")]);
    }
    let store = scratch.store();
    let query = Query::new("oaks", Form::Literal, Case::Smart, Words::Any).expect("a text is a query");
    let search = || store.search(&query, &SearchOptions::default(), &mut |_| ControlFlow::Continue(()));
    let (listed, searched) =
        refusing(Call::Clone, Errno::EAGAIN, || (store.list(Empties::Hide).map(|list| list.len()), search()));
    assert_eq!(listed.expect("this thread does it all"), 40);
    let Err(StoreError::Threads { source }) = searched else { panic!("{searched:?}") };
    assert_eq!(source.raw_os_error(), Some(Errno::EAGAIN as i32));
    assert_eq!(search().expect("elsewhere it can").sessions, 40);
}

#[test]
fn on_a_file_system_that_cannot_rename_without_replacing_sessions_come_and_go() {
    for errno in [Errno::EINVAL, Errno::ENOSYS, Errno::EOPNOTSUPP] {
        let scratch = Scratch::new();
        let store = scratch.store();
        refusing(Call::RenameWithFlags, errno, || {
            let new = NewSession { name: Some(name("demo")), ..NewSession::default() };
            let session = store.create(&new)?;
            session.append(&[said("plant three oaks")])?;
            let taken = store.create(&new).expect_err("the name is taken");
            assert!(matches!(taken, StoreError::Exists { .. }), "{taken}");
            let fork = NewFork { name: Some(name("fork")), ..NewFork::default() };
            store.fork(&name("demo"), &fork, None)?;
            store.rename(&name("demo"), &name("oaks"))?;
            store.delete(&name("fork"), Deletion::Careful)?;
            let entry = store.trash(&name("oaks"), "", Deletion::Careful)?;
            assert_eq!(scratch.listed(), [""; 0]);
            store.restore_from_trash(&entry.id)?;
            store.open(&name("oaks"))?.inbox().deliver(&InboxMessage::now(USER_LINE, "use tabs"))
        })
        .unwrap_or_else(|error| panic!("{errno}: {error:?}"));
        assert_eq!(scratch.listed(), ["oaks"]);
        assert_eq!(loaded(&store, "oaks").len(), 1);
        assert_eq!(store.trash_list().expect("it can be read"), []);
    }
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
