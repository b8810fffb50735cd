//! The history: taking out what is no event, and telling what was done.

use super::Repair;
use super::case::Case;
use super::taken::taken;
use crate::history::BUFFER;
use crate::part::Part;
use crate::quarantine::keep;
use crate::rewrite::{KeepBackup, Rewrite, late};
use crate::{Result, StoreError};
use session_core::{Defect, Event, Fault, Item, Replay, Scan, noun};
use std::fs::File;
use std::io::BufReader;

/// How many lines a notice names.
const NAMED: usize = 10;

impl Case<'_> {
    /// Appends what came while the history was replaced.
    pub(super) fn carry_over(&self, repair: &mut Repair) -> Result<()> {
        let bytes = late::carry(&self.paths, &self.lock, self.options().durability)?;
        if bytes > 0 {
            repair.done.push(format!("{bytes} bytes of late lines were appended"));
        }
        Ok(())
    }

    /// Replaces the history by one without the bytes that are no event, and with the notice. False: there are none.
    pub(super) fn take_out(&self, repair: &mut Repair) -> Result<bool> {
        let mut rewrite = Rewrite::begin(&self.paths, &self.lock, self.options())?;
        let old = rewrite.old();
        let Found { parts, lacks_newline } = self.find(&old, rewrite.len())?;
        if parts.is_empty() && !lacks_newline {
            return Ok(false);
        }
        if !parts.is_empty() {
            let kept = keep(&self.paths, &old, &taken(&parts, self.now))?;
            let name = kept.strip_prefix(self.paths.dir()).unwrap_or(&kept).display().to_string();
            repair.done.push(format!("{} taken out of the history and kept in {name}", named(&parts)));
            repair.kept.push(kept);
        }
        if lacks_newline {
            repair.done.push("the last line got its newline".to_owned());
        }
        for part in &parts {
            rewrite.copy_upto(part.place.offset)?;
            rewrite.blank_upto(part.place.offset + part.len)?;
        }
        let backup = rewrite.end(&[self.notice(&repair.done)], KeepBackup::Yes, self.now)?;
        repair.kept.extend(backup);
        Ok(true)
    }

    /// What is to be taken out, by what stands there now that nobody of ours writes.
    fn find(&self, old: &File, len: u64) -> Result<Found> {
        let path = self.paths.history();
        let reader = BufReader::with_capacity(BUFFER, Part { file: old, at: 0, upto: len });
        let mut replay = Replay::new();
        let mut found = Found { parts: Vec::new(), lacks_newline: false };
        for item in Scan::with_limits(reader, self.options().limits) {
            match item.map_err(StoreError::read(&path))? {
                Item::Record(record) => replay.event(&record.event.effect(), || ()),
                Item::Defect(defect) => {
                    found.lacks_newline |= defect.fault == Fault::Unterminated;
                    if defect.fault != Fault::Torn {
                        replay.defect(&defect);
                    }
                    found.parts.extend(Some(defect).filter(Defect::is_skipped));
                }
            }
        }
        if replay.is_uncertain() {
            found.parts.retain(|part| part.fault == Fault::Torn);
        }
        Ok(found)
    }

    /// Appends the notice alone, where there is a history to tell it in.
    pub(super) fn tell(&self, repair: &Repair) -> Result<()> {
        if repair.done.is_empty() || !self.session.has_history()? {
            return Ok(());
        }
        match self.session.append_closing(&[self.notice(&repair.done)]) {
            // It is not written to by us; what was done stands beside it.
            Err(StoreError::NewerFormat { .. }) => Ok(()),
            told => told,
        }
    }

    fn notice(&self, done: &[String]) -> Event {
        Event::notice(self.now, format!("The doctor repaired this session: {}.", done.join("; ")))
    }
}

/// What of a history is to be taken out.
struct Found {
    parts: Vec<Defect>,
    /// Whether the last line is whole and lacks its newline.
    lacks_newline: bool,
}

fn named(parts: &[Defect]) -> String {
    let lines: Vec<_> = parts.iter().filter_map(|part| part.place.line).map(|line| line.to_string()).collect();
    let more = if lines.len() > NAMED { format!(" and {} more", lines.len() - NAMED) } else { String::new() };
    let word = |one, many| noun(lines.len() as u64, one, many);
    let named = lines[..lines.len().min(NAMED)].join(", ");
    format!("{} {named}{more} {}", word("line", "lines"), word("was", "were"))
}
