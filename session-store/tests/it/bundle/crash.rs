//! An import that is cut short anywhere.

use super::chain::family;
use super::{bundle, files, import};
use crate::garden::{FAIL, FULL, Garden, STOP, at_every_step_of};
use crate::scratch::{Scratch, name, user};
use session_disk::faults::with;
use session_store::Deletion;
use std::fs;

/// A small session of every kind of thing.
fn small() -> Vec<u8> {
    let scratch = Scratch::new();
    scratch.session("oaks", &[user(5, "plant three oaks")]);
    scratch.put("oaks/meta.json", "{\"name\":\"oaks\",\"title\":\"Oaks\"}\n");
    scratch.put("oaks/tmp/shell-1.txt", "three oaks\n");
    scratch.put("oaks/inbox/1-2", "use tabs");
    scratch.dir("oaks/checkpoints/.git/refs/heads");
    bundle(&scratch.store(), &["oaks"])
}

#[test]
fn e03_an_import_that_fails_at_any_step_leaves_no_session_or_all_of_it() {
    let bundle = small();
    let garden = Garden::new();
    import(&garden.store(), &bundle).expect("nothing forbids it");
    let whole = files(&garden.scratch.path("oaks"));
    assert!(whole.len() > 4, "{whole:?}");
    garden.store().delete(&name("oaks"), Deletion::Careful).expect("nothing forbids it");
    at_every_step_of(&[FAIL, FULL, STOP], 20, |fault| {
        let run = with(fault, || import(&garden.store(), &bundle));
        let stands = garden.scratch.path("oaks").exists();
        assert!(stands || run.result.is_err(), "{fault:?}");
        if stands {
            assert_eq!(files(&garden.scratch.path("oaks")), whole, "{fault:?}");
        }
        let again = import(&garden.store(), &bundle).expect("it can be repeated");
        assert_eq!((again[0].name.as_str(), again[0].is_known), ("oaks", stands), "{fault:?}");
        garden.store().delete(&name("oaks"), Deletion::Careful).expect("nothing forbids it");
        run.hit
    });
}

#[test]
fn e03_an_error_takes_back_what_had_its_name_already_and_a_death_leaves_whole_sessions() {
    let source = family();
    let bundle = bundle(&source.store(), &["demo", "demo-b", "fork"]);
    let garden = Garden::new();
    let quick = || garden.quick();
    at_every_step_of(&[FAIL, STOP], 40, |fault| {
        let run = with(fault, || import(&quick(), &bundle));
        let names = garden.names();
        let is_death = matches!(fault, session_disk::faults::Fault::Stop { .. });
        assert!(run.result.is_ok() || is_death || names.is_empty(), "{fault:?}: {names:?}");
        for session in &names {
            let (here, there) = (garden.scratch.path(session), source.scratch.path(session));
            assert_eq!(fs::read(here.join("history.jsonl")).ok(), fs::read(there.join("history.jsonl")).ok());
            let meta = quick().read_meta(session).expect("it can be read").meta;
            let is_there = |other: &String| other.is_empty() || garden.scratch.path(other).exists();
            assert!(is_there(&meta.succeeded_by), "{fault:?}: no link leads nowhere");
        }
        let again = import(&quick(), &bundle).expect("it can be repeated");
        let told: Vec<_> = again.iter().map(|came| (came.name.as_str(), came.is_known)).collect();
        let was = |session: &'static str| (session, names.contains(&name(session)));
        assert_eq!(told, [was("demo"), was("demo-b"), was("fork")], "{fault:?}");
        for session in garden.names() {
            fs::remove_dir_all(garden.scratch.path(&session)).expect("the scratch directory is ours");
        }
        run.hit
    });
}
