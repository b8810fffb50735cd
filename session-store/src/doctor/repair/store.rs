//! What belongs to no session.

use super::{Repair, fixes, note};
use crate::doctor::checks::{leftovers, modes};
use crate::doctor::{Finding, FindingCode, Fix};
use crate::{Result, Store, trash};
use session_disk::{remove_dir, remove_file_if_there, set_mode};

/// Repairs the store itself.
pub(super) fn repair(store: &Store, findings: &[Finding]) -> Repair {
    let mut repair = Repair::default();
    repair.error = try_repair(store, findings, &mut repair.done).err();
    repair
}

fn try_repair(store: &Store, findings: &[Finding], done: &mut Vec<String>) -> Result<()> {
    let base = store.base_dir();
    let mut removed = 0;
    for (finding, fix) in fixes(findings) {
        match (fix, finding.code) {
            (Fix::Tighten, _) => {
                let loose = modes::loose_of_store(base)?;
                loose.iter().try_for_each(|(path, mode)| set_mode(path, mode & 0o700))?;
                note(done, loose.len(), || format!("{} places of the store let nobody else in any more", loose.len()));
            }
            (Fix::Remove, FindingCode::Leftover) if leftovers::is_nobodys(&finding.path) => {
                trash::remove_tree(&finding.path)?;
                removed += 1;
            }
            (Fix::Remove, FindingCode::BrokenTrash) => {
                remove_file_if_there(&finding.path.join(trash::RECORD))?;
                remove_dir(&finding.path)?;
                removed += 1;
            }
            _ => {}
        }
    }
    note(done, removed, || format!("{removed} things that were never finished were removed"));
    Ok(())
}
