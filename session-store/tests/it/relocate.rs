//! A project that was moved.

use crate::meanwhile::Once;
use crate::scratch::{Scratch, Sleeper, name, picture};
use session_core::{Message, SessionName};
use session_disk::faults::{self, Fault};
use session_store::{Empties, NewSession, Relocation, Store, StoreError};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Three sessions: in the project, below it, and beside it under a name that begins as the project's does.
fn moved() -> (Scratch, PathBuf, PathBuf) {
    let scratch = Scratch::new();
    let (old, new) = (scratch.outside().join("w1"), scratch.outside().join("w2"));
    fs::create_dir_all(old.join("sub")).expect("it is ours");
    for (session, workspace) in [("top", "w1"), ("below", "w1/sub"), ("beside", "w10")] {
        let workspace = scratch.outside().join(workspace).display().to_string();
        let new = NewSession { name: SessionName::new(session).ok(), workspace, ..NewSession::default() };
        let session = scratch.store().create(&new).expect("its name is free");
        session.append_messages([Message::user("plant three oaks")]).expect("there is room");
    }
    fs::rename(&old, &new).expect("it is ours");
    (scratch, old, new)
}

fn workspace(store: &Store, session: &str) -> String {
    store.read_meta(&name(session)).expect("it is there").meta.workspace
}

fn planned(plan: &[Relocation]) -> Vec<(&str, &str, bool)> {
    plan.iter().map(|one| (one.name.as_str(), one.to.as_str(), one.exists)).collect()
}

#[test]
fn m05_sessions_of_a_project_that_was_moved_follow_it_and_no_other_does() {
    let (scratch, old, new) = moved();
    let store = scratch.store();
    let before = picture(&scratch.base());
    let plan = store.plan_relocate(&old, &new).expect("it can be read");
    let to = |below: &str| new.join(below).display().to_string();
    let (top, below) = (new.display().to_string(), to("sub"));
    assert_eq!(planned(&plan), [("below", below.as_str(), true), ("top", top.as_str(), true)]);
    assert_eq!(picture(&scratch.base()), before);
    let relocated = store.relocate(&plan);
    assert_eq!((relocated.moved, relocated.failed.len()), (plan.clone(), 0));
    assert_eq!([workspace(&store, "top"), workspace(&store, "below")], [top.clone(), below]);
    assert_eq!(workspace(&store, "beside"), scratch.outside().join("w10").display().to_string());
    assert_eq!(store.plan_relocate(&old, &new).expect("it can be read"), []);
    assert!(matches!(&store.relocate(&plan).failed[..], [(_, StoreError::Moved { .. }), _]));
    // The history says it too.
    for file in ["top/meta.json", "top/.meta.json"] {
        fs::remove_file(scratch.path(file)).expect("it was written");
    }
    assert_eq!(workspace(&store, "top"), top);
}

#[test]
fn m05_a_session_whose_history_begins_at_that_moment_says_in_it_where_it_works() {
    let (scratch, old, new) = moved();
    let named = NewSession {
        name: SessionName::new("new").ok(),
        workspace: old.display().to_string(),
        ..NewSession::default()
    };
    let session = scratch.store().create(&named).expect("its name is free");
    // Whoever tells it where it works asks for the time once it has seen that there is no history.
    let begins = Once::new(move || drop(session.append_messages([Message::user("hi")]).expect("there is room")));
    let mut plan = scratch.store().plan_relocate(&old, &new).expect("it can be read");
    plan.retain(|one| one.name == name("new"));
    let store = scratch.store().with_clock(move || {
        begins.act();
        crate::support::ts()
    });
    assert_eq!(store.relocate(&plan).moved.len(), 1);
    for file in ["new/meta.json", "new/.meta.json"] {
        fs::remove_file(scratch.path(file)).expect("it was written");
    }
    assert_eq!(workspace(&scratch.store(), "new"), new.display().to_string());
}

