//! The checks.

mod calls;
mod chain;
mod checkpoints;
mod flat;
pub(super) mod history;
mod inbox;
mod kept;
pub(super) mod leftovers;
mod meta;
pub(super) mod modes;
pub(super) mod names;
mod processes;
mod rewind;
mod times;
mod trash;
mod turn;
mod walk;

use super::{Finding, FindingCode, Fix, Patient};
use crate::Result;
use std::path::Path;

type Found = Result<Vec<Finding>>;

/// The checks of the store as a whole.
pub(super) const STORE_CHECKS: &[fn(&Path) -> Found] = &[modes::store, leftovers::staging, trash::size, trash::broken];

/// The checks of each session.
pub(super) const SESSION_CHECKS: &[fn(&Patient<'_>) -> Found] = &[
    names::name,
    names::twin,
    flat::flat,
    history::history,
    kept::unfinished,
    kept::quarantine,
    kept::replaced,
    meta::whole,
    meta::name,
    meta::facts,
    meta::aside,
    chain::successor,
    chain::parent,
    chain::unlinked,
    chain::untold,
    rewind::interrupted,
    rewind::repair,
    turn::stale,
    processes::lost,
    processes::left,
    processes::records,
    inbox::waiting,
    inbox::claimed,
    inbox::failed,
    leftovers::temporary,
    checkpoints::checkpoints,
    modes::session,
];
