//! Messages for a session that another goes on with.

use crate::inbox_claim::dead;
use crate::inbox_deliver::user_line;
use crate::support::{said, texts};
use session_core::SessionName;
use session_store::{Access, Durability, NewSession, Options, Session, Store, StoreError, inbox_ids, record_inbox_ids};
use std::fs;
use tempfile::TempDir;

struct Chain {
    _dir: TempDir,
    store: Store,
}

impl Chain {
    /// Sessions of which each goes on with the one before.
    fn of(names: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let store = Store::open_at(dir.path());
        let store = store.with_options(Options { durability: Durability::Os, ..Options::default() });
        let chain = Chain { _dir: dir, store };
        for name in names {
            let new = NewSession { name: Some(SessionName::new(*name).expect("a good name")), ..NewSession::default() };
            chain.store.create(&new).expect("the name is free");
        }
        names.windows(2).for_each(|pair| chain.link(pair[0], pair[1]));
        chain
    }

    fn link(&self, old: &str, new: &str) {
        self.at(new).update_meta(|meta| old.clone_into(&mut meta.parent)).expect("it can be changed");
        let old = self.at(old);
        let lock = old.lock().expect("nobody else wants it");
        old.update_meta(|meta| new.clone_into(&mut meta.succeeded_by)).expect("the lock is held");
        lock.release().expect("it is held");
    }

    /// The session of exactly this name.
    fn at(&self, name: &str) -> Session {
        Session::open_dir(self.store.base_dir().join(name), *self.store.options()).expect("it is there")
    }

    fn take(&self, name: &str) -> Vec<String> {
        let steered = self.at(name).steering().take().expect("it can be drained");
        assert!(steered.error.is_none() && steered.failed.is_empty(), "{steered:?}");
        steered.messages.iter().map(|message| message.content.text().into_owned()).collect()
    }
}

#[test]
fn i05_what_waits_in_a_session_that_was_succeeded_goes_to_the_last_of_the_chain() {
    let chain = Chain::of(&["a", "b", "c"]);
    for (name, text) in [("c", "3"), ("a", "4"), ("b", "5"), ("a", "6")] {
        chain.at(name).inbox().deliver(&session_store::InboxMessage::now("", text)).expect("it can be delivered");
    }
    fs::write(chain.at("a").paths().inbox().join("by-hand"), "7").expect("the inbox is there");
    assert_eq!(chain.take("c"), ["3", "4", "5", "6", "7"]);
    let left = |name: &str| chain.at(name).inbox().undelivered().expect("it can be read").len();
    assert_eq!(["a", "b", "c"].map(left), [0; 3]);
    assert_eq!(texts(&chain.at("c").load().expect("it can be read")).len(), 5);
}

#[test]
fn i05_a_session_that_only_names_a_parent_takes_nothing_of_it() {
    let chain = Chain::of(&["a", "b"]);
    let new = NewSession { name: Some(SessionName::new("fork").expect("a good name")), ..NewSession::default() };
    chain.store.create(&new).expect("the name is free");
    chain.at("fork").update_meta(|meta| "a".clone_into(&mut meta.parent)).expect("it can be changed");
    chain.at("a").inbox().deliver(&user_line("for b")).expect("it can be delivered");
    assert_eq!(chain.take("fork"), [] as [String; 0]);
    assert_eq!(chain.take("b"), ["for b"]);
}

#[test]
fn i01_a_claim_that_was_left_behind_is_given_out_by_the_successor_unless_either_history_has_it() {
    let chain = Chain::of(&["a"]);
    let a = chain.at("a");
    ["recorded", "lost"].iter().for_each(|text| {
        a.inbox().deliver(&session_store::InboxMessage::now("", *text)).expect("it can be delivered");
    });
    let drained = a.drain_inbox_for(&dead(), Access::Forced).expect("it can be drained");
    let [recorded, lost] = &drained.messages[..] else { panic!("{drained:?}") };
    let mut event = said("recorded");
    record_inbox_ids(&mut event, [recorded.id.as_str()]);
    a.append(&[event]).expect("it can be written");

    let new = NewSession { name: Some(SessionName::new("b").expect("a good name")), ..NewSession::default() };
    chain.store.create(&new).expect("the name is free");
    chain.link("a", "b");
    let taken = chain.at("b").drain_inbox_for(&dead(), Access::Forced).expect("it can be drained");
    assert_eq!(taken.messages, std::slice::from_ref(lost));
    // Its taker dies too, once after recording it.
    let mut event = said("lost");
    record_inbox_ids(&mut event, [lost.id.as_str()]);
    assert_eq!(inbox_ids(&event).len(), 1);
    chain.at("b").append(&[event]).expect("it can be written");
    assert_eq!(chain.take("b"), [] as [String; 0]);
}

#[test]
fn a_turn_that_finds_its_session_succeeded_gives_back_what_it_has_taken() {
    let chain = Chain::of(&["a"]);
    let a = chain.at("a");
    a.inbox().deliver(&user_line("late")).expect("it can be delivered");
    let new = NewSession { name: Some(SessionName::new("b").expect("a good name")), ..NewSession::default() };
    chain.store.create(&new).expect("the name is free");
    chain.link("a", "b");
    let error = a.steering().take().expect_err("the conversation goes on elsewhere");
    assert!(matches!(error, StoreError::Succeeded { .. }), "{error}");
    assert_eq!(chain.take("b"), ["late"]);
}
