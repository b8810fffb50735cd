//! Keeping other machines out of a session while this one works on it.
//!
//! The lease stands in the manifest, with a number that goes up each time it is taken, the *fence*. Whoever takes it
//! replaces the manifest, and a manifest is replaced only by who has seen it as it is. So a machine whose lease ran out
//! while it slept cannot write any more once another one has taken it, whatever its clock says: its write fails, it looks,
//! and finds a fence that is not its own. Clocks only decide how long a machine that died keeps others waiting.

use super::manifest::{LeaseMark, Manifest, Mark};
use super::objects::{Call, Version};
use super::sha::random_token;
use super::write::ATTEMPTS;
use super::{Remote, RemoteError, RemoteResult, write};
use chrono::TimeDelta;
use session_core::{SessionName, Timestamp, format_time};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The lease of a session, until it is released, or runs out because nobody renews it. Dropping it releases nothing: what
/// a program that crashes keeps, one that returns early keeps too.
#[derive(Debug)]
#[must_use = "the session stays leased until the lease runs out"]
pub struct Lease {
    pub(super) remote: Remote,
    pub(super) name: SessionName,
    token: String,
    fence: u64,
    duration: TimeDelta,
    /// The manifest as it was last written under the lease.
    seen: Mutex<(Manifest, Version)>,
}

impl Remote {
    /// Takes the lease of a session for so long. A session that has no copy yet gets an empty one.
    ///
    /// # Errors
    /// [`RemoteError::Leased`] names the machine that has it; [`RemoteError::NoConditionalWrites`];
    /// [`RemoteError::Contended`]; [`RemoteError::Request`].
    pub fn lease(&self, name: &SessionName, duration: Duration) -> RemoteResult<Lease> {
        let call = self.objects().call();
        self.run(self.take(&call, name, duration))
    }

    async fn take(&self, call: &Call<'_>, name: &SessionName, duration: Duration) -> RemoteResult<Lease> {
        if !self.conditional(call).await? {
            return Err(RemoteError::NoConditionalWrites { place: self.place().to_owned() });
        }
        // A time that a calendar cannot express is as good as a day.
        let duration = TimeDelta::from_std(duration).unwrap_or(TimeDelta::days(1)).min(TimeDelta::days(1));
        let token = random_token();
        for _ in 0..ATTEMPTS {
            let (manifest, version) = match write::manifest(call, name).await? {
                Some((manifest, version)) => (manifest, Some(version)),
                None => (Manifest::new(name, self.machine(), self.now()), None),
            };
            self.refuse_leased(name, &manifest)?;
            let fence = manifest.fence + 1;
            let lease = mark(self.machine(), &token, self.now() + duration);
            let pushed = Mark { write: random_token(), ..manifest.pushed.clone() };
            let manifest = Manifest { fence, lease: Some(lease), pushed, ..manifest };
            if let Some(version) = write::replace(call, name, &manifest, version.as_ref(), true).await? {
                let seen = Mutex::new((manifest, version));
                return Ok(Lease { remote: self.clone(), name: name.clone(), token, fence, duration, seen });
            }
        }
        Err(RemoteError::Contended { name: name.clone() })
    }

    /// That a machine works on it.
    pub(super) fn refuse_leased(&self, name: &SessionName, manifest: &Manifest) -> RemoteResult<()> {
        match &manifest.lease {
            Some(lease) if lease.until() > self.now() => {
                let (holder, until) = (lease.holder.clone(), lease.until());
                Err(RemoteError::Leased { name: name.clone(), holder, until })
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Lease {
    /// The session.
    pub fn name(&self) -> &SessionName {
        &self.name
    }

    /// Its number: higher than that of every lease before it.
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// When it is free unless it is renewed.
    pub fn until(&self) -> Timestamp {
        self.seen().0.lease.as_ref().map(LeaseMark::until).unwrap_or_default()
    }

    /// Keeps it for as long again as it was taken for. One that has run out is kept too, if nobody has taken it since.
    ///
    /// # Errors
    /// [`RemoteError::LeaseLost`] names who has it now; [`RemoteError::Request`].
    pub fn renew(&self) -> RemoteResult<()> {
        let until = self.remote.now() + self.duration;
        self.write(|manifest| manifest.lease = Some(mark(self.remote.machine(), &self.token, until)))
    }

    /// Gives it back.
    ///
    /// # Errors
    /// As [`Lease::renew`]. It is not held any more all the same.
    pub fn release(self) -> RemoteResult<()> {
        self.write(|manifest| manifest.lease = None)
    }

    /// Changes the manifest, if the lease still is this one's.
    fn write(&self, change: impl Fn(&mut Manifest)) -> RemoteResult<()> {
        let call = self.remote.objects().call();
        self.remote.run(async {
            let (mut manifest, mut version) = self.seen().clone();
            for _ in 0..ATTEMPTS {
                self.check(&manifest)?;
                let mut wanted = manifest.clone();
                change(&mut wanted);
                wanted.pushed.write = random_token();
                if let Some(version) = write::replace(&call, &self.name, &wanted, Some(&version), true).await? {
                    *self.seen() = (wanted, version);
                    return Ok(());
                }
                (manifest, version) = write::manifest(&call, &self.name).await?.ok_or_else(|| self.lost("nobody"))?;
            }
            Err(RemoteError::Contended { name: self.name.clone() })
        })
    }

    /// That a manifest is one of this lease's time.
    pub(super) fn check(&self, manifest: &Manifest) -> RemoteResult<()> {
        match &manifest.lease {
            Some(lease) if lease.token == self.token && manifest.fence == self.fence => Ok(()),
            Some(lease) => Err(self.lost(&lease.holder)),
            None => Err(self.lost(&manifest.pushed.by)),
        }
    }

    pub(super) fn lost(&self, holder: &str) -> RemoteError {
        RemoteError::LeaseLost { name: self.name.clone(), holder: holder.to_owned() }
    }

    /// The lease as the next manifest is to say it.
    pub(super) fn mark(&self, then: Then) -> Option<LeaseMark> {
        let until = self.remote.now() + self.duration;
        (then == Then::Renew).then(|| mark(self.remote.machine(), &self.token, until))
    }

    /// The manifest as it was last written under the lease.
    pub(super) fn seen(&self) -> MutexGuard<'_, (Manifest, Version)> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes of the lease with a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Renew,
    Release,
}

pub(super) fn mark(holder: &str, token: &str, until: Timestamp) -> LeaseMark {
    LeaseMark { holder: holder.to_owned(), token: token.to_owned(), until: format_time(&until), removes: false }
}
