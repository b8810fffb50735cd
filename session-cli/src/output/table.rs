//! Rows: aligned for a person at a terminal, tab-separated for everybody else.

use super::escape::{Layout, escaped};
use anstyle::Style;
use comfy_table::{ContentArrangement, Table, presets};
use std::borrow::Cow;

/// Rows under a header. The first column is what a script cuts out.
#[derive(Debug)]
pub(crate) struct Rows {
    header: Vec<&'static str>,
    rows: Vec<Row>,
    /// The columns that are shown to people at the right edge of their cell.
    numeric: Vec<usize>,
}

#[derive(Debug)]
struct Row {
    fields: Vec<String>,
    /// Columns with a style of their own, where styles are used.
    styles: Vec<(usize, Style)>,
}

impl Rows {
    pub(crate) fn new(header: &[&'static str]) -> Self {
        Rows { header: header.to_vec(), rows: Vec::new(), numeric: Vec::new() }
    }

    /// Names a column of numbers.
    pub(crate) fn numeric(mut self, column: usize) -> Self {
        self.numeric.push(column);
        self
    }

    pub(crate) fn push(&mut self, fields: Vec<String>) {
        self.push_styled(fields, &[]);
    }

    pub(crate) fn push_styled(&mut self, fields: Vec<String>, styles: &[(usize, Style)]) {
        self.rows.push(Row { fields, styles: styles.to_vec() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// One line a row, fields separated by tabs, nothing cut; a tab or newline inside a field is shown as an escape.
    pub(crate) fn separated(&self) -> String {
        let field = |text: &String| one_field(text).into_owned();
        let line = |row: &Row| row.fields.iter().map(field).collect::<Vec<_>>().join("\t") + "\n";
        self.rows.iter().map(line).collect()
    }

    /// A table without borders, cut to the width of the terminal in display cells.
    pub(crate) fn aligned(&self, width: Option<u16>, coloured: bool) -> String {
        let mut table = Table::new();
        table.set_truncation_indicator("…");
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        if let Some(width) = width {
            table.set_width(width);
        }
        table.set_header(self.header.iter().copied());
        for row in &self.rows {
            let mut cells = comfy_table::Row::from(row.fields.iter().map(|text| escaped(text, Layout::OneLine)));
            cells.max_height(1);
            table.add_row(cells);
        }
        let last = self.header.len().saturating_sub(1);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if at == last { 0 } else { 2 }));
            if self.numeric.contains(&at) {
                column.set_cell_alignment(comfy_table::CellAlignment::Right);
            }
        }
        let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
        if coloured { self.paint(lines) } else { lines.collect() }
    }

    /// Colours fields in lines that are laid out already, so that no escape sequence takes part in the widths.
    fn paint(&self, lines: impl Iterator<Item = String>) -> String {
        let mut out = String::new();
        for (number, mut line) in lines.enumerate() {
            let Some(row) = number.checked_sub(1).and_then(|row| self.rows.get(row)) else {
                let style = Style::new().dimmed();
                out += &format!("{style}{}{style:#}\n", line.trim_end());
                continue;
            };
            for (column, style) in row.styles.iter().rev() {
                let text = escaped(&row.fields[*column], Layout::OneLine);
                let found = if *column == 0 {
                    line.starts_with(&*text).then_some(0)
                } else {
                    line.find(&format!(" {text}")).map(|at| at + 1)
                };
                if let Some(at) = found.filter(|_| !text.is_empty()) {
                    line.replace_range(at..at + text.len(), &format!("{style}{text}{style:#}"));
                }
            }
            out += &line;
        }
        out
    }
}

/// A field that cannot be taken for two: only what separates is escaped, the rest stays byte for byte.
fn one_field(text: &str) -> Cow<'_, str> {
    if text.contains(['\t', '\n', '\r']) {
        Cow::Owned(text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Rows {
        let mut rows = Rows::new(&["NAME", "MSGS", "TITLE"]).numeric(1);
        rows.push(vec!["日本語".into(), "7".into(), "two\nlines".into()]);
        rows.push(vec!["a".into(), "1234".into(), "👩\u{200d}👧 ok".into()]);
        rows
    }

    #[test]
    fn columns_align_in_display_cells() {
        let shown = rows().aligned(Some(60), false);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "NAME    MSGS  TITLE");
        assert_eq!(lines[1], "日本語     7  two\\nlines");
        assert_eq!(lines[2], "a       1234  👩\u{200d}👧 ok");
    }

    #[test]
    fn a_row_is_one_line_with_all_its_fields() {
        assert_eq!(rows().separated(), "日本語\t7\ttwo\\nlines\na\t1234\t👩\u{200d}👧 ok\n");
    }

    #[test]
    fn a_narrow_terminal_cuts_and_never_wraps() {
        let shown = rows().aligned(Some(20), false);
        assert_eq!(shown.lines().count(), 3, "{shown}");
        assert!(shown.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 20), "{shown}");
    }
}
