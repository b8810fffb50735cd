//! The checks.

mod calls;
mod chain;
mod flat;
mod history;
mod inbox;
mod leftovers;
mod meta;
mod modes;
mod names;
mod processes;
mod quarantine;
mod rewind;
mod trash;
mod turn;
mod walk;

use super::{Finding, FindingCode, Patient};
use crate::Result;
use std::path::Path;

type Found = Result<Vec<Finding>>;

/// The checks of the store as a whole.
pub(super) const STORE_CHECKS: &[fn(&Path) -> Found] = &[modes::store, leftovers::staging, trash::size, trash::broken];

/// The checks of each session.
pub(super) const SESSION_CHECKS: &[fn(&Patient<'_>) -> Found] = &[
    names::name,
    flat::flat,
    history::lines,
    history::format,
    history::time,
    calls::calls,
    quarantine::quarantine,
    meta::whole,
    meta::name,
    meta::aside,
    chain::successor,
    chain::parent,
    chain::unlinked,
    rewind::interrupted,
    turn::stale,
    processes::lost,
    processes::left,
    processes::records,
    inbox::waiting,
    inbox::claimed,
    inbox::failed,
    leftovers::temporary,
    modes::session,
];
