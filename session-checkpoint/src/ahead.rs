//! Rules and plans for those who only look: no lock, no write, also in a read-only store.

use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::commit::Trailer;
use crate::error::reading;
use crate::layout::Layout;
use crate::locked::Locked;
use crate::meta::Meta;
use crate::objects::Objects;
use crate::options::{Options, Secrets};
use crate::pack::PackSet;
use crate::point::{TurnRef, find};
use crate::reader::Reader;
use crate::refs::Refs;
use crate::restore::{PlanSummary, RestorePlan, Scope, last_restore};
use crate::{Error, Pruned, Retention, workspace};

impl Reader {
    /// Gives `options` the rules that the newest turn was taken with: excludes, `.gitignore`, secrets, the size limit.
    /// Who looks at a workspace beside the one who takes its snapshots must see the same files. False where no turn says.
    ///
    /// # Errors
    /// Failed reads. A newest turn that cannot be read says nothing.
    pub fn keep_rules(&self, options: &mut Options) -> Result<bool, Error> {
        let newest = match self.point(&self.objects()?, TurnRef::Latest) {
            Err(Error::NoTurn { .. } | Error::BrokenTurn { .. }) => return Ok(false),
            other => other?,
        };
        let Some(Trailer { rules, .. }) = newest.commit.trailer else { return Ok(false) };
        options.excludes = rules.excludes;
        options.honor_gitignore = rules.gitignore;
        options.secrets = if rules.secrets_left_out { Secrets::LeaveOut } else { Secrets::Capture };
        if rules.max_file_bytes > 0 {
            options.max_file_bytes = rules.max_file_bytes;
        }
        Ok(true)
    }

    /// What restoring a checkpoint would do now. `options` say which workspace, and by which rules it is walked.
    ///
    /// # Errors
    /// As [`Checkpoints::plan_restore`], without [`Error::Busy`].
    pub fn plan_restore(
        &self,
        at: TurnRef,
        options: &Options,
        scope: &Scope,
        cancel: &Cancel,
    ) -> Result<PlanSummary, Error> {
        let (checkpoints, seen) = self.looking(options)?;
        let target = find(&seen.refs, &seen.objects, at)?;
        checkpoints.plan(&seen, target, scope, cancel).map(RestorePlan::into_summary)
    }

    /// What restoring a checkpoint of another store of the same workspace would do, if it were in this one.
    ///
    /// # Errors
    /// As [`Reader::plan_restore`].
    pub fn plan_restore_of(
        &self,
        other: &Reader,
        at: TurnRef,
        options: &Options,
        scope: &Scope,
        cancel: &Cancel,
    ) -> Result<PlanSummary, Error> {
        let (checkpoints, mut seen) = self.looking(options)?;
        seen.objects = Objects::open_with(&self.layout.objects(), Some(&other.layout.objects()))?;
        let target = find(&other.refs(), &seen.objects, at)?;
        checkpoints.plan(&seen, target, scope, cancel).map(RestorePlan::into_summary)
    }

    /// What undoing the newest restore would do now.
    ///
    /// # Errors
    /// As [`Checkpoints::plan_undo`], without [`Error::Busy`].
    pub fn plan_undo(&self, options: &Options, cancel: &Cancel) -> Result<PlanSummary, Error> {
        let (checkpoints, seen) = self.looking(options)?;
        checkpoints.may_restore(&seen)?;
        let safety = last_restore(&seen)?.ok_or(Error::NothingToUndo)?;
        let target = find(&seen.refs, &seen.objects, TurnRef::Safety(safety))?;
        checkpoints.plan(&seen, target, &Scope::default(), cancel).map(RestorePlan::into_summary)
    }

    /// What [`Checkpoints::prune`] would drop. The workspace need not be there.
    ///
    /// # Errors
    /// Failed reads.
    pub fn plan_prune(&self, retention: Retention, cancel: &Cancel) -> Result<Pruned, Error> {
        let workspace = self.status()?.workspace;
        let options = Options::new(&workspace, &self.layout.store);
        let mut checkpoints = Checkpoints { options, layout: self.layout.clone(), workspace, hot: None, head: None };
        let seen = checkpoints.look()?;
        Ok(checkpoints.select(&seen, retention, cancel)?.0)
    }

    /// The workspace with this store, for looking.
    fn looking(&self, options: &Options) -> Result<(Checkpoints, Locked), Error> {
        let store = self.layout.store.canonicalize().map_err(reading(&self.layout.store))?;
        let workspace = workspace::checked(options, &store)?;
        let options = Options { store: store.clone(), ..options.clone() };
        let mut checkpoints = Checkpoints { options, layout: Layout::new(&store), workspace, hot: None, head: None };
        let seen = checkpoints.look()?;
        Ok((checkpoints, seen))
    }
}

impl Checkpoints {
    /// Sees what there is, takes no lock and changes nothing: for what only looks, also in a read-only store.
    pub(crate) fn look(&mut self) -> Result<Locked, Error> {
        let meta = Meta::read(&self.layout)?.ok_or_else(|| Error::NoStore { path: self.layout.store.clone() })?;
        let packs = PackSet::read(&self.layout.packs())?;
        self.warm()?;
        self.hot = self.hot.take().filter(|hot| hot.cache.header().packs == packs.fingerprint);
        let objects = Objects::open(&self.layout.objects())?;
        let refs = Refs::of(&self.layout);
        Ok(Locked { meta, meta_changed: false, packs, objects, refs, set_aside: Vec::new(), _lock: None })
    }
}
