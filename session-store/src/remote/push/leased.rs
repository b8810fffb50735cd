//! Pushing under a lease.

use super::super::lease::{Lease, Then};
use super::super::{Copied, RemoteResult};
use super::{Push, PushOptions};
use crate::Session;

impl Lease {
    /// Sends what is new of the session, as [`Remote::push`](super::Remote::push) does, and renews the lease.
    ///
    /// # Errors
    /// As [`Remote::push`](super::Remote::push); [`RemoteError::LeaseLost`](super::RemoteError::LeaseLost).
    pub fn push(&self, session: &Session, options: &PushOptions) -> RemoteResult<Copied> {
        self.push_as(session, options, Then::Renew)
    }

    /// Sends what is new of the session and gives the lease back in the same write.
    ///
    /// # Errors
    /// As [`Lease::push`]. After an error the lease is what it was.
    pub fn finish(&self, session: &Session, options: &PushOptions) -> RemoteResult<Copied> {
        self.push_as(session, options, Then::Release)
    }

    fn push_as(&self, session: &Session, options: &PushOptions, then: Then) -> RemoteResult<Copied> {
        let options = PushOptions { name: Some(self.name.clone()), ..options.clone() };
        let push = Push::new(&self.remote, session, &options, Some((self, then)))?;
        self.remote.run(push.run())
    }
}
