//! Links between pages lead somewhere, those of the book inside it, and the book has every page.

use super::Finding;
use crate::tree::{TextFile, Tree};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// The list of the book's pages.
const SUMMARY: &str = "docs/SUMMARY.md";
/// Where the book's pages are.
const BOOK: &str = "docs/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files().iter().filter(|file| is_page(&file.path) && !file.is_test_data());
    let mut findings: Vec<Finding> = pages.clone().flat_map(|page| broken(page, tree)).collect();
    if let Some(summary) = tree.text(SUMMARY) {
        let listed: BTreeSet<String> = links(summary).iter().filter_map(|link| resolve(SUMMARY, &link.to).0).collect();
        let missing =
            pages.filter(|page| page.path.starts_with(BOOK) && page.path != SUMMARY && !listed.contains(&page.path));
        findings.extend(missing.map(|page| Finding::stop(&page.path, None, format!("{SUMMARY} does not list it"))));
    }
    findings
}

fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

/// A link of a page.
struct Link {
    to: String,
    line: usize,
}

fn links(text: &str) -> Vec<Link> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
    let found = events.filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(Link { to: dest_url.into_string(), line: line(range.start) })
        }
        _ => None,
    });
    found.collect()
}

fn broken(page: &TextFile, tree: &Tree) -> Vec<Finding> {
    let stop = |link: &Link, what: &str| Finding::stop(&page.path, link.line, format!("{}: {what}", link.to));
    let look = |link: Link| {
        if link.to.contains("://") || link.to.starts_with("mailto:") {
            return None;
        }
        let (Some(path), anchor) = resolve(&page.path, &link.to) else {
            return Some(stop(&link, "it leads out of the project"));
        };
        if !tree.has(&path) {
            return Some(stop(&link, "there is no such file"));
        }
        if page.path.starts_with(BOOK) && !path.starts_with(BOOK) {
            return Some(stop(&link, "the book does not have that file"));
        }
        let anchors = anchor.and_then(|anchor| Some((anchor, tree.text(&path)?))).filter(|_| is_page(&path));
        let (anchor, text) = anchors?;
        (!headings(text).contains(anchor)).then(|| stop(&link, "that page has no such heading"))
    };
    links(&page.text).into_iter().filter_map(look).collect()
}

/// The path from the root that a link of a page leads to, if it stays inside, and the heading.
fn resolve<'a>(page: &str, link: &'a str) -> (Option<String>, Option<&'a str>) {
    let (to, anchor) = link.split_once('#').map_or((link, None), |(to, anchor)| (to, Some(anchor)));
    if to.is_empty() {
        return (Some(page.to_owned()), anchor);
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for component in Path::new(to).components() {
        match component {
            Component::Normal(part) => parts.extend(part.to_str()),
            Component::CurDir => {}
            Component::ParentDir if parts.pop().is_some() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return (None, anchor),
        }
    }
    (Some(parts.join("/")), anchor)
}

/// The anchors of a page's headings, as the usual renderers make them: small letters, digits, hyphens for blanks.
fn headings(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => anchors.extend(heading.take().map(|text| anchor(&text))),
            Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
            _ => {}
        }
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found_with_its_line() {
        let page = "# A\n\n[b](b.md) [c](c.md) [code](../src/lib.rs)\n[d](b.md#two-words) [e](b.md#none) [f](#a) [out](../../x)\n";
        let files = [("docs/a.md", page), ("docs/b.md", "## `Two` words!\n"), ("src/lib.rs", "")];
        assert_eq!(
            found(&files),
            [
                "docs/a.md:3: c.md: there is no such file",
                "docs/a.md:3: ../src/lib.rs: the book does not have that file",
                "docs/a.md:4: b.md#none: that page has no such heading",
                "docs/a.md:4: ../../x: it leads out of the project",
            ]
        );
    }

    #[test]
    fn a_page_that_the_book_does_not_list_is_found() {
        let files = [("docs/SUMMARY.md", "- [A](a.md)\n"), ("docs/a.md", ""), ("docs/cli/b.md", ""), ("README.md", "")];
        assert_eq!(found(&files), ["docs/cli/b.md: docs/SUMMARY.md does not list it"]);
    }

    #[test]
    fn directories_and_other_places_are_left_alone() {
        assert_eq!(
            found(&[("a.md", "[x](https://example.org/y.md) [d](docs/)"), ("docs/b.txt", "")]),
            Vec::<String>::new()
        );
    }
}
