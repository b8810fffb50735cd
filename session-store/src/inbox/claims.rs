//! Messages that somebody has taken and not yet recorded.
//!
//! A claimed message is a file `inbox/.claims/<id>@<pid>-<start>-<boot>`: the id under which the history records it, and
//! the process to which it belongs. Both are part of the name, so that taking, taking over and giving back are one rename
//! each.

use crate::Result;
use rand::RngExt as _;
#[cfg(feature = "bundle")]
use session_core::{Belongs, SessionPath, layout};
use session_proc::Identity;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

/// The name of a claimed message's file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClaimName {
    pub(super) id: String,
    owner: Owner,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Owner {
    pid: i32,
    start_ticks: u64,
    boot_id: String,
}

impl ClaimName {
    pub(super) fn new(id: String, owner: &Identity) -> Self {
        let Identity { pid, start_ticks, boot_id } = owner.clone();
        ClaimName { id, owner: Owner { pid, start_ticks, boot_id } }
    }

    pub(super) fn owner(&self) -> Identity {
        let Owner { pid, start_ticks, boot_id } = self.owner.clone();
        Identity { pid, start_ticks, boot_id }
    }

    /// `None` for a name that is none of ours.
    pub(super) fn parse(name: &OsStr) -> Option<Self> {
        let (id, owner) = name.to_str()?.rsplit_once('@')?;
        let mut parts = owner.splitn(3, '-');
        let pid = parts.next()?.parse().ok()?;
        let start_ticks = parts.next()?.parse().ok()?;
        let boot_id = parts.next()?.to_owned();
        Some(ClaimName { id: id.to_owned(), owner: Owner { pid, start_ticks, boot_id } })
    }
}

impl fmt::Display for ClaimName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Owner { pid, start_ticks, boot_id } = &self.owner;
        write!(f, "{}@{pid}-{start_ticks}-{boot_id}", self.id)
    }
}

/// The path of a message in a copy of its session: where a process had taken it, it is nobody's there, so that it is
/// handed out again unless the history has it.
#[cfg(feature = "bundle")]
pub(crate) fn unowned(path: &SessionPath) -> SessionPath {
    let name = Path::new(path.as_str()).file_name().filter(|_| path.belongs() == Belongs::Claim);
    let Some(claim) = name.and_then(ClaimName::parse) else { return path.clone() };
    let nobody = Identity { pid: 0, start_ticks: 0, boot_id: "elsewhere".to_owned() };
    let claim = ClaimName::new(claim.id, &nobody);
    SessionPath::new(format!("{}/{}/{claim}", layout::INBOX, layout::CLAIMS)).unwrap_or_else(|_| path.clone())
}

/// Whether the owners of claims live. Each is asked about once: thousands of claims have one owner.
#[derive(Debug, Default)]
pub(super) struct Lives(BTreeMap<Owner, bool>);

impl Lives {
    pub(super) fn owner_of(&mut self, claim: &ClaimName) -> Result<bool> {
        if let Some(lives) = self.0.get(&claim.owner) {
            return Ok(*lives);
        }
        let lives = claim.owner().liveness()?.is_live();
        self.0.insert(claim.owner.clone(), lives);
        Ok(lives)
    }
}

/// A new id for a message with this file name.
///
/// No two claims have the same id, also when a file of the same name came before: else the second would be taken for
/// recorded. The name of a delivered message stays readable in it.
pub(super) fn new_id(name: &OsStr) -> String {
    let random: u32 = rand::rng().random();
    match name.to_str().filter(|name| is_delivered(name)) {
        Some(name) => format!("{name}.{random:08x}"),
        None => format!("{}.{random:08x}", delivered_name(chrono::Utc::now().timestamp_nanos_opt())),
    }
}

/// The name that the message of an id had in the inbox.
pub(super) fn name_of(id: &str) -> &Path {
    Path::new(id.rsplit_once('.').map_or(id, |(name, _)| name))
}

/// `<unix-nanoseconds>-<random digits>`.
pub(super) fn delivered_name(unix_ns: Option<i64>) -> String {
    let random: u32 = rand::rng().random();
    // Names are sorted as text; times before 1970, and those that do not fit, come first and last.
    format!("{}-{random}", unix_ns.map_or(i64::MAX, |ns| ns.max(0)))
}

fn is_delivered(name: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.len() <= 24 && part.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once('-').is_some_and(|(time, random)| digits(time) && digits(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claims_name_reads_back_as_it_was_written() {
        let owner = Identity { pid: 7, start_ticks: 9, boot_id: "b-o-o-t".into() };
        let claim = ClaimName::new(new_id(OsStr::new("17-4")), &owner);
        assert_eq!(ClaimName::parse(OsStr::new(&claim.to_string())), Some(claim.clone()));
        assert_eq!((claim.owner(), name_of(&claim.id)), (owner, Path::new("17-4")));
        for other in ["note.txt", "a@b", "a@1-x-y", ".tmp-a"] {
            assert_eq!(ClaimName::parse(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn the_same_name_twice_gives_two_ids() {
        assert_ne!(new_id(OsStr::new("17-4")), new_id(OsStr::new("17-4")));
        assert!(is_delivered(name_of(&new_id(OsStr::new("../x"))).to_str().expect("it is text")));
    }
}
