//! Each numbered invariant of `docs/architecture.md` is carried by a test: `I-07` by one whose name holds `i07_`.

use super::Finding;
use crate::tokens::Token;
use crate::tree::Tree;
use std::collections::BTreeMap;

const PAGE: &str = "docs/architecture.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else { return Vec::new() };
    let tests: Vec<String> =
        tree.files().iter().filter(|file| file.is_rust()).flat_map(|file| test_names(file.tokens())).collect();
    let invariants = invariants_of(page);
    if invariants.is_empty() {
        return vec![Finding::stop(PAGE, None, "the page names no invariant (`I-01`)")];
    }
    let carried = |number: &str| tests.iter().any(|name| carries(name, number));
    let bare = invariants.iter().filter(|(number, _)| !carried(number));
    bare.map(|(number, line)| {
        Finding::stop(PAGE, *line, format!("no test carries I-{number} (a name with `i{number}_`)"))
    })
    .collect()
}

/// The two digits of each `I-NN` in the page, with the line of its first mention.
fn invariants_of(page: &str) -> BTreeMap<&str, usize> {
    let mut found = BTreeMap::new();
    for (index, line) in page.lines().enumerate() {
        for (at, _) in line.match_indices("I-") {
            let starts_word = !line[..at].ends_with(|letter: char| letter.is_alphanumeric());
            let digits = line.get(at + 2..at + 4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
            if let Some(digits) = digits.filter(|_| starts_word) {
                found.entry(digits).or_insert(index + 1);
            }
        }
    }
    found
}

/// Whether a word of the name is the invariant's id.
fn carries(name: &str, number: &str) -> bool {
    name.split('_').any(|word| word.strip_prefix('i') == Some(number))
}

/// The names of the functions that stand under a `#[test]`.
fn test_names(tokens: &[Token]) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for window in tokens.windows(3) {
        let [first, second, third] = window else { continue };
        match (first.text.as_str(), second.text.as_str(), third.text.as_str()) {
            ("[", "test", "]") => is_test = true,
            ("fn", name, _) if is_test => {
                names.push(name.to_owned());
                is_test = false;
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    const PAGE: &str = "# Architecture\n\n- **I-01** Whole lines only.\n- **I-02** Never truncate (as I-01 needs).\n";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_invariant_without_a_test_is_found() {
        let tests = "#[test]\nfn i01_lines_are_whole() {}\nfn i02_this_is_no_test() {}\n";
        assert_eq!(
            found(&[("docs/architecture.md", PAGE), ("a/tests/it/main.rs", tests)]),
            ["docs/architecture.md:4: no test carries I-02 (a name with `i02_`)"]
        );
    }

    #[test]
    fn a_test_may_carry_several_ids_and_other_attributes() {
        let tests = "#[test]\n#[cfg(unix)]\nfn h01_i01_i02_all_at_once() {}\n";
        assert_eq!(found(&[("docs/architecture.md", PAGE), ("a/src/x.rs", tests)]), Vec::<String>::new());
    }

    #[test]
    fn a_page_without_invariants_is_found_and_a_missing_page_is_not() {
        assert_eq!(
            found(&[("docs/architecture.md", "# Architecture\n")]),
            ["docs/architecture.md: the page names no invariant (`I-01`)"]
        );
        assert_eq!(found(&[]), Vec::<String>::new());
    }
}
