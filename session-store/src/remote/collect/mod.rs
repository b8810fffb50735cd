//! Removing what no session names any more.
//!
//! Parts of files, and the documents that name them, are shared by all sessions of a prefix, so that no session can say
//! alone that one is not needed. They are removed in two visits, at least a day apart:
//!
//! 1. What no manifest names and is a day old is put on a list, the object `condemned.json`. So are the names of sessions
//!    that have no manifest, but segments: a push that died left them, or one that came while the copy was removed.
//! 2. What stands on the list and still is in no manifest is removed, then the list.
//!
//! Who pushes may need at any moment what stands there. Before an object is named that was not named before, the list is
//! read, and the object is taken off it, under the condition that the list is the one that was read. The second visit
//! begins by marking the list under the same condition. So one of both comes first: either the object is off the list, or
//! the list is marked, and then the push is refused until the visit is over. A push that has read the list before it was
//! there has a day to write its manifest, which the second visit finds.
//!
//! A visit that dies has removed nothing that is named. Its mark is believed for an hour; then the list is like one that
//! was never marked. A visit stops by itself before that.

mod condemned;
mod survey;

pub(super) use condemned::{spare, spare_session};

use super::objects::{Call, Version};
use super::write::ATTEMPTS;
use super::{Remote, RemoteError, RemoteResult, Traffic, keys};
use chrono::TimeDelta;
use condemned::Condemned;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use session_core::Timestamp;

/// How old something is before it is condemned, and how long it stays condemned before it is removed. No push takes longer.
const GRACE: TimeDelta = TimeDelta::hours(24);
/// How long a mark is believed.
const MARKED: TimeDelta = TimeDelta::hours(1);
/// How many documents are read at once.
const PARALLEL: usize = 64;

/// What a visit did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// How many shared objects manifests name.
    pub named: u64,
    /// How many objects are condemned, segments of sessions without a manifest among them: removed by a visit after [`Collected::due`] unless somebody needs them before.
    pub condemned: u64,
    /// Their bytes.
    pub condemned_bytes: u64,
    /// When the next visit removes what is condemned; `None` where nothing is.
    pub due: Option<Timestamp>,
    /// How many this visit removed.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// What was sent and received.
    pub traffic: Traffic,
}

impl Remote {
    /// Visits the objects that sessions share: condemns what no manifest names, or removes what was condemned a day ago.
    ///
    /// In the store when it returns: a list of what is condemned; or no list, and nothing of what stood on it and is not
    /// named. Who dies before that has left less than that; doing it again does the rest.
    ///
    /// # Errors
    /// [`RemoteError::NoConditionalWrites`], unless only the plan is wanted; [`RemoteError::Corrupt`] and
    /// [`RemoteError::Missing`] where a manifest or a document cannot be read: what it names is not known, and nothing is
    /// removed; [`RemoteError::Collecting`] while another visit removes; [`RemoteError::Request`].
    pub fn collect(&self, dry_run: bool) -> RemoteResult<Collected> {
        let call = self.objects().call();
        self.run(async {
            if !dry_run && !self.conditional(&call).await? {
                return Err(RemoteError::NoConditionalWrites { place: self.place().to_owned() });
            }
            for _ in 0..ATTEMPTS {
                if let Some(collected) = self.visit(&call, dry_run).await? {
                    return Ok(Collected { traffic: call.traffic(), ..collected });
                }
            }
            Err(RemoteError::Collecting { place: self.place().to_owned() })
        })
    }

    /// `None`: the list was changed meanwhile.
    async fn visit(&self, call: &Call<'_>, dry_run: bool) -> RemoteResult<Option<Collected>> {
        // First of all: what is named is looked at when the day is over.
        let list = condemned::read(call).await?;
        let now = self.now();
        if list.as_ref().is_some_and(|(list, _)| list.is_being_removed(now)) {
            return Err(RemoteError::Collecting { place: self.place().to_owned() });
        }
        let surveyed = self.survey(call).await?;
        let is_new = list.is_none();
        let (list, version) = match list {
            Some((list, version)) => (surveyed.still(list), Some(version)),
            None => (surveyed.condemn(self.machine(), now), None),
        };
        let doomed = surveyed.doomed(&list);
        let (count, bytes) = (doomed.len() as u64, doomed.iter().map(|left| left.bytes).sum());
        let is_due = !is_new && list.due() <= now;
        let (removed, condemned) = if is_due { ((count, bytes), (0, 0)) } else { ((0, 0), (count, bytes)) };
        let collected = Collected {
            named: surveyed.named.len() as u64,
            condemned: condemned.0,
            condemned_bytes: condemned.1,
            due: (condemned.0 > 0).then(|| list.due()),
            removed: removed.0,
            removed_bytes: removed.1,
            traffic: Traffic::default(),
        };
        let is_done = match () {
            () if dry_run || (is_new && list.is_empty()) => true,
            () if is_new => condemned::write(call, &list, None).await?,
            () if is_due => {
                let doomed = doomed.into_iter().map(|left| left.key.clone()).collect();
                self.remove_all(call, list, version.as_ref(), doomed).await?
            }
            () => true,
        };
        Ok(is_done.then_some(collected))
    }

    /// Marks the list, removes what stands on it, and then the list. False: the list was changed.
    async fn remove_all(
        &self,
        call: &Call<'_>,
        list: Condemned,
        version: Option<&Version>,
        doomed: Vec<String>,
    ) -> RemoteResult<bool> {
        let began = self.now();
        if !condemned::write(call, &list.marked(began), version).await? {
            return Ok(false);
        }
        let delete = |key: String| async move {
            // A machine that has slept meanwhile must not go on.
            match self.now() - began < MARKED / 2 {
                true => call.delete(&key).await,
                false => Err(RemoteError::Collecting { place: self.place().to_owned() }),
            }
        };
        let deletes = stream::iter(doomed).map(delete).buffer_unordered(self.options.parallel.max(1));
        deletes.try_collect::<()>().await?;
        call.delete(&keys::condemned()).await?;
        Ok(true)
    }
}
