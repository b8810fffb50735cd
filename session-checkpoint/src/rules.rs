//! What is left out: the caller's excludes, `.gitignore` files, names of secrets.
//!
//! Rules form a chain, one link for each directory that has a `.gitignore`. A link has a key that depends on everything
//! above it, so a cached directory knows whether it was matched under the same rules; and it is compiled only when a
//! name must be matched, which an unchanged workspace never needs.

mod judge;

pub(crate) use judge::{Judge, RuleFile};

use crate::Oid;
use crate::commit::RuleFacts;
use crate::oid::{Kind, hash};
use crate::options::{Options, SECRET_PATTERNS, Secrets};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The name of the files that hold rules. With `.gitignore` honoured they are always captured, even where they
/// exclude themselves or the caller does: without them nobody could say later what a turn left out.
pub(crate) const RULE_FILE: &[u8] = b".gitignore";
/// A larger file of rules is read only so far.
pub(crate) const RULE_FILE_MAX_BYTES: usize = 4 << 20;
/// Changes of how rules are read must not meet cached decisions.
const VERSION: u32 = 2;

/// The verdict on a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Capture,
    Exclude,
    Secret,
}

/// The rules that hold everywhere.
#[derive(Debug)]
pub(crate) struct TopRules {
    facts: RuleFacts,
    key: u64,
    excludes: OnceLock<Gitignore>,
    secrets: OnceLock<Gitignore>,
}

fn compile(lines: &[impl AsRef<str>]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(".");
    // Git takes a pattern that it cannot read, an unclosed class for one, for one that matches nothing.
    builder.allow_unclosed_class(false);
    for line in lines {
        drop(builder.add_line(None, &without_alternates(line.as_ref())));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A brace is a plain character to git, and the beginning of alternatives to the matcher.
fn without_alternates(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut escaped, mut in_class) = (false, false);
    for c in line.chars() {
        match c {
            '{' | '}' if !escaped && !in_class => out.push('\\'),
            '[' if !escaped => in_class = true,
            ']' if !escaped => in_class = false,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

/// The facts of a caller's rules, as a trailer keeps them.
pub(crate) fn facts(options: &Options) -> RuleFacts {
    RuleFacts {
        excludes: options.excludes.clone(),
        gitignore: options.honor_gitignore,
        secrets_left_out: options.secrets == Secrets::LeaveOut,
        max_file_bytes: options.max_file_bytes,
        rule_files: true,
    }
}

impl TopRules {
    pub(crate) fn new(facts: &RuleFacts) -> Self {
        let text = serde_json::to_string(facts).expect("plain facts are JSON");
        TopRules {
            facts: facts.clone(),
            key: key(format!("{VERSION} {text}").as_bytes()),
            excludes: OnceLock::new(),
            secrets: OnceLock::new(),
        }
    }

    fn excludes(&self) -> &Gitignore {
        self.excludes.get_or_init(|| compile(&self.facts.excludes))
    }

    fn secrets(&self) -> Option<&Gitignore> {
        self.facts.secrets_left_out.then(|| self.secrets.get_or_init(|| compile(SECRET_PATTERNS)))
    }

    /// Whether `.gitignore` files count.
    pub(crate) fn gitignore(&self) -> bool {
        self.facts.gitignore
    }
}

fn key(bytes: &[u8]) -> u64 {
    let oid = hash(Kind::Blob, bytes);
    u64::from_le_bytes(oid.as_bytes()[..8].try_into().expect("eight of twenty bytes"))
}

/// How the lines of a rule file are come by when somebody needs them.
pub(crate) type Load<'a> = &'a (dyn Fn(&[u8]) -> Vec<u8> + Sync);

/// One link of the chain.
#[derive(Debug)]
pub(crate) struct Rules {
    top: Arc<TopRules>,
    parent: Option<Arc<Rules>>,
    dir: Vec<u8>,
    here: OnceLock<Gitignore>,
    key: u64,
}

impl Rules {
    /// The chain at the top of a workspace, before its own `.gitignore`.
    pub(crate) fn top(top: TopRules) -> Arc<Self> {
        let key = top.key;
        let here = OnceLock::from(Gitignore::empty());
        Arc::new(Rules { top: Arc::new(top), parent: None, dir: Vec::new(), here, key })
    }

    /// The chain below a directory with a rule file of this content id.
    pub(crate) fn below(self: &Arc<Self>, dir: &[u8], file: Oid) -> Arc<Self> {
        let mut bytes = self.key.to_le_bytes().to_vec();
        bytes.extend_from_slice(file.as_bytes());
        Arc::new(Rules {
            top: Arc::clone(&self.top),
            parent: Some(Arc::clone(self)),
            dir: dir.to_vec(),
            here: OnceLock::new(),
            key: key(&bytes),
        })
    }

    /// What identifies this chain.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// Whether `.gitignore` files count.
    pub(crate) fn gitignore(&self) -> bool {
        self.top.gitignore()
    }

    /// The verdict on a path whose parents are all captured. `load` reads the rule file at a path.
    pub(crate) fn verdict(&self, path: &[u8], is_dir: bool, load: Load<'_>) -> Verdict {
        let is_rule_file = self.top.gitignore() && !is_dir && crate::rel_path::split(path).1 == RULE_FILE;
        if is_rule_file {
            return Verdict::Capture;
        }
        if matched(self.top.excludes(), path, is_dir) == Some(true) || self.ignored(path, is_dir, load) {
            return Verdict::Exclude;
        }
        match self.top.secrets() {
            Some(secrets) if !is_dir && matched(secrets, path, false) == Some(true) => Verdict::Secret,
            _ => Verdict::Capture,
        }
    }

    /// Whether a directory of the tree may have had a rule file that the caller's excludes left out, as they once did.
    fn may_lack_rules(&self, dir: &[u8]) -> bool {
        let path = crate::rel_path::joined(dir, RULE_FILE);
        !self.top.facts.rule_files && matched(self.top.excludes(), &path, false) == Some(true)
    }

    fn ignored(&self, path: &[u8], is_dir: bool, load: Load<'_>) -> bool {
        let mut link = Some(self);
        while let Some(rules) = link {
            let here = rules.here.get_or_init(|| {
                let bytes = load(&crate::rel_path::joined(&rules.dir, RULE_FILE));
                compile(&lines(&bytes))
            });
            let below = if rules.dir.is_empty() { path } else { path.get(rules.dir.len() + 1..).unwrap_or_default() };
            if let Some(decided) = matched(here, below, is_dir) {
                return decided;
            }
            link = rules.parent.as_deref();
        }
        false
    }
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let bytes = &bytes[..bytes.len().min(RULE_FILE_MAX_BYTES)];
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).into_owned();
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned()).collect()
}

fn matched(rules: &Gitignore, path: &[u8], is_dir: bool) -> Option<bool> {
    match rules.matched(Path::new(OsStr::from_bytes(path)), is_dir) {
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
        Match::None => None,
    }
}

#[cfg(test)]
mod tests;
