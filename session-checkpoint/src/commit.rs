//! Commits: what is written into them beside the tree.
//!
//! A message has a subject for people, and one line `Checkpoint: {…}` for us. That line is the only place where a fact
//! about a turn lasts; everything else can be made again from it and the trees.

use crate::oid::Oid;
use crate::rel_path::{RelPath, json_bytes};
use crate::skipped::Skipped;
use serde::{Deserialize, Serialize};

const PREFIX: &str = "Checkpoint: ";
/// Longer lists are cut; the count stays right.
pub(crate) const LIST_CAP: usize = 1000;

/// What a checkpoint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// A turn's "before".
    Turn,
    /// What a restore made of the workspace.
    Restore,
    /// The workspace as it was right before a restore.
    Safety,
}

/// Whose changes a snapshot finds: those since the checkpoint before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedBy {
    /// This session's.
    #[default]
    Session,
    /// Somebody else's: the user's between two turns, for one.
    Others,
}

/// What an external file was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExternalState {
    /// The absolute path.
    #[serde(with = "json_bytes")]
    pub(crate) path: Vec<u8>,
    pub(crate) state: ExternalKind,
    /// All permission bits of a file; 0 where they are unknown.
    #[serde(default)]
    pub(crate) mode: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExternalKind {
    Absent,
    File,
    Link,
    /// There, but not stored: too large, unreadable, or no file.
    Skipped,
}

/// The facts in the message of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trailer {
    pub(crate) v: u32,
    pub(crate) turn: u32,
    pub(crate) kind: TurnKind,
    pub(crate) label: String,
    /// Milliseconds since 1970, UTC.
    pub(crate) time_ms: i64,
    #[serde(default)]
    pub(crate) by: ChangedBy,
    /// Whether everything that belongs into the tree is in it.
    pub(crate) complete: bool,
    /// Files in the tree.
    pub(crate) files: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) restored_from: Option<String>,
    /// Of a restore: the safety snapshot that undoes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) safety: Option<u32>,
    /// Of a restore: that it was to restore a part only, by paths, by whose changes they were, or leaving what was in
    /// conflict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) partial: bool,
    /// Of a safety snapshot: the commit whose paths were looked for even where a rule now excludes them, so that a
    /// path of it which is not in this tree is known to have been absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) looked_for: Option<Oid>,
    /// Of a turn that was taken from the reference's repository: its parent is the newest turn there, so that what the
    /// workspace has of that one was edited by nobody since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) imported: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) external: Vec<ExternalState>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) skipped: Vec<Skipped>,
    #[serde(default)]
    pub(crate) skipped_n: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) empty_dirs: Vec<RelPath>,
    #[serde(default)]
    pub(crate) empty_dirs_n: u64,
    /// Directories with something in them of which nothing is in the tree, and no directory below them either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hidden_dirs: Vec<RelPath>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) hidden_dirs_n: u64,
    /// The rules under which the tree was made: a path that they exclude is not known to have been absent.
    pub(crate) rules: RuleFacts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The rules of a snapshot that are not in its tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RuleFacts {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) excludes: Vec<String>,
    pub(crate) gitignore: bool,
    pub(crate) secrets_left_out: bool,
    #[serde(default)]
    pub(crate) max_file_bytes: u64,
    /// Whether `.gitignore` files are in the tree whatever `excludes` says about their names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) rule_files: bool,
}

/// A commit of a checkpoint repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) tree: Oid,
    pub(crate) parent: Option<Oid>,
    /// Seconds since 1970.
    pub(crate) time_s: i64,
    pub(crate) subject: String,
    /// `None` in a commit that is not ours.
    pub(crate) trailer: Option<Trailer>,
}

/// The bytes of a commit with this trailer.
pub(crate) fn encode(tree: Oid, parent: Option<Oid>, trailer: &Trailer) -> Vec<u8> {
    let time_s = trailer.time_ms.div_euclid(1000).max(0);
    let parent = parent.map(|oid| format!("parent {oid}\n")).unwrap_or_default();
    let who = format!("session-checkpoint <checkpoint@session.invalid> {time_s} +0000");
    let json = serde_json::to_string(trailer).expect("a trailer has string keys and no failing serializer");
    let subject = subject(trailer);
    format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{subject}\n\n{PREFIX}{json}\n").into_bytes()
}

fn subject(trailer: &Trailer) -> String {
    let line = trailer.label.lines().next().unwrap_or_default();
    let line: String = line.chars().filter(|c| !c.is_control()).take(100).collect();
    let name = match trailer.kind {
        TurnKind::Turn | TurnKind::Restore => format!("turn {}", trailer.turn),
        TurnKind::Safety => format!("safety {}", trailer.turn),
    };
    if line.trim().is_empty() { name } else { format!("{name}: {}", line.trim()) }
}

/// A commit from its bytes, ours or another one's; `None` where it does not parse.
pub(crate) fn decode(bytes: &[u8]) -> Option<Commit> {
    let text = String::from_utf8_lossy(bytes);
    let (head, message) = text.split_once("\n\n")?;
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    let tree = Oid::from_hex(field("tree ")?)?;
    let parent = field("parent ").and_then(Oid::from_hex);
    let time_s = field("committer ").and_then(|line| line.rsplit(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let trailer = message.lines().rev().find_map(|line| serde_json::from_str(line.strip_prefix(PREFIX)?).ok());
    let subject = message.lines().next().unwrap_or_default().to_owned();
    Some(Commit { tree, parent, time_s, subject, trailer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oid::{Kind, hash};

    fn trailer() -> Trailer {
        Trailer {
            v: 1,
            turn: 7,
            kind: TurnKind::Turn,
            label: "plant\nthree \u{1b}oaks\n\nCheckpoint: {}".to_owned(),
            time_ms: 1_700_000_000_123,
            by: ChangedBy::Session,
            complete: true,
            files: 3,
            restored_from: None,
            safety: None,
            partial: false,
            looked_for: None,
            imported: false,
            external: Vec::new(),
            skipped: Vec::new(),
            skipped_n: 0,
            empty_dirs: vec![RelPath::new(&b"a/\xff"[..]).expect("a good path")],
            empty_dirs_n: 1,
            hidden_dirs: vec![RelPath::new("logs").expect("a good path")],
            hidden_dirs_n: 1,
            rules: RuleFacts::default(),
        }
    }

    #[test]
    fn a_commit_reads_back_whatever_the_label_holds() {
        let (tree, parent) = (hash(Kind::Tree, b""), hash(Kind::Blob, b"parent"));
        let commit = decode(&encode(tree, Some(parent), &trailer())).expect("its own bytes");
        assert_eq!((commit.tree, commit.parent, commit.time_s), (tree, Some(parent), 1_700_000_000));
        assert_eq!((commit.subject.as_str(), commit.trailer), ("turn 7: plant", Some(trailer())));
    }

    #[test]
    fn a_commit_of_another_program_has_no_trailer() {
        let tree = hash(Kind::Tree, b"");
        let bytes = format!("tree {tree}\nauthor a <b> 5 +0100\ncommitter a <b> 6 +0100\n\nhello\n");
        let commit = decode(bytes.as_bytes()).expect("a commit");
        assert_eq!((commit.time_s, commit.subject.as_str(), commit.trailer), (6, "hello", None));
        assert_eq!(decode(b"tree x\n\n"), None);
    }
}
