//! A conversation as a page: one file that asks nobody for anything, is whole without a script, and cannot be made to run
//! one by what was said in it.
//!
//! Every text of a session goes through the escaping of `maud`, or through [`prose`], where Markdown is rendered without
//! its tags. The policy in the head of the page allows one style sheet and one script, both by their digests, and
//! pictures that are part of the page.

mod ansi;
mod call;
mod days;
mod facts;
mod folded;
mod index;
mod media;
mod members;
mod message;
mod prose;
mod sums;
mod table;
mod timeline;
mod words;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use session_core::interop::export::{Chapter, End, Entry, Export, Figures, Head, Piece, Story};
use sha2::{Digest as _, Sha256};
pub(crate) use sums::Sums;
use words::{counted, span};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The exporter of a page. It holds what is shown until the end: the head says what all of it comes to.
#[derive(Debug)]
pub(crate) struct Page {
    head: Option<Head>,
    entries: Vec<Entry>,
    summary: Option<Summary>,
}

/// What an index says about a page.
#[derive(Debug)]
pub(crate) struct Summary {
    session: String,
    title: String,
    turns: u64,
    figures: Figures,
}

impl Page {
    pub(crate) fn new() -> Self {
        Page { head: None, entries: Vec::new(), summary: None }
    }

    /// What an index says about the page, once it is written.
    pub(crate) fn into_summary(self) -> Option<Summary> {
        self.summary
    }
}

/// The page that lists pages: the name of each one's file beside it, and what is in it.
pub(crate) fn index(pages: Vec<(String, Summary)>, sums: &Sums) -> String {
    index::page(pages, sums).into_string()
}

impl Export for Page {
    fn begin(&mut self, head: &Head, _: &mut Vec<u8>) {
        self.head = Some(head.clone());
    }

    fn entry(&mut self, entry: &Entry, _: &mut Vec<u8>) {
        self.entries.push(entry.clone());
    }

    fn end(&mut self, end: &End, out: &mut Vec<u8>) {
        let Some(head) = self.head.take() else { return };
        let story = Story::new(std::mem::take(&mut self.entries), &head.turns, end);
        let title = facts::title(&head, &story);
        out.extend_from_slice(page(&head, &story, end, &title).into_string().as_bytes());
        let turns = story.chapters.iter().filter(|chapter| chapter.number.is_some()).count() as u64;
        self.summary = Some(Summary { session: head.meta.name, title, turns, figures: story.figures });
    }
}

fn page(head: &Head, story: &Story, end: &End, title: &str) -> Markup {
    let body = html! {
        a class="skip" href="#conversation" { "Skip to the conversation" }
        (facts::head(head, story, end, title))
        div class="columns" {
            (outline(story))
            main id="conversation" tabindex="-1" {
                (timeline::timeline(story))
                (bar())
                @for chapter in &story.chapters { (section(chapter)) }
                @if story.chapters.is_empty() { p class="nothing" { "Nothing was said." } }
            }
        }
        footer { p { "Times are UTC. This page is one file; it loads nothing and sends nothing." } }
        (help())
    };
    document(title, &body, SCRIPT)
}

/// A whole page around a body.
fn document(title: &str, body: &Markup, script: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(script)
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                @if !script.is_empty() { script { (PreEscaped(script)) } }
            }
        }
    }
}

/// How the policy names a style sheet or a script.
fn digest(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn outline(story: &Story) -> Markup {
    html! {
        nav class="outline" aria-label="Turns" {
            ol {
                @for chapter in &story.chapters {
                    @if let Some(number) = chapter.number {
                        li {
                            a href={ "#turn-" (number) } {
                                span class="number" { (number) }
                                span class="prompt" { (beginning(chapter)) }
                                @if chapter.figures.failures > 0 {
                                    span class="failures" { (counted(chapter.figures.failures, "failed", "failed")) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The first words of what was asked for in a turn.
fn beginning(chapter: &Chapter) -> String {
    const CHARS: usize = 80;
    let line = chapter.prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = crate::output::escape::escaped(&line, crate::output::escape::Layout::OneLine);
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.is_empty() => "(no words)".to_owned(),
        None => line.into_owned(),
    }
}

fn section(chapter: &Chapter) -> Markup {
    let is_assistant = |piece: &Piece| match piece {
        Piece::Message(entry, _) => {
            entry.event.message.as_deref().is_some_and(|message| message.role == session_core::Role::Assistant)
        }
        Piece::Result(_) | Piece::Aside(..) => false,
    };
    let pieces = html! {
        @for (index, piece) in chapter.pieces.iter().enumerate() {
            (message::piece(piece, index > 0 && is_assistant(&chapter.pieces[index - 1])))
        }
    };
    let Some(number) = chapter.number else {
        return html! { section class="turn before" aria-label="Before the first turn" { (pieces) } };
    };
    html! {
        section class="turn" id={ "turn-" (number) } aria-labelledby={ "turn-" (number) "-head" } {
            h2 id={ "turn-" (number) "-head" } {
                "Turn " (number)
                @if let Some(ms) = chapter.figures.worked_ms() { " " span class="remark" { (span(ms)) } }
                @if let Some(outcome) = chapter.outcome.as_deref().filter(|outcome| !matches!(*outcome, "" | "done")) {
                    " " span class="remark bad" { (crate::output::escape::escaped(outcome, crate::output::escape::Layout::OneLine)) }
                }
            }
            (pieces)
        }
    }
}

/// Searching and filtering; the script shows it, since nothing works without.
fn bar() -> Markup {
    html! {
        div class="bar" role="search" aria-label="Search and filter" hidden {
            div class="find" {
                input type="search" id="find" aria-label="Search the conversation" placeholder="Search" autocomplete="off" spellcheck="false";
                output id="found" for="find" {}
                button type="button" id="previous" aria-label="Previous hit" { "↑" }
                button type="button" id="next" aria-label="Next hit" { "↓" }
            }
            div class="filters" role="group" aria-label="What is shown" {
                @for (kind, name) in [("user", "Prompts"), ("assistant", "Replies"), ("reasoning", "Reasoning"), ("tool", "Tools"), ("note", "Notes")] {
                    button type="button" data-filter=(kind) aria-pressed="true" { (name) " " span class="count" {} }
                }
                button type="button" id="unfold" { "Open all" }
                button type="button" id="keys" aria-label="Keys" { "?" }
            }
        }
    }
}

fn help() -> Markup {
    const KEYS: [(&str, &str); 9] = [
        ("/", "search"),
        ("j", "next message"),
        ("k", "previous message"),
        ("n", "next hit, or next turn"),
        ("p", "previous hit, or previous turn"),
        ("e", "next call that failed"),
        ("o", "open or close what is folded here"),
        ("t", "timeline"),
        ("?", "this list"),
    ];
    html! {
        dialog id="help" aria-labelledby="help-head" {
            h2 id="help-head" { "Keys" }
            dl { @for (key, what) in KEYS { div { dt { kbd { (key) } } dd { (what) } } } }
            button type="button" id="close" { "Close" }
        }
    }
}
