//! Tables of numbers.

use maud::{Markup, html};

/// A table of which the first column names the rows. Where there is no room for a head, each field says what it is.
pub(super) fn table<const N: usize>(columns: [&str; N], rows: impl Iterator<Item = (Markup, Vec<String>)>) -> Markup {
    html! {
        div class="table" {
            table {
                thead { tr { @for name in columns { th scope="col" { (name) } } } }
                tbody {
                    @for (head, fields) in rows {
                        tr {
                            th scope="row" data-label=(columns[0]) { (head) }
                            @for (name, field) in columns[1..].iter().zip(fields) { td data-label=(name) { (field) } }
                        }
                    }
                }
            }
        }
    }
}
