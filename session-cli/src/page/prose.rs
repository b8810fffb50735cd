//! What a model wrote, its Markdown rendered.

use crate::output::escape::{Layout, escaped};
use maud::{Markup, PreEscaped};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// The schemes that a link may have.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// Renders Markdown. Tags in it are shown as text; a picture is named and not loaded; a link leads to a page or to a
/// mail, anything else that looks like one is shown with where it would have led.
pub(super) fn rendered(text: &str) -> Markup {
    let text = escaped(text, Layout::Lines);
    let mut links = Vec::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(&text, options).map(|event| tamed(event, &mut links));
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    html::push_html(&mut out, events);
    PreEscaped(out)
}

/// An event as it is shown. `links` are the targets of the links around it that lead nowhere.
fn tamed<'a>(event: Event<'a>, links: &mut Vec<Option<CowStr<'a>>>) -> Event<'a> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => ours("<p>"),
        Event::End(TagEnd::HtmlBlock) => ours("</p>"),
        // The headings of the page are ours.
        Event::Start(Tag::Heading { level, .. }) => Event::Html(format!("<p class=\"head {level}\">").into()),
        Event::End(TagEnd::Heading(_)) => ours("</p>"),
        Event::Start(Tag::Image { .. }) => ours("<span class=\"image\">[image: "),
        Event::End(TagEnd::Image) => ours("]</span>"),
        // Alignment would be a style of its own, which the page forbids; so would a scroll bar without a name.
        Event::Start(Tag::Table(columns)) => {
            Event::Start(Tag::Table(columns.iter().map(|_| pulldown_cmark::Alignment::None).collect()))
        }
        Event::Start(Tag::Link { dest_url, link_type, .. }) => {
            let is_mail = link_type == pulldown_cmark::LinkType::Email;
            let is_safe = is_mail || SCHEMES.iter().any(|scheme| starts_with(&dest_url, scheme));
            links.push((!is_safe).then(|| dest_url.clone()));
            if is_safe {
                Event::Start(Tag::Link { dest_url, link_type, title: "".into(), id: "".into() })
            } else {
                ours("<span class=\"link\">")
            }
        }
        Event::End(TagEnd::Link) => match links.pop().flatten() {
            None => Event::End(TagEnd::Link),
            Some(target) => {
                let target = maud::html! { " (" (target) ")" }.into_string();
                Event::InlineHtml(format!("{target}</span>").into())
            }
        },
        other => other,
    }
}

fn ours(tag: &'static str) -> Event<'static> {
    Event::InlineHtml(tag.into())
}

fn starts_with(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_rendered() {
        assert_eq!(
            rendered("# Oaks\n*a* [b](https://example.org)").into_string(),
            "<p class=\"head h1\">Oaks</p>\n<p><em>a</em> <a href=\"https://example.org\">b</a></p>\n"
        );
        assert_eq!(
            rendered("|a|\n|:-:|\n|1|").into_string(),
            "<table><thead><tr><th>a</th></tr></thead><tbody>\n<tr><td>1</td></tr>\n</tbody></table>\n"
        );
    }

    #[test]
    fn e02_tags_are_text_and_links_lead_to_pages() {
        let shown = |text: &str| rendered(text).into_string();
        assert_eq!(shown("a <b onclick=x>"), "<p>a &lt;b onclick=x&gt;</p>\n");
        assert_eq!(shown("<script>alert(1)</script>"), "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>");
        assert_eq!(
            shown("[x](javascript:alert\"1\")"),
            "<p><span class=\"link\">x (javascript:alert&quot;1&quot;)</span></p>\n"
        );
        assert_eq!(
            shown("<data:text/html,x>"),
            "<p><span class=\"link\">data:text/html,x (data:text/html,x)</span></p>\n"
        );
        assert_eq!(
            shown("![pixel](https://example.org/p.gif)"),
            "<p><span class=\"image\">[image: pixel]</span></p>\n"
        );
        assert_eq!(shown("a\u{202e}b\u{1b}"), "<p>a\\u{202e}b\\x1b</p>\n");
    }
}
