//! Rules asked about a tree that is not walked.

use super::{Load, Rules, TopRules, Verdict};
use crate::Oid;
use crate::commit::RuleFacts;
use std::collections::HashMap;
use std::sync::Arc;

/// The rule file of a directory, in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleFile {
    /// There is none.
    None,
    /// It has this content.
    Of(Oid),
    /// There was one, and it is not in the tree.
    NotStored,
}

/// Verdicts on paths from the top, of a tree that is not walked: a parent that is excluded decides for everything below
/// it. Where rules held that nobody knows any more, they may have excluded everything.
pub(crate) struct Judge<'a> {
    top: Arc<Rules>,
    rule_file: &'a dyn Fn(&[u8]) -> RuleFile,
    load: Load<'a>,
    memo: HashMap<Vec<u8>, Result<Arc<Rules>, Verdict>>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(facts: &RuleFacts, rule_file: &'a dyn Fn(&[u8]) -> RuleFile, load: Load<'a>) -> Self {
        Judge { top: Rules::top(TopRules::new(facts)), rule_file, load, memo: HashMap::new() }
    }

    /// The verdict on a path.
    pub(crate) fn verdict(&mut self, path: &[u8], is_dir: bool) -> Verdict {
        match self.below(crate::rel_path::split(path).0) {
            Ok(rules) => rules.verdict(path, is_dir, self.load),
            Err(verdict) => verdict,
        }
    }

    /// The rules below a directory, or the verdict that keeps everybody out of it.
    fn below(&mut self, dir: &[u8]) -> Result<Arc<Rules>, Verdict> {
        if let Some(known) = self.memo.get(dir) {
            return known.clone();
        }
        let above = if dir.is_empty() { Ok(Arc::clone(&self.top)) } else { self.below(crate::rel_path::split(dir).0) };
        let below = above.and_then(|above| {
            let verdict = if dir.is_empty() { Verdict::Capture } else { above.verdict(dir, true, self.load) };
            match verdict {
                Verdict::Capture if above.gitignore() => match (self.rule_file)(dir) {
                    RuleFile::Of(oid) => Ok(above.below(dir, oid)),
                    RuleFile::None if !above.may_lack_rules(dir) => Ok(above),
                    RuleFile::None | RuleFile::NotStored => Err(Verdict::Exclude),
                },
                Verdict::Capture => Ok(above),
                out @ (Verdict::Exclude | Verdict::Secret) => Err(out),
            }
        });
        self.memo.insert(dir.to_vec(), below.clone());
        below
    }
}
