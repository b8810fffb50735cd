//! Bringing in what is new of a copy.
//!
//! A session that is not here is built where nobody sees it, and gets its name when it is whole. A history that is here is
//! continued piece by piece, each one checked before it is written, so that at every moment it is a beginning of the copy's.

mod here;
mod new;

use here::Here;
use new::New;

use super::local::Local;
use super::manifest::Manifest;
use super::objects::{Call, Version};
use super::push::raw;
use super::state::{self, Files, Remembered, State};
use super::tree::Tree;
use super::{Copied, Remote, RemoteError, RemoteResult, fetch, write};
use crate::{LockGuard, Session, SessionPaths, Store, StoreError, meta};
use session_core::{Limits, SessionName};

/// How often a copy is looked at anew because objects that it named are gone.
const ATTEMPTS: usize = 3;

/// How a copy is brought in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PullOptions {
    /// The name of the session here, where it is another one than the copy's: to keep both of two that went apart.
    pub name: Option<SessionName>,
    /// Whether only the plan is wanted: nothing is changed.
    pub dry_run: bool,
}

/// A copy as it is.
struct Copy {
    manifest: Manifest,
    version: Version,
    tree: Tree,
    /// Whether its store has conditional writes.
    conditional: bool,
}

impl Remote {
    /// Brings in what is new of a copy.
    ///
    /// On disk when it returns: the session with the copy's history, metadata and other files but for those in
    /// [`Copied::conflicts`] and the records of other machines' processes, synced as the durability of `store` says; what is
    /// remembered of the copy. After an error a session that was not here is not here, and the history of one that was is
    /// what it was, or a longer beginning of the copy's.
    ///
    /// The session's lock is taken for the time; links to successors are not followed.
    ///
    /// # Errors
    /// [`RemoteError::NotThere`]; [`RemoteError::Diverged`]; [`RemoteError::Corrupt`] and [`RemoteError::Missing`] name the
    /// object; [`RemoteError::Contended`]; [`RemoteError::KeepsChanging`] where the history was appended to meanwhile;
    /// [`StoreError::Locked`] while a turn runs; the step that failed.
    pub fn pull(&self, store: &Store, name: &SessionName, options: &PullOptions) -> RemoteResult<Copied> {
        let here = options.name.as_ref().unwrap_or(name);
        if !store.exists(here) {
            let new = New { remote: self, store, name, here, options };
            return self.patiently(name, |call, copy| new.run(call, copy));
        }
        let session = store.open_exactly(here)?;
        let lock = session.lock()?;
        let copied = self.pull_into(&session, &lock, &PullOptions { name: Some(name.clone()), ..options.clone() })?;
        lock.release()?;
        Ok(copied)
    }

    /// The same for a session whose lock is held: before a turn, as a rule. Here the name in `options` is that of the copy.
    ///
    /// # Errors
    /// As [`Remote::pull`].
    pub fn pull_into(&self, session: &Session, lock: &LockGuard, options: &PullOptions) -> RemoteResult<Copied> {
        lock.check()?;
        let own = || SessionName::new(session.name()).map_err(StoreError::from);
        let name = options.name.clone().map_or_else(own, Ok)?;
        let here = Here { remote: self, session, lock, name, options };
        self.patiently(&here.name, |call, copy| here.run(call, copy))
    }

    /// Works on a copy as it is now. Objects that its manifest named and that are gone mean that somebody has written a
    /// new one meanwhile.
    fn patiently(
        &self,
        name: &SessionName,
        mut work: impl FnMut(&Call<'_>, Copy) -> RemoteResult<Copied>,
    ) -> RemoteResult<Copied> {
        let call = self.objects().call();
        let mut before: Option<Version> = None;
        for _ in 0..ATTEMPTS {
            let seen = self.run(write::manifest(&call, name))?;
            let not_there = || RemoteError::NotThere { name: name.clone(), place: self.place().to_owned() };
            let (manifest, version) = seen.ok_or_else(not_there)?;
            let is_same = before.as_ref() == Some(&version);
            let conditional = self.run(self.conditional(&call))?;
            let done = self
                .run(fetch::tree(&call, manifest.files))
                .and_then(|tree| work(&call, Copy { manifest, version: version.clone(), tree, conditional }));
            match done {
                Err(RemoteError::Missing { .. }) if !is_same => before = Some(version),
                done => return Ok(Copied { traffic: call.traffic(), ..done? }),
            }
        }
        Err(RemoteError::Contended { name: name.clone() })
    }

    /// Remembers that both are the same.
    fn remember(
        &self,
        paths: &SessionPaths,
        name: &SessionName,
        local: &Local,
        copy: Copy,
        files: Files,
    ) -> RemoteResult<()> {
        let Copy { manifest, version, tree, conditional } = copy;
        let bytes = manifest.history.bytes.min(local.bytes());
        let history = Remembered::of(local, bytes).map_err(StoreError::read(local.path()))?;
        let meta = raw(&meta::read(paths, name.as_str(), Limits::default())?.meta);
        let meta = meta.as_deref();
        let state = State::new(self.place(), conditional, version, &manifest, meta, tree, history, files);
        state.write(paths, &state::path(paths, self.place(), name)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::RemoteOptions;
    use session_core::Timestamp;

    #[test]
    fn a_copy_that_is_another_one_at_each_look_is_given_up_and_one_that_lacks_an_object_is_told() {
        let remote = Remote::in_memory(RemoteOptions::default()).expect("memory can be had");
        let name = SessionName::new("demo").expect("it is a name");
        // Each is another one, by the mark of its write.
        let put = || {
            let manifest = Manifest::new(&name, "oak", Timestamp::default()).to_json();
            let call = remote.objects().call();
            remote.run(call.put(&crate::remote::keys::manifest(&name), manifest)).expect("it can be written");
        };
        let missing = || RemoteError::Missing { object: "history/demo/1".to_owned() };
        put();
        let mut looks = 0;
        let changing = remote.patiently(&name, |_, _| {
            looks += 1;
            put();
            Err(missing())
        });
        assert!(matches!(&changing, Err(RemoteError::Contended { name: of }) if *of == name), "{changing:?}");
        assert_eq!(looks, ATTEMPTS);
        looks = 0;
        let lacking = remote.patiently(&name, |_, _| {
            looks += 1;
            Err(missing())
        });
        assert!(matches!(&lacking, Err(RemoteError::Missing { object }) if object == "history/demo/1"), "{lacking:?}");
        assert_eq!(looks, 2, "it was still the same");
    }
}
