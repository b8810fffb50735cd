//! `session turn --remote`: the lease of the session's copy, held and renewed while the turn runs.

use super::place;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use session_core::SessionName;
use session_store::remote::{Lease, PullOptions, PushOptions, Remote, RemoteError};
use session_store::{LockGuard, Session};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long others wait for a machine that died.
const DURATION: Duration = Duration::from_secs(60);
/// How often the lease is renewed.
const RENEWED: Duration = Duration::from_secs(20);
/// How often somebody else's lease is looked at while this waits for it.
const LOOKS: Duration = Duration::from_millis(500);

/// The flag of `turn`.
#[derive(Debug, clap::Args)]
pub(crate) struct LeaseFlags {
    /// Keep other machines out by the lease of the copy at PLACE [default without a value: SESSION_REMOTE], bring in what is
    /// new before CMD, and send what is new after it
    #[arg(long, value_name = "PLACE", num_args = 0..=1, default_missing_value = "", require_equals = true)]
    remote: Option<String>,
}

/// A lease that a thread renews.
#[derive(Debug)]
pub(crate) struct Leased {
    lease: Arc<Lease>,
    stop: Sender<()>,
    renewing: JoinHandle<Result<(), RemoteError>>,
}

impl LeaseFlags {
    /// Takes the lease, if one is wanted, and brings in what is new.
    pub(crate) fn begin(
        &self,
        context: &Context,
        session: &Session,
        lock: &LockGuard,
        wait: Duration,
    ) -> Result<Option<Leased>, Failure> {
        let Some(place) = &self.remote else { return Ok(None) };
        let named = std::env::var("SESSION_REMOTE").ok();
        let place = if place.is_empty() { named.as_deref() } else { Some(place.as_str()) };
        let remote = place::open(place, std::env::var("SESSION_MACHINE").ok()).map_err(wrapped)?;
        let lease = take(&remote, &SessionName::new(session.name())?, wait)?;
        if let Err(error) = remote.pull_into(session, lock, &PullOptions::default()) {
            // Nothing was done under it: the next one need not wait.
            if let Err(error) = lease.release() {
                context.out.note(&format!("warning: {error}"));
            }
            return Err(wrapped(error.into()));
        }
        let lease = Arc::new(lease);
        let (stop, stopped) = channel();
        let renewing = thread::spawn({
            let lease = Arc::clone(&lease);
            move || {
                let mut last = Ok(());
                while stopped.recv_timeout(RENEWED) == Err(RecvTimeoutError::Timeout) {
                    last = lease.renew();
                    if matches!(last, Err(RemoteError::LeaseLost { .. })) {
                        break;
                    }
                }
                last
            }
        });
        Ok(Some(Leased { lease, stop, renewing }))
    }
}

impl Leased {
    /// Sends what is new, and gives the lease back.
    pub(crate) fn end(self, session: &Session) -> Result<(), Failure> {
        // A thread that has ended already does not listen.
        self.stop.send(()).ok();
        let renewed = self.renewing.join().unwrap_or(Ok(()));
        // A renewal that failed by the network says nothing about who has the lease: the push finds out.
        if let Err(error @ RemoteError::LeaseLost { .. }) = renewed {
            return Err(wrapped(error.into()));
        }
        self.lease.finish(session, &PushOptions::default()).map(drop).map_err(|error| wrapped(error.into()))
    }
}

fn take(remote: &Remote, name: &SessionName, wait: Duration) -> Result<Lease, Failure> {
    let start = Instant::now();
    loop {
        match remote.lease(name, DURATION) {
            Err(RemoteError::Leased { .. }) if start.elapsed() < wait => thread::sleep(LOOKS.min(wait)),
            taken => return taken.map_err(|error| wrapped(error.into())),
        }
    }
}

/// Busy stays busy, everything else is 125, so that it is not taken for the command's.
fn wrapped(failure: Failure) -> Failure {
    match failure.exit {
        Exit::Busy => failure,
        _ => Failure { exit: Exit::Wrapper, ..failure },
    }
}
