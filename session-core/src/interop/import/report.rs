//! What came in, and what did not and why.

use super::ImportFormat;

/// What an import did with a file: counts of what came in, and every kind of thing that did not, with its first place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// The format, once it is known.
    pub format: Option<ImportFormat>,
    /// The version of the format or of the program that wrote it, as the file says it; empty where it does not.
    pub version: String,
    /// Sessions that came in.
    pub sessions: u64,
    /// Messages that came in.
    pub messages: u64,
    /// Other events that came in: settings, notices, usage, rollbacks.
    pub other_events: u64,
    /// Pictures and other files that came in.
    pub files: u64,
    /// What was left out, repaired or not understood, in the order in which it was met first.
    pub losses: Vec<Loss>,
}

/// One kind of thing that did not come in as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// What it is: a type of record, a member, a fault.
    pub what: String,
    /// What became of it.
    pub fate: LossFate,
    /// How often it was met.
    pub count: u64,
    /// The file of a folder where it was met first; empty for an import of one file.
    pub file: String,
    /// The line where it was met first; 0 where a whole conversation was looked at.
    pub line: u64,
}

/// What becomes of something that does not come in as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossFate {
    /// It is known and has no place in a history, or stands elsewhere again: left out.
    Dropped,
    /// It came in, and something about it had to be put right.
    Repaired,
    /// A type of record that is not known, in a form that is: left out of the history, kept as it was read.
    Kept,
    /// It is no JSON: left out.
    Unreadable,
    /// It is nothing that the format has. An import that meets one is refused, unless losses are accepted.
    Unknown,
}

impl LossFate {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            LossFate::Dropped => "dropped",
            LossFate::Repaired => "repaired",
            LossFate::Kept => "kept",
            LossFate::Unreadable => "unreadable",
            LossFate::Unknown => "unknown",
        }
    }
}

impl ImportReport {
    /// Whether something was met that the format does not have.
    pub fn has_unknown(&self) -> bool {
        self.any(LossFate::Unknown)
    }

    /// Whether everything came in that has a place in a history.
    pub fn is_complete(&self) -> bool {
        !(self.has_unknown() || self.any(LossFate::Unreadable) || self.any(LossFate::Kept))
    }

    fn any(&self, fate: LossFate) -> bool {
        self.losses.iter().any(|loss| loss.fate == fate)
    }

    pub(super) fn count(&mut self, fate: LossFate, what: &str, file: &str, line: u64) {
        // A hostile file could name a new kind with every record; nobody reads so long a report.
        let is_known = |losses: &[Loss]| losses.iter().any(|loss| loss.fate == fate && loss.what == what);
        let is_full = self.losses.len() >= MAX_KINDS && !is_known(&self.losses);
        let (what, file, line) = if is_full { (REST, "", 0) } else { (what, file, line) };
        match self.losses.iter_mut().find(|loss| loss.fate == fate && loss.what == what) {
            Some(loss) => loss.count += 1,
            None => {
                self.losses.push(Loss { what: what.to_owned(), fate, count: 1, file: file.to_owned(), line });
            }
        }
    }
}

const MAX_KINDS: usize = 500;
const REST: &str = "others";
