//! The code map of `docs/architecture.md` is whole: each module of a crate's root stands in one row of its table.
//!
//! The first table of the section says in which folder each crate is. Below a heading that begins with the name of a
//! crate, the first column of the table names modules in backticks: `a::b` counts for `a`, and what is in parentheses is
//! no module. Unit tests need no row, and a crate without a table is left alone.

use super::Finding;
use crate::imports::Crate;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = "docs/architecture.md";
const SECTION: &str = "## Code map";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else { return Vec::new() };
    let map = Map::of(page);
    if map.folders.is_empty() {
        return vec![Finding::stop(PAGE, None, format!("there is no table of crates in the section `{SECTION}`"))];
    }
    let crates = Crate::all(tree);
    let judge = |table: &Table<'_>| match map.folders.get(table.name) {
        Some(folder) => table.judge(folder, &modules(&crates, folder), tree),
        None => vec![Finding::stop(PAGE, table.line, format!("the table of crates does not have `{}`", table.name))],
    };
    map.tables.iter().filter(|table| !table.rows.is_empty()).flat_map(judge).collect()
}

/// The modules of a crate's root.
fn modules<'a>(crates: &'a [Crate<'_>], folder: &str) -> BTreeSet<&'a str> {
    let files = crates.iter().filter(|of| of.root == folder).flat_map(Crate::files);
    files.filter_map(|(_, module)| module).filter(|module| *module != "tests").collect()
}

/// What the section says.
#[derive(Default)]
struct Map<'a> {
    /// Where each crate is, by its name.
    folders: BTreeMap<&'a str, &'a str>,
    tables: Vec<Table<'a>>,
}

/// What stands below a crate's heading.
struct Table<'a> {
    /// The crate's.
    name: &'a str,
    /// The heading's.
    line: usize,
    /// The names in the first column, with their line.
    rows: Vec<(usize, Vec<&'a str>)>,
}

impl<'a> Map<'a> {
    fn of(page: &'a str) -> Self {
        let mut map = Map::default();
        let behind = (1..).zip(page.lines()).skip_while(|(_, line)| line.trim_end() != SECTION).skip(1);
        for (number, line) in behind.take_while(|(_, line)| !line.starts_with("## ")) {
            if let Some(heading) = line.strip_prefix("### ") {
                let name = heading.split([' ', ',']).next().unwrap_or_default();
                map.tables.push(Table { name, line: number, rows: Vec::new() });
                continue;
            }
            let mut cells = line.strip_prefix('|').into_iter().flat_map(|row| row.split('|')).map(names);
            let first = cells.next().unwrap_or_default();
            match map.tables.last_mut() {
                // The head of a table, and the line below it, name nothing.
                _ if first.is_empty() => {}
                Some(table) => table.rows.push((number, first)),
                None => map.folders.extend(first.into_iter().zip(cells.next().unwrap_or_default())),
            }
        }
        map
    }
}

/// What stands in backticks in a cell, and not in parentheses.
fn names(cell: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    for (at, piece) in cell.split('`').enumerate() {
        if at % 2 == 0 {
            depth = (depth + piece.matches('(').count()).saturating_sub(piece.matches(')').count());
        } else if depth == 0 {
            names.push(piece);
        }
    }
    names
}

impl Table<'_> {
    fn judge(&self, folder: &str, modules: &BTreeSet<&str>, tree: &Tree) -> Vec<Finding> {
        let mut findings = Vec::new();
        // The row of each module.
        let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
        for (line, name) in self.rows.iter().flat_map(|(line, names)| names.iter().map(move |name| (*line, *name))) {
            let path = format!("{folder}/src/{}", name.replace("::", "/"));
            let module = name.split("::").next().unwrap_or_default();
            if !modules.contains(module) || !(tree.has(&path) || tree.has(&format!("{path}.rs"))) {
                findings.push(Finding::stop(PAGE, line, format!("{} has no module `{name}`", self.name)));
                continue;
            }
            let row = *rows.entry(module).or_insert(line);
            if row != line {
                findings.push(Finding::stop(PAGE, line, format!("`{module}` stands in line {row} already")));
            }
        }
        let left = modules.iter().filter(|module| !rows.contains_key(*module));
        let told =
            |module| Finding::stop(PAGE, self.line, format!("no row has the module `{module}` of {}", self.name));
        findings.extend(left.map(told));
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    const CRATES: &str = "# Architecture\n\n## Code map\n\n| crate | in | what it is |\n| --- | --- | --- |\n\
                          | `oak` | `oak` | the trunk |\n| `oak-leaf` | `oak/leaf` | not `oak` |\n";
    const FILES: [&str; 8] = [
        "oak/src/lib.rs",
        "oak/src/bark.rs",
        "oak/src/crown/mod.rs",
        "oak/src/crown/twig.rs",
        "oak/src/tests.rs",
        "oak/tests/it/main.rs",
        "oak/leaf/src/main.rs",
        "oak/leaf/src/vein.rs",
    ];

    fn found(map: &str) -> Vec<String> {
        let page = format!("{CRATES}{map}");
        let files = FILES.map(|path| (path, ""));
        let tree = Tree::of(&[&files[..], &[("docs/architecture.md", &page)]].concat());
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_module_in_no_row_is_found_at_the_heading() {
        assert_eq!(
            found("\n### oak, in reading order\n\n| module | what |\n| --- | --- |\n| `crown` | as `bark` |\n"),
            ["docs/architecture.md:10: no row has the module `bark` of oak"]
        );
    }

    #[test]
    fn a_module_in_two_rows_is_found_in_the_second() {
        assert_eq!(
            found("### oak\n| `bark`, `crown` | a |\n| `crown::twig` | b |\n"),
            ["docs/architecture.md:11: `crown` stands in line 10 already"]
        );
    }

    #[test]
    fn a_row_of_a_module_that_is_not_there_is_found() {
        assert_eq!(
            found("### oak\n| `bark`, `lib`, `crown` | a |\n| `crown::nest`, `root`, `tests` | b |\n"),
            [
                "docs/architecture.md:10: oak has no module `lib`",
                "docs/architecture.md:11: oak has no module `crown::nest`",
                "docs/architecture.md:11: oak has no module `root`",
                "docs/architecture.md:11: oak has no module `tests`",
            ]
        );
    }

    #[test]
    fn a_crate_is_looked_for_where_the_first_table_says() {
        assert_eq!(
            found("### oak-leaf\n| `bark` | a |\n### elm\n| `bark` | a |\n"),
            [
                "docs/architecture.md:10: oak-leaf has no module `bark`",
                "docs/architecture.md:9: no row has the module `vein` of oak-leaf",
                "docs/architecture.md:11: the table of crates does not have `elm`",
            ]
        );
    }

    #[test]
    fn a_whole_map_passes_and_so_does_a_crate_without_a_table() {
        let oak = "### oak\n| `bark` (feature `rough`), (`not` this) | a |\n| `crown::twig`, `crown` | b |\n";
        assert_eq!(
            found(&format!("{oak}### oak-leaf\nIt has `vein`.\n## One oak\n| `root` | c |\n")),
            Vec::<String>::new()
        );
        assert_eq!(found(""), Vec::<String>::new());
    }

    #[test]
    fn a_page_without_a_map_is_found_and_a_missing_page_is_not() {
        let found =
            |files: &[(&str, &str)]| check(&Tree::of(files)).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            found(&[("docs/architecture.md", "# Architecture\n")]),
            ["docs/architecture.md: there is no table of crates in the section `## Code map`"]
        );
        assert_eq!(found(&[]), Vec::<String>::new());
    }
}
