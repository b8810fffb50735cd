//! Removing a copy, or what is left of its earlier states.

use super::manifest::{Manifest, Mark, Segments};
use super::objects::{Call, Traffic};
use super::segment::Segment;
use super::write::ATTEMPTS;
use super::{Remote, RemoteError, RemoteResult, keys, write};
use chrono::TimeDelta;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use session_core::{SessionName, Timestamp};
use std::collections::HashSet;

/// A segment that nobody names is left alone for so long: who has sent it may be about to name it.
const GRACE: TimeDelta = TimeDelta::hours(24);

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
    /// fence. So nobody reads a manifest of what is being removed, and a machine that has the lease finds that it has lost
    /// it. Who pushes at the same time loses.
    ///
    /// In the store when it returns: no manifest of this name. Who dies before that has left an empty copy; doing it again
    /// does the rest.
    ///
    /// # Errors
    /// [`RemoteError::NotThere`]; [`RemoteError::Leased`] while a machine has its lease, also this one, unless it is
    /// forced; [`RemoteError::Request`].
    pub fn remove(&self, name: &SessionName, options: &RemoveOptions) -> RemoteResult<Removed> {
        let call = self.objects().call();
        self.run(async {
            self.empty(&call, name, options).await?;
            let mut removed = Removed::default();
            for prefix in [keys::segments(name), keys::formers(name)] {
                self.sweep(&call, &prefix, &HashSet::new(), None, options.dry_run, &mut removed).await?;
            }
            removed.objects += 1;
            if !options.dry_run {
                call.delete(&keys::manifest(name)).await?;
            }
            Ok(Removed { traffic: call.traffic(), ..removed })
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
            let mut removed = Removed::default();
            self.sweep(&call, &keys::formers(name), &HashSet::new(), None, dry_run, &mut removed).await?;
            let before = self.now() - GRACE;
            self.sweep(&call, &keys::segments(name), &keep, Some(before), dry_run, &mut removed).await?;
            Ok(Removed { traffic: call.traffic(), ..removed })
        })
    }

    /// Makes a copy an empty one, that nobody has leased.
    async fn empty(&self, call: &Call<'_>, name: &SessionName, options: &RemoveOptions) -> RemoteResult<()> {
        for _ in 0..ATTEMPTS {
            let (manifest, version) = match self.manifest_of(call, name).await {
                Ok(seen) => seen,
                // One that cannot be read is removed like another.
                Err(RemoteError::Corrupt { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            if !options.force {
                self.refuse_leased(name, &manifest)?;
            }
            if options.dry_run || !self.conditional(call).await? {
                return Ok(());
            }
            let empty = Manifest {
                history: Segments::default(),
                files: None,
                pushed: Mark::new(self.machine(), self.now()),
                fence: manifest.fence + 1,
                lease: None,
                meta: None,
                ..manifest
            };
            if write::replace(call, name, &empty, Some(&version), true).await?.is_some() {
                return Ok(());
            }
        }
        Err(RemoteError::Contended { name: name.clone() })
    }

    /// Removes the objects below a prefix but for those segments, and those that were written after a time.
    async fn sweep(
        &self,
        call: &Call<'_>,
        prefix: &str,
        keep: &HashSet<Segment>,
        before: Option<Timestamp>,
        dry_run: bool,
        removed: &mut Removed,
    ) -> RemoteResult<()> {
        let mut doomed = call.list(prefix, "").await?;
        doomed.retain(|at| {
            let is_kept = keys::segment_of(&at.file).is_some_and(|segment| keep.contains(&segment));
            !is_kept && before.is_none_or(|before| at.modified < before)
        });
        removed.objects += doomed.len() as u64;
        removed.bytes += doomed.iter().map(|at| at.bytes).sum::<u64>();
        if dry_run {
            return Ok(());
        }
        let delete = |file: String| async move { call.delete(&format!("{prefix}{file}")).await };
        let deletes = stream::iter(doomed.into_iter().map(|at| at.file)).map(delete);
        deletes.buffer_unordered(self.options.parallel.max(1)).try_collect().await
    }
}
