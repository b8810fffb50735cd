//! The paths in a source file, from its tokens.

use crate::tokens::Token;
use std::collections::BTreeMap;

/// What a file says of others.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    /// The names that `use` brings into the file, and the paths that they stand for.
    pub(super) names: BTreeMap<String, Vec<String>>,
    /// The paths of `use` that hand nothing on, and those in the code.
    pub(super) used: Vec<Vec<String>>,
}

impl Paths {
    /// What stands in the tokens of a file, but for its unit tests.
    pub(super) fn of(tokens: &[Token]) -> Self {
        let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        let mut paths = Paths::default();
        let mut at = 0;
        while at < words.len() {
            let here = &words[at..];
            if here.starts_with(&["#", "[", "cfg", "(", "test", ")", "]", "mod"]) {
                at = end_of_block(&words, at);
            } else if here[0] == "use" {
                let hands_on = is_public(&words[..at]);
                let mut tree = Vec::new();
                at = use_tree(&words, at + 1, &[], &mut tree);
                paths.used.extend(tree.iter().filter(|_| !hands_on).map(|(_, path)| path.clone()));
                paths.names.extend(tree);
            } else if is_word(here[0]) && here[1..].starts_with(&[":", ":"]) {
                let (path, end) = inline(&words, at);
                paths.used.push(path);
                at = end;
            } else {
                at += 1;
            }
        }
        paths
    }
}

/// Reads a tree of `use` from a place on: each name and its path. Gives the place behind it.
fn use_tree(words: &[&str], from: usize, prefix: &[String], tree: &mut Vec<(String, Vec<String>)>) -> usize {
    let (mut at, mut path) = (from, prefix.to_vec());
    loop {
        match words.get(at) {
            Some(&"{") => {
                at += 1;
                while words.get(at).is_some_and(|word| *word != "}") {
                    at = use_tree(words, at, &path, tree);
                    at += usize::from(words.get(at) == Some(&","));
                }
                return at + 1;
            }
            // Whose names they are cannot be told from here.
            Some(&"*") => return at + 1,
            Some(&":") => at += 1,
            Some(word) if is_word(word) => {
                path.push((*word).to_owned());
                at += 1;
                if words.get(at) == Some(&":") {
                    continue;
                }
                if path.len() > 1 {
                    path.pop_if(|last| last == "self");
                }
                let (name, end) = match words.get(at..at + 2) {
                    Some(["as", name]) => ((*name).to_owned(), at + 2),
                    _ => (path.last().cloned().unwrap_or_default(), at),
                };
                tree.push((name, path));
                return end;
            }
            _ => return at + 1,
        }
    }
}

/// A path in the code, and the place behind it.
fn inline(words: &[&str], from: usize) -> (Vec<String>, usize) {
    let (mut path, mut at) = (vec![words[from].to_owned()], from + 1);
    while let Some([":", ":", word]) = words.get(at..at + 3) {
        if !is_word(word) {
            break;
        }
        path.push((*word).to_owned());
        at += 3;
    }
    (path, at)
}

/// Whether what follows is handed on: `pub`, `pub(crate)`, `pub(in …)`.
fn is_public(before: &[&str]) -> bool {
    match before.last() {
        Some(&")") => {
            before.iter().rposition(|word| *word == "(").is_some_and(|open| before[..open].ends_with(&["pub"]))
        }
        last => last == Some(&"pub"),
    }
}

/// The place behind the block that begins next.
fn end_of_block(words: &[&str], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate().skip(from) {
        match *word {
            "{" => depth += 1,
            "}" if depth == 1 => return at + 1,
            "}" => depth -= 1,
            // A file of its own.
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    words.len()
}

fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::Paths;
    use crate::tokens::tokens;

    #[test]
    fn names_are_read_from_trees_and_paths_from_the_code() {
        let source = "pub(crate) use a::{B, c::{self, D as E}}; use super::f::*; use crate::g as h;
            fn i(_: h::J) -> super::K { std::mem::swap::<u8>(&mut 1, l); m() }
            #[cfg(test)] mod tests { use crate::n::O; }";
        let paths = Paths::of(&tokens(source).expect("it is Rust"));
        let names: Vec<_> = paths.names.iter().map(|(name, path)| format!("{name}={}", path.join("::"))).collect();
        assert_eq!(names, ["B=a::B", "E=a::c::D", "c=a::c", "h=crate::g"]);
        let used: Vec<_> = paths.used.iter().map(|path| path.join("::")).collect();
        assert_eq!(used, ["crate::g", "h::J", "super::K", "std::mem::swap"]);
    }
}