#[test]
fn m05_a_directory_that_was_moved_is_known_by_what_it_is_until_another_has_its_path() {
    let (scratch, old, new) = moved();
    let works_in = |dir: &Path| {
        let list = scratch.store().list(Empties::Show).expect("it can be read");
        let mut names: Vec<_> = list.into_iter().filter(|one| one.works_in(dir)).map(|one| one.name).collect();
        names.sort();
        names
    };
    assert_eq!(works_in(&new), ["top"]);
    assert_eq!(works_in(&new.join("sub")), ["below"]);
    // Now the path counts again.
    fs::create_dir(&old).expect("it is ours");
    assert!(works_in(&new).is_empty());
    assert_eq!(works_in(&old), ["top"]);
}

#[test]
fn m05_a_project_is_found_where_its_old_path_led_through_a_link_that_is_gone() {
    let scratch = Scratch::new();
    let (real, link) = (scratch.outside().join("real"), scratch.outside().join("link"));
    fs::create_dir_all(real.join("w")).expect("it is ours");
    symlink(&real, &link).expect("it is ours");
    let workspace = link.join("w").display().to_string();
    let new = NewSession { name: SessionName::new("top").ok(), workspace, ..NewSession::default() };
    drop(scratch.store().create(&new).expect("its name is free"));
    fs::remove_file(&link).expect("it is ours");
    let plan = scratch.store().plan_relocate(Path::new("/nowhere"), &real.join("w")).expect("it can be read");
    assert_eq!(planned(&plan), [("top", real.join("w").to_str().expect("it is text"), true)]);
    assert_eq!(scratch.store().relocate(&plan).failed.len(), 0);
    assert!(scratch.store().plan_relocate(Path::new("/nowhere"), &real.join("w")).expect("it can be read").is_empty());
}

#[test]
fn m05_another_workspace_is_another_directory() {
    let (scratch, _, new) = moved();
    let session = scratch.store().open(&name("top")).expect("it is there");
    session.update_meta(|meta| "/nowhere".clone_into(&mut meta.workspace)).expect("nothing forbids it");
    let list = scratch.store().list(Empties::Show).expect("it can be read");
    assert!(list.iter().filter(|one| one.name == "top").all(|one| !one.works_in(&new)));
}

#[test]
fn m05_a_session_whose_turn_runs_stays_where_it_works() {
    let (scratch, old, new) = moved();
    let turn = Sleeper::start();
    scratch.put("top/proc/turn.pid", format!("{}\n", turn.pid()));
    let store = scratch.store();
    let relocated = store.relocate(&store.plan_relocate(&old, &new).expect("it can be read"));
    assert_eq!(planned(&relocated.moved).len(), 1);
    assert!(matches!(&relocated.failed[..], [(session, StoreError::LiveTurn { .. })] if session.as_str() == "top"));
    assert_eq!(workspace(&store, "top"), old.display().to_string());
}

#[test]
fn m05_the_new_place_must_be_there() {
    let (scratch, old, _) = moved();
    let nowhere = scratch.outside().join("nowhere");
    assert!(matches!(scratch.store().plan_relocate(&old, &nowhere), Err(StoreError::NotADirectory { .. })));
}

#[test]
fn m05_relocating_that_breaks_off_anywhere_is_repeated() {
    for fault in [|at| Fault::Fail { at }, |at| Fault::Full { at }, |at| Fault::Stop { at }] as [fn(u64) -> Fault; 3] {
        for at in 0..200 {
            let (scratch, old, new) = moved();
            let store = scratch.store();
            let plan = store.plan_relocate(&old, &new).expect("it can be read");
            let run = faults::with(fault(at), || store.relocate(&plan));
            for session in ["top", "below"] {
                let messages = store.load(&name(session)).expect("it can be read").messages.len();
                assert_eq!(messages, 1, "{:?} of {:?}", fault(at), run.ops);
            }
            let again = store.relocate(&store.plan_relocate(&old, &new).expect("it can be read"));
            assert_eq!(again.failed.len(), 0, "{:?} of {:?}: {:?}", fault(at), run.ops, again.failed);
            assert_eq!(workspace(&store, "top"), new.display().to_string());
            assert_eq!(workspace(&store, "below"), new.join("sub").display().to_string());
            if !run.hit {
                assert!(at > 4);
                break;
            }
        }
    }
}
