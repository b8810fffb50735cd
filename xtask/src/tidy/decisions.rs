//! The decision pages: numbered without a gap, listed in their index, and with the four parts of the template.

use super::Finding;
use crate::tree::{TextFile, Tree};

const DIRECTORY: &str = "docs/decisions/";
const INDEX: &str = "docs/decisions/README.md";
const PARTS: [&str; 4] = ["## Context", "## Decision", "## Alternatives", "## Consequences"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let pages: Vec<(&str, &TextFile)> = tree
        .files()
        .iter()
        .filter_map(|file| Some((file.path.strip_prefix(DIRECTORY)?, file)))
        .filter(|(name, file)| file.path != INDEX && name.ends_with(".md"))
        .collect();
    let Some(index) = tree.text(INDEX) else {
        return if pages.is_empty() { Vec::new() } else { vec![Finding::stop(INDEX, None, "the index is missing")] };
    };
    // The files come in the order of their paths, so the n-th page must bear the number n.
    (1_usize..).zip(pages).flat_map(|(number, (name, file))| judge(number, name, file, index)).collect()
}

fn judge(number: usize, name: &str, file: &TextFile, index: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !name.starts_with(&format!("{number:04}-")) {
        findings.push(Finding::stop(&file.path, None, format!("the name should start with `{number:04}-`")));
    }
    if !index.contains(&format!("({name})")) {
        findings.push(Finding::stop(INDEX, None, format!("the index does not link to {name}")));
    }
    let missing = PARTS.iter().filter(|part| !file.text.lines().any(|line| line.trim_end() == **part));
    findings.extend(missing.map(|part| Finding::stop(&file.path, None, format!("the part `{part}` is missing"))));
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    const WHOLE: &str = "# 1\n\n## Context\n\n## Decision\n\n## Alternatives\n\n## Consequences\n";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn whole_pages_in_order_pass() {
        let index = "- [One](0001-one.md)\n- [Two](0002-two.md)\n";
        let files = [
            ("docs/decisions/0001-one.md", WHOLE),
            ("docs/decisions/0002-two.md", WHOLE),
            ("docs/decisions/README.md", index),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
        assert_eq!(found(&[]), Vec::<String>::new());
    }

    #[test]
    fn a_gap_a_page_that_is_not_listed_and_a_missing_part_are_found() {
        let files = [
            ("docs/decisions/0001-one.md", "# 1\n\n## Context\n\n## Decision\n\n## Consequences\n"),
            ("docs/decisions/0003-two.md", WHOLE),
            ("docs/decisions/README.md", "- [One](0001-one.md)\n"),
        ];
        assert_eq!(
            found(&files),
            [
                "docs/decisions/0001-one.md: the part `## Alternatives` is missing",
                "docs/decisions/0003-two.md: the name should start with `0002-`",
                "docs/decisions/README.md: the index does not link to 0003-two.md",
            ]
        );
    }

    #[test]
    fn pages_without_an_index_are_found() {
        assert_eq!(found(&[("docs/decisions/0001-one.md", WHOLE)]), ["docs/decisions/README.md: the index is missing"]);
    }
}
