//! Which rule decides.

use super::*;
use crate::oid::{Kind, hash};

fn rules(facts: &RuleFacts) -> Arc<Rules> {
    Rules::top(TopRules::new(facts))
}

#[test]
fn the_deepest_rule_decides_and_the_callers_excludes_win() {
    let facts = RuleFacts { excludes: vec!["/own".into()], gitignore: true, ..RuleFacts::default() };
    let load = |path: &[u8]| match path {
        b".gitignore" => b"*.log\r\nbuild/\n!own\n".to_vec(),
        _ => b"\xef\xbb\xbf!keep.log\n/here\n".to_vec(),
    };
    let rule_file = |dir: &[u8]| match dir {
        b"" | b"sub" => RuleFile::Of(hash(Kind::Blob, dir)),
        _ => RuleFile::None,
    };
    let mut judge = Judge::new(&facts, &rule_file, &load);
    let mut verdict = |path: &str| judge.verdict(path.as_bytes(), false);
    for path in ["a.log", "x/a.log", "build/x", "x/build/y/z", "own", "sub/here"] {
        assert_eq!(verdict(path), Verdict::Exclude, "{path}");
    }
    for path in ["a", "build", "sub/keep.log", "sub/x/keep.log", "sub/x/here", ".gitignore", "x/own"] {
        assert_eq!(verdict(path), Verdict::Capture, "{path}");
    }
}

#[test]
fn rules_that_are_not_in_the_tree_may_have_excluded_everything() {
    let no_lines = |_: &[u8]| Vec::new();
    let verdict = |rule_files, excluded: &str, found: RuleFile, path: &[u8]| {
        let facts = RuleFacts { excludes: vec![excluded.into()], gitignore: true, rule_files, ..RuleFacts::default() };
        let rule_file = |dir: &[u8]| if dir == b"sub" { found } else { RuleFile::None };
        Judge::new(&facts, &rule_file, &no_lines).verdict(path, false)
    };
    let (out, captured) = (Verdict::Exclude, Verdict::Capture);
    // The caller's excludes leave out no rule file; once they did.
    assert_eq!(verdict(true, ".*", RuleFile::None, b"sub/.gitignore"), captured);
    assert_eq!(verdict(true, ".*", RuleFile::None, b"sub/x"), captured);
    assert_eq!(verdict(false, ".*", RuleFile::None, b"sub/x"), out);
    assert_eq!(verdict(false, ".*", RuleFile::None, b".gitignore"), out);
    assert_eq!(verdict(false, "/sub/.gitignore", RuleFile::None, b"sub/x"), out);
    assert_eq!(verdict(false, "/sub/.gitignore", RuleFile::None, b"x"), captured);
    // Another reason keeps one out.
    assert_eq!(verdict(true, "/y", RuleFile::NotStored, b"sub/x/y"), out);
    assert_eq!(verdict(true, "/y", RuleFile::NotStored, b"x"), captured);
}

#[test]
fn secrets_are_told_apart_and_the_key_follows_every_rule() {
    let facts = RuleFacts { secrets_left_out: true, ..RuleFacts::default() };
    let one = rules(&facts);
    let none = |_: &[u8]| RuleFile::None;
    let no_lines = |_: &[u8]| Vec::new();
    let mut judge = Judge::new(&facts, &none, &no_lines);
    let mut verdict = |path: &[u8]| judge.verdict(path, false);
    assert_eq!(verdict(b"x/.env"), Verdict::Secret);
    assert_eq!(verdict(b".env/bin/python"), Verdict::Capture, "a directory of that name is no secret");
    assert_eq!(verdict(b".env.example"), Verdict::Capture);
    let mut facts = facts.clone();
    facts.secrets_left_out = false;
    assert_ne!(one.key(), rules(&facts).key());
    assert_ne!(one.key(), one.below(b"", hash(Kind::Blob, b"x")).key());
}
