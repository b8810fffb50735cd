//! The page that lists the pages of a directory, the newest conversation first.

use super::words::{counted, date, dollars, number, or_unknown, span};
use super::{Summary, Sums, sums};
use crate::output::escape::{Layout, escaped};
use maud::{Markup, html};
use session_core::interop::export::Figures;

/// The index of some pages, each with the name of its file.
pub(super) fn page(mut pages: Vec<(String, Summary)>, sums: &Sums) -> Markup {
    pages.sort_by(|(_, a), (_, b)| b.figures.last.cmp(&a.figures.last).then_with(|| a.session.cmp(&b.session)));
    let mut all = Figures::default();
    pages.iter().for_each(|(_, page)| all += &page.figures);
    let title = counted(pages.len() as u64, "conversation", "conversations");
    let body = html! {
        header class="top" {
            h1 { (title) }
            p class="when" {
                (counted(all.messages, "message", "messages")) " · " (counted(all.calls, "tool call", "tool calls"))
                @if let Some(ms) = all.worked_ms() { " · " (span(ms)) " worked" }
                @if let Some(tokens) = all.tokens() { " · " (number(tokens)) " tokens" }
                @if let Some(cost) = all.cost { " · " (dollars(cost)) }
            }
        }
        main class="index" {
            ul { @for (file, page) in &pages { (row(file, page)) } }
            (sums::sums(sums))
        }
        footer { p { "Times are UTC." } }
    };
    super::document(&title, &body, "")
}

fn row(file: &str, page: &Summary) -> Markup {
    let figures = &page.figures;
    html! {
        li {
            a href=(address(file)) dir="auto" { (page.title) }
            p class="when" { span class="name" { (escaped(&page.session, Layout::OneLine)) } " · " (or_unknown(figures.last.as_ref().map(date))) }
            p class="when" {
                (counted(page.turns, "turn", "turns")) " · " (counted(figures.messages, "message", "messages"))
                " · " (counted(figures.calls, "tool call", "tool calls"))
                @if figures.failures > 0 { ", " (number(figures.failures)) " failed" }
                @if let Some(ms) = figures.worked_ms() { " · " (span(ms)) }
                " · cost " (or_unknown(figures.cost.map(dollars)))
            }
        }
    }
}

/// The address of a file beside the page: nothing in its name means anything in an address.
fn address(file: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let bytes =
        file.bytes().map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    format!("./{}", bytes.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(session: &str, title: &str) -> Summary {
        Summary { session: session.into(), title: title.into(), turns: 1, figures: Figures::default() }
    }

    #[test]
    fn e02_an_index_escapes_what_it_lists() {
        let page = page(vec![("a\"#<b>.html".into(), summary("<i>", "<script>"))], &Sums::default()).into_string();
        assert!(page.contains("href=\"./a%22%23%3Cb%3E.html\""), "{page}");
        assert!(!page.contains("<script") && !page.contains("<i>"), "{page}");
        assert!(page.contains("script-src 'none'") || page.contains("default-src 'none'"), "{page}");
    }
}
