//! The verbs that there are, as the help lists them, and the rows that there are for them.

use super::table::{Cell, Prints, table};
use crate::schemas::{self, LINES};
use crate::support::Scratch;
use std::collections::BTreeSet;

/// A verb, with its own verb where it has such.
type Verb = Vec<String>;

/// Every verb that does something by itself.
fn verbs(scratch: &Scratch, above: &[&str]) -> Vec<Verb> {
    let help = scratch.ok(&[above, &["--help"]].concat());
    let Some((_, listed)) = help.split_once("\nCommands:\n") else {
        return vec![above.iter().map(|word| (*word).to_owned()).collect()];
    };
    let names = listed.lines().take_while(|line| !line.is_empty()).filter_map(|line| {
        // What is described goes on further to the right.
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty() && name != "help").then_some(name)
    });
    names.flat_map(|name| verbs(scratch, &[above, &[name]].concat())).collect()
}

/// The verb that the words of a row call: those that neither name a session nor stand behind all of it.
pub(super) fn verb_of(words: &str) -> Vec<&str> {
    let mut words = words.split(' ').filter(|word| *word != "%");
    let Some(first) = words.next() else { return Vec::new() };
    let own = match first {
        "checkpoint" | "inbox" | "remote" | "trash" => words.next(),
        _ => None,
    };
    [first].into_iter().chain(own).collect()
}

#[test]
fn every_verb_has_a_row_and_every_row_a_verb() {
    let verbs: BTreeSet<Verb> = verbs(&Scratch::new(), &[]).into_iter().collect();
    let rows = table();
    let named: BTreeSet<Verb> =
        rows.iter().map(|row| verb_of(row.words).into_iter().map(str::to_owned).collect()).collect();
    let told = |verbs: Vec<&Verb>| verbs.iter().map(|verb| verb.join(" ")).collect::<Vec<_>>();
    let missing = told(verbs.difference(&named).collect());
    assert!(missing.is_empty(), "add a row for each of these to tests/it/exits/table.rs: {missing:?}");
    assert_eq!(told(named.difference(&verbs).collect()), Vec::<String>::new(), "no such verbs");
}

#[test]
fn every_verb_says_what_it_prints_as_json_and_has_a_file_that_describes_it() {
    let mut missing = Vec::new();
    for row in table() {
        let verb = verb_of(row.words);
        match row.prints {
            Prints::Document(name) => {
                let file = format!("{}.v1.json", name.map_or_else(|| verb.join("-"), str::to_owned));
                missing.extend((!schemas::files().contains_key(&file)).then_some(file));
            }
            Prints::Lines => {
                let file = LINES.iter().find(|(of, _)| **of == verb[..]).map(|(_, file)| *file);
                let file = file.unwrap_or("a file that schemas::LINES names");
                missing.extend((!schemas::files().contains_key(file)).then(|| file.to_owned()));
            }
            Prints::Text(why) => assert!(!why.is_empty()),
        }
    }
    assert!(missing.is_empty(), "add these to docs/schemas: {missing:?}");
}

#[test]
fn every_cell_has_a_status_that_there_is_or_says_why_not() {
    for row in table() {
        assert!(matches!(row.cells[0], Cell::Exit(_)), "{}: it works somehow", row.words);
        for cell in row.cells {
            match cell {
                Cell::Exit(codes) => {
                    assert!(codes.iter().all(|code| [0, 1, 2, 3, 4, 5, 6, 125].contains(code)), "{}", row.words);
                }
                Cell::Never(why) => assert!(!why.is_empty(), "{}", row.words),
            }
        }
    }
}
