//! The changelog is there and has a place for what comes next.

use super::Finding;
use crate::tree::Tree;

const PAGE: &str = "CHANGELOG.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    match tree.text(PAGE) {
        None => vec![Finding::stop(PAGE, None, "the changelog is missing")],
        Some(text) if text.lines().any(|line| line.trim_end() == "## [Unreleased]") => Vec::new(),
        Some(_) => vec![Finding::stop(PAGE, None, "there is no section `## [Unreleased]`")],
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_changelog_without_a_section_for_what_comes_is_found() {
        assert_eq!(found(&[]), ["CHANGELOG.md: the changelog is missing"]);
        assert_eq!(
            found(&[("CHANGELOG.md", "# Changelog\n\n## 0.1.0\n")]),
            ["CHANGELOG.md: there is no section `## [Unreleased]`"]
        );
        assert_eq!(found(&[("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n")]), Vec::<String>::new());
    }
}
