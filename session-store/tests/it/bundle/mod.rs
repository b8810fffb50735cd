//! Bundles: what goes out comes back as it was, and nothing else comes in.

mod chain;
mod crash;
mod damage;
mod forged;
mod hostile;
mod live;
mod masked;
mod processes;
mod round_trip;

use crate::scratch::name;
use crate::support::quick;
use session_store::{
    BundleError, BundleFault, BundleImport, BundleLimits, BundleSecrets, ImportedFromBundle, Result, Store, StoreError,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The bundle of some sessions of a store, with its secrets.
fn bundle(store: &Store, sessions: &[&str]) -> Vec<u8> {
    bundle_with(store, sessions, BundleSecrets::Keep).expect("nothing forbids it")
}

fn bundle_with(store: &Store, sessions: &[&str], secrets: BundleSecrets) -> Result<Vec<u8>> {
    let mut plan = store.bundle(secrets);
    for session in sessions {
        plan.add(&name(session), None, &mut |_| {})?;
    }
    let mut bytes = Vec::new();
    plan.write(&mut bytes, &mut |_| {})?;
    Ok(bytes)
}

/// How the bundles of these tests come in.
fn how() -> BundleImport<'static> {
    BundleImport { file: Path::new("oaks.tar.zst"), sha256: "ab", limits: BundleLimits::default(), name: None }
}

fn import(store: &Store, bundle: &[u8]) -> Result<Vec<ImportedFromBundle>> {
    store.import_bundle(&how(), bundle)
}

/// The names that the sessions of a bundle got.
fn imported(store: &Store, bundle: &[u8]) -> Vec<String> {
    let imported = import(store, bundle).expect("it is a good one");
    imported.into_iter().map(|imported| imported.name.to_string()).collect()
}

/// An empty store in memory, without syncs.
struct Elsewhere(crate::scratch::Scratch);

impl Elsewhere {
    fn new() -> Self {
        Elsewhere(crate::scratch::Scratch::new())
    }

    fn store(&self) -> Store {
        self.0.store_with(quick())
    }

    /// Nothing of what was refused is left, in staging neither.
    fn is_empty(&self) -> bool {
        let staging = self.0.path(".session-store/staging");
        let left = fs::read_dir(staging).map_or(0, Iterator::count);
        left == 0 && self.store().names().expect("it can be read").is_empty()
    }
}

/// The files of a session with their bytes.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut open = vec![dir.to_owned()];
    let mut files = BTreeMap::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("it can be read").flatten().map(|entry| entry.path()));
        } else {
            let bytes = fs::read(&path).expect("it can be read");
            files.insert(path.strip_prefix(dir).expect("it is in it").to_owned(), bytes);
        }
    }
    files
}

/// What is wrong with a bundle, which is refused by a look and by an import alike, and leaves nothing.
fn refusal(bundle: &[u8]) -> BundleError {
    refusal_within(bundle, BundleLimits::default())
}

fn refusal_within(bundle: &[u8], limits: BundleLimits) -> BundleError {
    let elsewhere = Elsewhere::new();
    let store = elsewhere.store();
    let of = |error: StoreError| match error {
        StoreError::Bundle(error) => error,
        error => panic!("it is the bundle that is wrong: {error:?}"),
    };
    let seen = of(store.examine_bundle(how().file, bundle, &limits).expect_err("it is a bad one"));
    let error = of(store.import_bundle(&BundleImport { limits, ..how() }, bundle).expect_err("it is a bad one"));
    assert_eq!(format!("{seen:?}"), format!("{error:?}"), "a look says the same");
    assert!(elsewhere.is_empty());
    assert!(error.to_string().starts_with("oaks.tar.zst"), "{error}");
    error
}

/// The same with the member.
fn fault_of(bundle: &[u8]) -> (String, BundleFault) {
    let BundleError { member, fault, .. } = refusal(bundle);
    (member.unwrap_or_default(), fault)
}
