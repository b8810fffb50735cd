//! Rows: aligned for a person at a terminal, tab-separated for everybody else.

use super::escape::{self, escaped};
use anstyle::Style;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr as _;

/// The cells between two columns.
const GAP: u16 = 2;
/// The same, where there is no room.
const NARROW_GAP: u16 = 1;
/// The cells that the first column, which says what a row is about, is not cut below where there is room for them.
const WIDEST_NAME: usize = 24;
/// The cells that a column of text must have to tell anything.
const NARROWEST_TEXT: usize = 8;

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

/// How a table fits a terminal.
#[derive(Debug)]
struct Layout {
    /// The columns that are not shown.
    left_out: Vec<usize>,
    gap: u16,
    /// The cells that the first column has at least.
    name: usize,
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

    /// A table without borders, cut to the width of the terminal in display cells. Numbers are not cut: where there is no
    /// room for all of them, the columns that have none but zeros are left out, and the others stand closer together.
    pub(crate) fn aligned(&self, width: Option<u16>, coloured: bool) -> String {
        let layout = self.layout(width.map_or(usize::MAX, usize::from));
        let mut table = Table::new();
        table.set_truncation_indicator("…");
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        if let Some(width) = width {
            table.set_width(width);
        }
        let mut header = comfy_table::Row::from(self.header.clone());
        header.max_height(1);
        table.set_header(header);
        for row in &self.rows {
            let mut cells = comfy_table::Row::from(row.fields.iter().map(|text| one_line(text)));
            cells.max_height(1);
            table.add_row(cells);
        }
        let last = self.header.len().saturating_sub(1);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if at == last { 0 } else { layout.gap }));
            if self.numeric.contains(&at) {
                column.set_cell_alignment(comfy_table::CellAlignment::Right);
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
            if at == 0 && !self.numeric.contains(&at) {
                let name = u16::try_from(layout.name).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(name)));
            }
            if layout.left_out.contains(&at) {
                column.set_constraint(ColumnConstraint::Hidden);
            }
        }
        let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
        if coloured { self.paint(lines, &layout) } else { lines.collect() }
    }

    /// What of the columns a width has room for.
    fn layout(&self, width: usize) -> Layout {
        let is_zero = |at: &usize| {
            let mut fields = self.rows.iter().filter_map(|row| row.fields.get(*at));
            // What is not known is no zero.
            fields.all(|text| !text.contains(|c| matches!(c, '1'..='9' | '?')))
        };
        let zeros: Vec<usize> = self.numeric.iter().copied().filter(is_zero).collect();
        let name = self.widest(0).min(WIDEST_NAME);
        let roomy = Layout { left_out: Vec::new(), gap: GAP, name };
        let without_zeros = Layout { left_out: zeros.clone(), gap: GAP, name };
        let close = Layout { left_out: zeros.clone(), gap: NARROW_GAP, name };
        let cut = Layout { left_out: zeros, gap: NARROW_GAP, name: name.min(NARROWEST_TEXT) };
        [roomy, without_zeros, close].into_iter().find(|layout| self.needs(layout) <= width).unwrap_or(cut)
    }

    /// How many cells the narrowest rows take.
    fn needs(&self, layout: &Layout) -> usize {
        let shown = (0..self.header.len()).filter(|at| !layout.left_out.contains(at));
        let cells = |at: usize| match at {
            at if self.numeric.contains(&at) => self.widest(at),
            0 => layout.name,
            at => self.widest(at).min(NARROWEST_TEXT),
        };
        shown.map(|at| cells(at) + usize::from(layout.gap)).sum::<usize>().saturating_sub(usize::from(layout.gap))
    }

    /// The cells of the widest field of a column, or of its header.
    fn widest(&self, at: usize) -> usize {
        let fields = self.rows.iter().filter_map(|row| row.fields.get(at));
        let header = self.header.get(at).map_or(0, |header| header.width());
        fields.map(|text| one_line(text).width()).fold(header, usize::max)
    }

    /// Colours fields in lines that are laid out already, so that no escape sequence takes part in the widths.
    fn paint(&self, lines: impl Iterator<Item = String>, layout: &Layout) -> String {
        let mut out = String::new();
        for (number, mut line) in lines.enumerate() {
            let Some(row) = number.checked_sub(1).and_then(|row| self.rows.get(row)) else {
                let style = Style::new().dimmed();
                out += &format!("{style}{}{style:#}\n", line.trim_end());
                continue;
            };
            for (column, style) in row.styles.iter().rev().filter(|(column, _)| !layout.left_out.contains(column)) {
                let text = one_line(&row.fields[*column]);
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

fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, escape::Layout::OneLine)
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

    #[test]
    fn numbers_and_their_headers_are_never_cut_and_no_header_wraps() {
        let mut rows = Rows::new(&["NAME", "CHECKPOINTS", "SESSIONS", "TITLE"]).numeric(1).numeric(2);
        let row = ["2026-01-02-abc123", "1234567", "80 KiB", "Plant three oaks by the water"];
        rows.push(row.map(str::to_owned).to_vec());
        for width in [20, 41, 60] {
            let shown = rows.aligned(Some(width), false);
            let lines: Vec<&str> = shown.lines().collect();
            assert_eq!(lines.len(), 2, "{width}: {shown}");
            let gap = if width < 60 { " " } else { "  " };
            assert!(lines[0].contains(&format!(" CHECKPOINTS{gap}SESSIONS")), "{width}: {shown}");
            assert!(lines[1].contains(&format!(" 1234567{gap}  80 KiB")), "{width}: {shown}");
            assert!(width < 41 || lines.iter().all(|line| line.width() <= usize::from(width)), "{width}: {shown}");
        }
    }

    #[test]
    fn a_narrow_terminal_leaves_zeros_out_before_numbers_stand_closer() {
        let mut rows = Rows::new(&["NAME", "ALLOCATED", "QUARANTINE", "COST"]).numeric(1).numeric(2).numeric(3);
        rows.push(["oaks", "4.0K", "0", "$0.00+?"].map(str::to_owned).to_vec());
        rows.push(["total", "8.0K", "", ""].map(str::to_owned).to_vec());
        let header = |width: u16| rows.aligned(Some(width), false).lines().next().unwrap_or_default().to_owned();
        assert_eq!(header(40), "NAME   ALLOCATED  QUARANTINE     COST");
        assert_eq!(header(30), "NAME   ALLOCATED     COST");
        assert_eq!(header(24), "NAME  ALLOCATED    COST");
        assert_eq!(rows.separated().lines().next(), Some("oaks\t4.0K\t0\t$0.00+?"));
    }
}
