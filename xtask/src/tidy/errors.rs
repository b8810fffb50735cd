//! Each variant of a public error enum is produced by a test of its crate, which names it: `StoreError::NotFound`.
//!
//! An error that no test can produce is one that nobody has seen: what it says, and what is on the disk then, is a guess.
//! That the test which names it also makes it happen is for the reader of the test to see.

use super::Finding;
use crate::tokens::Token;
use crate::tree::{TextFile, Tree};
use std::collections::BTreeSet;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut produced: BTreeSet<(&str, String)> = BTreeSet::new();
    for file in tree.files().iter().filter(|file| file.is_rust()) {
        let named = qualified(&tested(file)).into_iter();
        produced.extend(named.map(|name| (top(file), name)));
    }
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| file.is_rust() && !is_test(file)) {
        for (name, line) in variants(file.tokens()) {
            if !produced.contains(&(top(file), name.clone())) {
                findings.push(Finding::stop(&file.path, line, format!("no test produces `{name}`")));
            }
        }
    }
    findings
}

/// The crate, or the directory that it shares with the smaller ones inside.
fn top(file: &TextFile) -> &str {
    file.path.split('/').next().unwrap_or_default()
}

/// Whether all of the file is test code.
fn is_test(file: &TextFile) -> bool {
    file.path.contains("/tests/") || file.path.ends_with("/tests.rs")
}

/// The test code of a file.
fn tested(file: &TextFile) -> Vec<Token> {
    let tokens = file.tokens();
    if is_test(file) {
        return tokens.to_vec();
    }
    let mut kept = Vec::new();
    for (index, window) in tokens.windows(TEST_ONLY.len()).enumerate() {
        if window.iter().map(|token| token.text.as_str()).eq(TEST_ONLY) {
            kept.extend_from_slice(body(&tokens[index..]));
        }
    }
    kept
}

const TEST_ONLY: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// What stands in the first braces, before any semicolon outside of them.
fn body(tokens: &[Token]) -> &[Token] {
    let Some(start) = tokens.iter().position(|token| matches!(token.text.as_str(), "{" | ";")) else { return &[] };
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(start) {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return &tokens[start..index];
        }
    }
    &[]
}

/// Every `A::B`.
fn qualified(tokens: &[Token]) -> BTreeSet<String> {
    let path = |window: &[Token]| match window {
        [first, colon, other, last] if colon.text == ":" && other.text == ":" => {
            Some(format!("{}::{}", first.text, last.text))
        }
        _ => None,
    };
    tokens.windows(4).filter_map(path).collect()
}

/// The variants of the public enums that derive `Error`, as `Enum::Variant`, each with its line.
fn variants(tokens: &[Token]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut is_error = false;
    for (index, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "derive" => is_error |= arguments(&tokens[index..]).any(|argument| argument == "Error"),
            "enum" => {
                let is_public = index.checked_sub(1).is_some_and(|before| tokens[before].text == "pub");
                if is_error && is_public {
                    found.extend(variants_of(&tokens[index + 1..]));
                }
                is_error = false;
            }
            "struct" | "fn" | "impl" | "mod" | "trait" | "union" => is_error = false,
            _ => {}
        }
    }
    found
}

/// What stands between the parentheses that follow.
fn arguments(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.iter().skip(2).map(|token| token.text.as_str()).take_while(|text| *text != ")")
}

/// The variants of the enum whose name comes first: each is the first word at its place that is no attribute's.
fn variants_of(tokens: &[Token]) -> Vec<(String, usize)> {
    let Some(name) = tokens.first() else { return Vec::new() };
    let mut found = Vec::new();
    let (mut depth, mut is_awaited) = (0_usize, true);
    for token in &tokens[1..] {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" if depth == 1 => break,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            "," if depth == 1 => is_awaited = true,
            "#" => {}
            variant if depth == 1 && is_awaited => {
                found.push((format!("{}::{variant}", name.text), token.line));
                is_awaited = false;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    const ERROR: &str = "/// Of an oak.\n#[derive(Debug, thiserror::Error)]\n#[non_exhaustive]\npub enum OakError {\n\
                         /// It is.\n#[error(\"felled, {at}\")]\nFelled { at: u8, by: u8 },\n\
                         #[error(transparent)]\nIo(#[from] io::Error, u8),\n#[error(\"x\")]\nRotten,\n}\n";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_variant_that_no_test_names_is_found() {
        let test = "#[test]\nfn f() { assert!(matches!(fell(), Err(OakError::Felled { .. }))); }\n";
        let source = format!("{ERROR}fn f() -> OakError {{ OakError::Rotten }}\n");
        assert_eq!(
            found(&[("oak/src/error.rs", &source), ("oak/tests/it/main.rs", test)]),
            [
                "oak/src/error.rs:9: no test produces `OakError::Io`",
                "oak/src/error.rs:11: no test produces `OakError::Rotten`",
            ]
        );
    }

    #[test]
    fn tests_inside_the_source_count_and_those_of_another_crate_do_not() {
        let inside = format!("{ERROR}#[cfg(test)]\nmod tests {{ fn a() {{ OakError::Felled; OakError::Io; }} }}\n");
        let elsewhere = "fn f() { OakError::Rotten; }";
        assert_eq!(
            found(&[("oak/src/error.rs", &inside), ("elm/tests/it/main.rs", elsewhere)]),
            ["oak/src/error.rs:11: no test produces `OakError::Rotten`"]
        );
    }

    #[test]
    fn what_is_not_public_or_no_error_has_no_such_duty() {
        let source = "#[derive(Debug, thiserror::Error)]\npub(crate) enum A { B }\n#[derive(Debug)]\npub enum C { D }\n\
                      #[derive(thiserror::Error)]\npub struct E;\npub enum F { G }\n";
        assert_eq!(found(&[("oak/src/error.rs", source)]), Vec::<String>::new());
    }

    #[test]
    fn a_module_of_tests_in_a_file_of_its_own_is_test_code() {
        let test = "fn f() { OakError::Felled; OakError::Io; OakError::Rotten; }";
        assert_eq!(found(&[("oak/src/error.rs", ERROR), ("oak/src/error/tests.rs", test)]), Vec::<String>::new());
        let declared = format!("#[cfg(test)]\nmod tests;\nfn f() {{ OakError::Felled; }}\n{ERROR}");
        assert_eq!(found(&[("oak/src/error.rs", &declared)]).len(), 3);
    }
}
