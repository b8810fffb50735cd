//! Messages, and what happened between them.

use super::ansi::Styled;
use super::words::{clock, counted};
use super::{call, folded, media, prose};
use crate::output::escape::{Layout, escaped};
use maud::{Markup, html};
use session_core::interop::export::{Aside, Entry, Piece};
use session_core::{Message, Role, format_time, prompt_of};

/// Something of a conversation. `follows` says that the piece before it is a message of the assistant.
pub(super) fn piece(piece: &Piece, follows: bool) -> Markup {
    match piece {
        Piece::Message(entry, results) => message(entry, results, follows),
        Piece::Result(entry) => html! {
            article class="message tool" id={ "e" (entry.number) } tabindex="-1" { (head(entry, "Tool", false)) (call::stray(entry)) }
        },
        Piece::Aside(number, aside) => html! {
            p class="aside" id={ "e" (number) } data-kind="note" { (told(aside)) }
        },
    }
}

fn message(entry: &Entry, results: &[Option<Entry>], follows: bool) -> Markup {
    let Some(message) = entry.event.message.as_deref() else { return html! {} };
    let (class, who) = match &message.role {
        Role::System => ("system", "System".into()),
        Role::User => ("user", "User".into()),
        Role::Assistant => ("assistant", "Assistant".into()),
        Role::Tool => ("tool", "Tool".into()),
        other => ("other", escaped(other.as_str(), Layout::OneLine)),
    };
    let gone = entry.live == Some(false);
    // In a row of calls, who makes them need not be read each time; it is there to be heard.
    let is_quiet = follows && !gone && message.role == Role::Assistant && message.content.is_empty();
    html! {
        article class={ "message " (class) @if gone { " gone" } } id={ "e" (entry.number) } tabindex="-1" {
            (head(entry, &who, is_quiet))
            @if !message.reasoning_content.is_empty() {
                details class="reasoning" data-kind="reasoning" {
                    summary { "Reasoning, " (lines(&message.reasoning_content)) }
                    div class="prose" dir="auto" { (prose::rendered(&message.reasoning_content)) }
                }
            }
            (said(message))
            (media::pictures(message))
            @for (index, asked) in message.tool_calls.iter().enumerate() {
                (call::call(asked, results.get(index).and_then(Option::as_ref)))
            }
        }
    }
}

fn head(entry: &Entry, who: &str, is_quiet: bool) -> Markup {
    html! {
        h3 class=[is_quiet.then_some("unseen")] {
            span class="who" { (who) }
            @if entry.live == Some(false) { " " span class="remark" { "taken back" } }
            @if let Some(ts) = &entry.event.ts {
                " " time datetime=(format_time(&ts.to_utc().fixed_offset())) { (clock(ts)) }
            }
            " " a class="place" href={ "#e" (entry.number) } aria-label={ "Event " (entry.number) } { "#" (entry.number) }
        }
    }
}

fn said(message: &Message) -> Markup {
    let text = message.content.text();
    if text.is_empty() {
        return html! {};
    }
    match &message.role {
        Role::Assistant => html! { div class="prose" data-kind="assistant" dir="auto" { (prose::rendered(&text)) } },
        Role::User => match prompt_of(message) {
            // All of it was put there by the agent.
            None => aside_text("Put in by the agent", &text, "user"),
            Some(written) if written.len() < text.trim().len() => html! {
                div data-kind="user" { (folded::text(&Styled::plain(&written), "said")) }
                (aside_text("With what the agent put around it", &text, "user"))
            },
            Some(_) => html! { div data-kind="user" { (folded::text(&Styled::plain(&text), "said")) } },
        },
        Role::System | Role::Tool | Role::Missing | Role::Other(_) => aside_text("Instructions", &text, "note"),
    }
}

/// A text that few want to read.
fn aside_text(what: &str, text: &str, kind: &str) -> Markup {
    html! {
        details class="injected" data-kind=(kind) {
            summary { (what) ", " (lines(text)) }
            (folded::text(&Styled::plain(text), "said"))
        }
    }
}

fn lines(text: &str) -> String {
    counted(text.lines().count() as u64, "line", "lines")
}

fn told(aside: &Aside) -> Markup {
    let line = |text: &str| escaped(text, Layout::Lines).into_owned();
    match aside {
        Aside::Notice(text) => html! { (line(text)) },
        Aside::Model(model) => html! { "Model: " strong { (line(model)) } },
        Aside::TakenBack(dropped) => html! { (counted(*dropped, "message was", "messages were")) " taken back" },
        Aside::Ended(outcome) => html! { "The turn ended: " strong { (line(outcome)) } },
        Aside::Checkpoint { action, turn, note } => html! {
            "Checkpoint" @if let Some(turn) = turn { " " (turn) } " " (line(action)) @if !note.is_empty() { ": " (line(note)) }
        },
        Aside::GoesOn(name) => html! { "Goes on in " strong { (line(name)) } },
        _ => html! {},
    }
}
