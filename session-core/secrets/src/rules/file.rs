//! The files of rules, in the form that gitleaks reads.

use super::allow::{Allow, Target};
use super::{Rule, Rules, dialect};
use aho_corasick::AhoCorasick;
use serde::Deserialize;
use std::sync::OnceLock;

#[derive(Deserialize)]
struct File {
    allowlist: Option<AllowEntry>,
    rules: Vec<RuleEntry>,
    #[serde(default)]
    more: Vec<AllowEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleEntry {
    id: String,
    description: String,
    regex: Option<String>,
    #[serde(default)]
    secret_group: usize,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    keywords: Vec<String>,
    path: Option<String>,
    #[serde(default)]
    allowlists: Vec<AllowEntry>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
struct AllowEntry {
    /// Of `more`: the rules that get it.
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default)]
    regex_target: String,
    #[serde(default)]
    condition: String,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
}

/// Reads files of rules, one after the other.
///
/// # Panics
/// If they are none: they are part of this crate, and its tests read them.
pub(super) fn read(texts: &[&str]) -> Rules {
    let files: Vec<File> =
        texts.iter().map(|text| toml::from_str(text).expect("the files of rules are of their form")).collect();
    let mut everywhere = files.iter().filter_map(|file| file.allowlist.as_ref());
    let allow = everywhere.find_map(allow_of).expect("the first file has an allowlist for all rules");
    let more: Vec<AllowEntry> = files.iter().flat_map(|file| file.more.clone()).collect();
    // A rule for files of one name says nothing about a conversation.
    let entries = files.into_iter().flat_map(|file| file.rules).filter(|entry| entry.path.is_none());
    let mut rules = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut rules_of_word: Vec<Vec<usize>> = Vec::new();
    for entry in entries {
        for keyword in &entry.keywords {
            let known = words.iter().position(|word| word == keyword).unwrap_or_else(|| {
                words.push(keyword.clone());
                rules_of_word.push(Vec::new());
                words.len() - 1
            });
            rules_of_word[known].push(rules.len());
        }
        let own = more.iter().filter(|allow| allow.rules.contains(&entry.id));
        let allow = entry.allowlists.iter().chain(own).filter_map(allow_of).collect();
        let (expression, has_front) = dialect::without_front(&entry.regex.expect("a rule without a path has one"));
        rules.push(Rule {
            id: entry.id,
            description: entry.description,
            expression,
            regex: OnceLock::new(),
            has_front,
            entropy: entry.entropy,
            group: entry.secret_group,
            allow,
        });
    }
    Rules { rules, allow, words: automaton(&words), rules_of_word }
}

/// An allowlist, unless it holds for files of some names only.
fn allow_of(entry: &AllowEntry) -> Option<Allow> {
    if entry.condition.eq_ignore_ascii_case("and") && !entry.paths.is_empty() {
        return None;
    }
    let target = match entry.regex_target.as_str() {
        "match" => Target::Match,
        "line" => Target::Line,
        _ => Target::Secret,
    };
    let expressions = entry.regexes.iter().map(|expression| dialect::escape_braces(expression)).collect();
    let words = (!entry.stopwords.is_empty()).then(|| automaton(&entry.stopwords));
    Some(Allow { target, expressions, regexes: OnceLock::new(), words })
}

fn automaton(words: &[String]) -> AhoCorasick {
    let built = AhoCorasick::builder().ascii_case_insensitive(true).build(words);
    built.expect("a few hundred words make an automaton")
}
