//! The head of a page: what the session is, and what it comes to.

use super::words::{counted, dollars, number, or_unknown, period, span};
use crate::output::escape::{Layout, escaped};
use maud::{Markup, html};
use session_core::interop::export::{End, Head, Story};

/// The title of a page.
pub(super) fn title(head: &Head, story: &Story) -> String {
    let first = story.chapters.iter().map(|chapter| &chapter.prompt).find(|prompt| !prompt.is_empty());
    let first = first.map(|prompt| session_core::first_words_title(prompt, None)).unwrap_or_default();
    let name = &head.meta.name;
    let title = [&head.meta.title, &first, name].into_iter().find(|text| !text.trim().is_empty());
    title.map_or_else(|| "A conversation".to_owned(), |title| escaped(title, Layout::OneLine).into_owned())
}

/// Everything above the conversation.
pub(super) fn head(head: &Head, story: &Story, end: &End, title: &str) -> Markup {
    let meta = &head.meta;
    let figures = &story.figures;
    html! {
        header class="top" {
            p class="eyebrow" { "Session " span class="name" { (escaped(&meta.name, Layout::OneLine)) } }
            h1 dir="auto" { (title) }
            p class="when" {
                @match (&figures.first, &figures.last) {
                    (Some(first), Some(last)) => { (period(first, last)) }
                    _ => { "When it was is unknown" }
                }
                @if !meta.workspace.is_empty() { " · " span class="name" { (escaped(&meta.workspace, Layout::OneLine)) } }
            }
            dl class="facts" {
                (fact("Turns", &number(story.chapters.iter().filter(|chapter| chapter.number.is_some()).count() as u64), None))
                (fact("Messages", &number(figures.messages), None))
                (fact("Tool calls", &number(figures.calls), Some(counted(figures.failures, "failed", "failed")).filter(|_| figures.failures > 0)))
                (fact("Worked", &or_unknown(figures.worked_ms().map(span)), None))
                (fact("Tokens in", &or_unknown(figures.input.map(number)), figures.cached.filter(|cached| *cached > 0).map(|cached| format!("{} cached", number(cached)))))
                (fact("Tokens out", &or_unknown(figures.output.map(number)), None))
                (fact("Cost", &or_unknown(figures.cost.or(Some(meta.cost).filter(|cost| *cost > 0.0)).map(dollars)), None))
                (fact("Model", &models(head, story), None))
            }
            (missing(head, end))
        }
    }
}

fn fact(name: &str, value: &str, more: Option<String>) -> Markup {
    html! { div { dt { (name) } dd { (value) @if let Some(more) = more { " " small { (more) } } } } }
}

fn models(head: &Head, story: &Story) -> String {
    let known = if story.models.is_empty() { vec![head.meta.model.clone()] } else { story.models.clone() };
    let known: Vec<_> =
        known.iter().filter(|model| !model.is_empty()).map(|model| escaped(model, Layout::OneLine)).collect();
    if known.is_empty() { "unknown".to_owned() } else { known.join(", ") }
}

/// Which events are on the page.
fn shown(head: &Head) -> String {
    let (first, last) = (*head.range.start(), (*head.range.end()).min(head.events));
    match first <= last {
        true => format!("Events {first} to {last} of {}.", head.events),
        false => format!("None of {}.", counted(head.events, "event", "events")),
    }
}

/// What is not on the page, and why.
fn missing(head: &Head, end: &End) -> Markup {
    let left_out = head.rolled_back;
    let skipped = end.skipped() as u64;
    html! {
        @if left_out > 0 && !head.is_raw {
            p class="missing" { (counted(left_out, "message that was taken back is", "messages that were taken back are")) " left out." }
        }
        @if !head.is_whole() {
            p class="missing" { (shown(head)) }
        }
        @if skipped > 0 { p class="missing" { (counted(skipped, "line", "lines")) " of the history could not be read." } }
        @if end.uncertain { p class="missing" { "Something was taken back across a line that could not be read: what is left out is a guess." } }
    }
}
