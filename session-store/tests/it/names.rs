//! Names: those that are generated, those that are claimed, those that are refused.

use session_store::{NewSession, Store, StoreError};

#[test]
fn a_created_session_claims_its_name() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"));
    let name: session_store::SessionName = "demo".parse().expect("it is a name");
    let new = NewSession { name: Some(name.clone()), title: "Oaks".into(), ..NewSession::default() };
    let session = store.create(&new).expect("the name is free");
    assert!(matches!(store.create(&new), Err(StoreError::Exists { .. })));
    session.update_meta(|meta| meta.cost = 1.5).expect("it can be written");
    let meta = store.open(&name).expect("it exists").meta().expect("it can be read").meta;
    assert_eq!((meta.title.as_str(), meta.cost), ("Oaks", 1.5));
}
