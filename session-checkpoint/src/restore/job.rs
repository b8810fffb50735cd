//! A restore under way.

use super::limits::Limits;
use super::planned::RestorePlan;
use crate::Oid;
use crate::journal::Journal;
use crate::options::ConflictPolicy;
use crate::point::Point;

/// A restore under way.
pub(super) struct Job<'a> {
    pub(super) target: &'a Point,
    pub(super) limits: &'a Limits,
    pub(super) policy: ConflictPolicy,
    /// What the plan saw, where there was one.
    pub(super) plan: Option<&'a RestorePlan>,
    /// The journal of the restore that this one resumes or undoes.
    pub(super) earlier: Option<&'a Journal>,
    /// Trees, beside the newest turn's, of which the workspace's content may come.
    pub(super) known: Vec<Oid>,
}
