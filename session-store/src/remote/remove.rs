//! Removing a copy, or what is left of its earlier states.

use super::lease::mark;
use super::manifest::{LeaseMark, Manifest, Mark, Segments};
use super::objects::{Call, Traffic};
use super::segment::Segment;
use super::sha::random_token;
use super::write::ATTEMPTS;
use super::{Remote, RemoteError, RemoteResult, keys, write};
use chrono::TimeDelta;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use session_core::{SessionName, Timestamp};
use std::collections::HashSet;

/// A segment that nobody names is left alone for so long: who has sent it may be about to name it.
const GRACE: TimeDelta = TimeDelta::hours(24);

/// How long others are kept out of a copy that is being removed. Who removes it stops by itself after half of that.
const REMOVING: TimeDelta = TimeDelta::minutes(10);

/// How a copy is removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemoveOptions {
    /// Whether it is removed although a machine has its lease.
    pub force: bool,
    /// Whether only the plan is wanted: nothing is removed.
    pub dry_run: bool,
}

/// What was removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Removed {
    /// How many objects.
    pub objects: u64,
    /// Their bytes, as far as a list tells them.
    pub bytes: u64,
    /// What was sent and received.
    pub traffic: Traffic,
}

impl Remote {
    /// Removes a session's copy: its history with all generations, then its manifest. The session here stays. What it
    /// shares with others, such as checkpoints, stays too.
    ///
    /// Where the store has conditional writes, the manifest is first replaced by that of an empty copy, with the next
    /// fence, and leased for ten minutes. So nobody reads a manifest of what is being removed, a machine that has the lease
    /// finds that it has lost it, and nobody sends segments that are then removed: who pushes meanwhile is refused.
    ///
    /// In the store when it returns: no manifest of this name. Who dies before that has left an empty copy; doing it again
    /// does the rest, on the same machine at once, and on others when the ten minutes are over, or by force.
    ///
    /// # Errors
    /// [`RemoteError::NotThere`]; [`RemoteError::Leased`] while a machine has its lease, also this one, unless it is
    /// forced, and also where five minutes were not enough: doing it again does the rest; [`RemoteError::Contended`];
    /// [`RemoteError::Request`].
    pub fn remove(&self, name: &SessionName, options: &RemoveOptions) -> RemoteResult<Removed> {
        let call = self.objects().call();
        self.run(async {
            let lease = self.empty(&call, name, options).await?;
            let mut sweep = Sweep { lease, ..Sweep::new(self, &call, name, options.dry_run) };
            for prefix in [keys::segments(name), keys::formers(name)] {
                sweep.below(&prefix, &HashSet::new(), None).await?;
            }
            sweep.removed.objects += 1;
            if !options.dry_run {
                sweep.delete(&keys::manifest(name)).await?;
            }
            Ok(Removed { traffic: call.traffic(), ..sweep.removed })
        })
    }

    /// Removes what a copy no longer names: segments that were put together, and the generations from before its history
    /// was replaced. After a scrub these hold what was scrubbed.
    ///
    /// # Errors
    /// [`RemoteError::NotThere`]; [`RemoteError::Request`].
    pub fn remove_superseded(&self, name: &SessionName, dry_run: bool) -> RemoteResult<Removed> {
        let call = self.objects().call();
        self.run(async {
            let (manifest, _) = self.manifest_of(&call, name).await?;
            let keep: HashSet<Segment> = manifest.history.segments.iter().copied().collect();
            let mut sweep = Sweep::new(self, &call, name, dry_run);
            sweep.below(&keys::formers(name), &HashSet::new(), None).await?;
            sweep.below(&keys::segments(name), &keep, Some(self.now() - GRACE)).await?;
            Ok(Removed { traffic: call.traffic(), ..sweep.removed })
        })
    }

    /// Makes a copy an empty one, and leases it. `None`: it was not, because it is only planned, or nobody can be kept out.
    async fn empty(
        &self,
        call: &Call<'_>,
        name: &SessionName,
        options: &RemoveOptions,
    ) -> RemoteResult<Option<LeaseMark>> {
        for _ in 0..ATTEMPTS {
            let (manifest, version) = match self.manifest_of(call, name).await {
                Ok(seen) => seen,
                // One that cannot be read is removed like another.
                Err(RemoteError::Corrupt { .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
            // One that was cut is gone on with.
            let is_own = manifest.lease.as_ref().is_some_and(|lease| lease.removes && lease.holder == self.machine());
            if !options.force && !is_own {
                self.refuse_leased(name, &manifest)?;
            }
            if options.dry_run || !self.conditional(call).await? {
                return Ok(None);
            }
            let now = self.now();
            let lease = LeaseMark { removes: true, ..mark(self.machine(), &random_token(), now + REMOVING) };
            let empty = Manifest {
                history: Segments::default(),
                files: None,
                pushed: Mark::new(self.machine(), now),
                fence: manifest.fence + 1,
                lease: Some(lease.clone()),
                meta: None,
                ..manifest
            };
            if write::replace(call, name, &empty, Some(&version), true).await?.is_some() {
                return Ok(Some(lease));
            }
        }
        Err(RemoteError::Contended { name: name.clone() })
    }
}

/// What is removed of a copy.
struct Sweep<'a> {
    remote: &'a Remote,
    call: &'a Call<'a>,
    name: &'a SessionName,
    dry_run: bool,
    /// What keeps others from sending what is removed.
    lease: Option<LeaseMark>,
    removed: Removed,
}

impl<'a> Sweep<'a> {
    fn new(remote: &'a Remote, call: &'a Call<'a>, name: &'a SessionName, dry_run: bool) -> Self {
        Sweep { remote, call, name, dry_run, lease: None, removed: Removed::default() }
    }

    /// Removes the objects below a prefix but for those segments, and those that were written after a time.
    async fn below(&mut self, prefix: &str, keep: &HashSet<Segment>, before: Option<Timestamp>) -> RemoteResult<()> {
        let mut doomed = self.call.list(prefix, "").await?;
        doomed.retain(|at| {
            let is_kept = keys::segment_of(&at.file).is_some_and(|segment| keep.contains(&segment));
            !is_kept && before.is_none_or(|before| at.modified < before)
        });
        self.removed.objects += doomed.len() as u64;
        self.removed.bytes += doomed.iter().map(|at| at.bytes).sum::<u64>();
        if self.dry_run {
            return Ok(());
        }
        let this = &*self;
        let delete = |file: String| async move { this.delete(&format!("{prefix}{file}")).await };
        let deletes = stream::iter(doomed.into_iter().map(|at| at.file)).map(delete);
        deletes.buffer_unordered(self.remote.options.parallel.max(1)).try_collect().await
    }

    /// Removes an object, while there is time enough left until somebody may send it again.
    async fn delete(&self, key: &str) -> RemoteResult<()> {
        match &self.lease {
            Some(lease) if self.remote.now() + REMOVING / 2 > lease.until() => {
                let (holder, until) = (lease.holder.clone(), lease.until());
                Err(RemoteError::Leased { name: self.name.clone(), holder, until })
            }
            Some(_) | None => self.call.delete(key).await,
        }
    }
}
