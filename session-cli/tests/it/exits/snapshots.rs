//! The table, as people read it: `docs/cli/exit-status.md`.

use super::table::{Cell, Row, everywhere};
use snapbox::{Data, assert_data_eq};
use std::fmt::Write as _;
use std::path::PathBuf;

/// What stands before the rows, and is written by hand.
const HEAD_END: &str = "| --- | --- | --- | --- | --- | --- | --- |\n";

fn shown(cell: Cell) -> String {
    match cell {
        Cell::Exit([terminal, pipe, json]) if terminal == pipe && pipe == json => terminal.to_string(),
        Cell::Exit(codes) => codes.map(|code| code.to_string()).join("/"),
        Cell::Never(why) => format!("— ({why})"),
    }
}

/// The call, with names for its marks.
fn call(row: &Row) -> String {
    let words =
        row.words.replace("{work}/oaks.md", "FILE").replace("{work}/oaks.tar.zst", "FILE").replace("{garden}", "OLD");
    let words = words.replace("{work}", "NEW").replace("{claim}", "ID").replace('%', "SESSION");
    let input = if row.input.is_empty() { "" } else { " < INPUT" };
    let when = if row.when.is_empty() { String::new() } else { format!(", {}", row.when) };
    format!("`{words}{input}`{when}")
}

#[test]
fn the_page_of_exit_statuses_has_every_row() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/cli/exit-status.md");
    let page = std::fs::read_to_string(&path).expect("the page is in the repository");
    let (head, _) = page.split_once(HEAD_END).expect("the page has a table");
    let mut wanted = format!("{head}{HEAD_END}");
    for row in everywhere() {
        let cells = row.cells.map(shown).join(" | ");
        writeln!(wanted, "| {} | {cells} |", call(&row)).expect("writing to a string cannot fail");
    }
    if std::env::var_os("SNAPSHOTS").is_some_and(|mode| mode == "overwrite") {
        std::fs::write(&path, &wanted).expect("the page is writable where snapshots are recorded");
    }
    assert_data_eq!(std::fs::read_to_string(&path).expect("it was just read"), Data::text(wanted).raw());
}
