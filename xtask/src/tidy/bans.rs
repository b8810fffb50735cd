//! Attributes and macros that hide work: silenced lints, tests that do not run, code that is not there.

use super::Finding;
use crate::tokens::lines_of;
use crate::tree::TextFile;

/// A run of tokens, and what to do instead.
const BANS: [(&[&str], &str); 9] = [
    (&["[", "allow", "("], "a lint is silenced with `expect` and a reason, which ends when its cause does"),
    (&[",", "allow", "("], "a lint is silenced with `expect` and a reason, which ends when its cause does"),
    (&["[", "ignore", "]"], "a test that does not run shows nothing; slow families ask SESSION_LONG_TESTS"),
    (&["[", "ignore", "="], "a test that does not run shows nothing; slow families ask SESSION_LONG_TESTS"),
    (&[",", "ignore", "]"], "a test that does not run shows nothing; slow families ask SESSION_LONG_TESTS"),
    (&["[", "should_panic"], "a test says which panic it means: catch it and compare"),
    (&[",", "should_panic"], "a test says which panic it means: catch it and compare"),
    (&["todo", "!"], "what is not written yet is not committed"),
    (&["unimplemented", "!"], "what is not written yet is not committed"),
];

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let tokens = file.tokens();
    let found = |(run, advice): &(&[&str], &str)| {
        let shown = run.concat().trim_start_matches(['[', ',']).to_owned();
        let at = lines_of(tokens, run).into_iter();
        at.map(|line| Finding::stop(&file.path, line, format!("`{shown}`: {advice}"))).collect::<Vec<_>>()
    };
    BANS.iter().flat_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::printed;

    fn lines(source: &str) -> Vec<String> {
        let findings = printed(check, "a.rs", source);
        findings.iter().map(|text| text.split_inclusive('`').take(2).collect::<String>()).collect()
    }

    #[test]
    fn silenced_lints_are_found() {
        assert_eq!(lines("#![allow(dead_code)]\n"), ["a.rs:1: `allow(`"]);
        assert_eq!(lines("\n#[cfg_attr(test, allow(dead_code))]\nfn f() {}\n"), ["a.rs:2: `allow(`"]);
        assert_eq!(lines("#[expect(dead_code, reason = \"allow(x)\")]\nfn f() {}\n"), Vec::<String>::new());
    }

    #[test]
    fn tests_that_do_not_run_or_do_not_say_what_they_mean_are_found() {
        assert_eq!(lines("#[test]\n#[ignore]\nfn f() {}\n"), ["a.rs:2: `ignore]`"]);
        assert_eq!(lines("#[ignore = \"slow\"]\nfn f() {}\n"), ["a.rs:1: `ignore=`"]);
        assert_eq!(lines("#[should_panic(expected = \"x\")]\nfn f() {}\n"), ["a.rs:1: `should_panic`"]);
    }

    #[test]
    fn code_that_is_not_there_is_found() {
        assert_eq!(
            lines("fn f() {\n    todo!();\n    unimplemented!(\"x\")\n}\n"),
            ["a.rs:2: `todo!`", "a.rs:3: `unimplemented!`"]
        );
    }

    #[test]
    fn the_words_themselves_are_free() {
        assert_eq!(
            lines("//! todo!() and #[ignore]\nfn allow() { ignore(); }\nuse ignore::Walk;\n"),
            Vec::<String>::new()
        );
    }
}
