//! What several conversations come to: by day, model, tool and directory.

use super::days;
use super::table::table;
use super::words::{dollars, number, span};
use crate::output::escape::{Layout, escaped};
use crate::tally::{About, By, Group, Groups};
use maud::{Markup, html};
use session_core::{Amount, Statistics};

/// The sums that an index shows.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    days: Groups,
    models: Groups,
    tools: Groups,
    workspaces: Groups,
}

impl Sums {
    /// Adds up what was counted in some sessions.
    pub(crate) fn of(statistics: &Statistics, sessions: &[About]) -> Self {
        let by = |by| Groups::of(by, statistics, sessions);
        Sums { days: by(By::Day), models: by(By::Model), tools: by(By::Tool), workspaces: by(By::Workspace) }
    }

    /// Every name that is shown, for whoever masks them.
    pub(crate) fn names(&mut self) -> impl Iterator<Item = &mut String> {
        let groups = [&mut self.models, &mut self.tools, &mut self.workspaces];
        groups.into_iter().flat_map(|groups| &mut groups.rows).map(|group| &mut group.key)
    }
}

/// The drawing and the tables; nothing of what is empty.
pub(super) fn sums(sums: &Sums) -> Markup {
    html! {
        section class="timeline" aria-labelledby="days-head" {
            h2 id="days-head" { "By day" }
            div class="strips" { (days::plot(&sums.days)) }
            @if sums.days.rows.len() > 14 {
                details { summary { "The same in numbers" } (by_day(&sums.days)) }
            } @else { (by_day(&sums.days)) }
        }
        (part("models", "By model", &sums.models, by_model))
        (part("tools", "By tool", &sums.tools, by_tool))
        (part("workspaces", "By directory", &sums.workspaces, by_workspace))
    }
}

fn part(id: &str, title: &str, groups: &Groups, table: fn(&Groups) -> Markup) -> Markup {
    html! {
        @if !groups.rows.is_empty() {
            section class="timeline" aria-labelledby={ (id) "-head" } { h2 id={ (id) "-head" } { (title) } (table(groups)) }
        }
    }
}

fn by_day(days: &Groups) -> Markup {
    let columns = ["Day", "Sessions", "Turns", "Messages", "Calls", "Failed", "Tokens in", "Tokens out", "Cost"];
    table(columns, named(days, "unknown", |group| vec![number(group.cell.calls), number(group.cell.failures)]))
}

fn by_workspace(workspaces: &Groups) -> Markup {
    let columns = ["Directory", "Sessions", "Turns", "Messages", "Calls", "Failed", "Tokens in", "Tokens out", "Cost"];
    table(columns, named(workspaces, "none", |group| vec![number(group.cell.calls), number(group.cell.failures)]))
}

fn by_model(models: &Groups) -> Markup {
    let columns = ["Model", "Sessions", "Turns", "Messages", "Responses", "Tokens in", "Tokens out", "Cost"];
    table(columns, named(models, "unknown", |group| vec![number(group.cell.responses.count)]))
}

fn by_tool(tools: &Groups) -> Markup {
    let time = |ms: Option<u64>| ms.map(span).unwrap_or_default();
    let rows = barred(tools, "unknown").map(|(head, group)| {
        let cell = &group.cell;
        let counts = [group.sessions.len() as u64, cell.calls, cell.failures, cell.unanswered].map(number);
        let times = [50, 95].map(|percent| time(cell.percentile_ms(percent)));
        (head, counts.into_iter().chain(times).collect())
    });
    table(["Tool", "Sessions", "Calls", "Failed", "No result", "Half within", "95 of 100 within"], rows)
}

/// Rows of sessions, turns and messages, something between, and what it cost.
fn named<'a>(
    groups: &'a Groups,
    nothing: &'static str,
    between: impl Fn(&Group) -> Vec<String> + 'a,
) -> impl Iterator<Item = (Markup, Vec<String>)> + 'a {
    barred(groups, nothing).map(move |(head, group)| {
        let cell = &group.cell;
        let mut fields = vec![number(group.sessions.len() as u64), number(cell.turns), number(cell.messages)];
        fields.extend(between(group));
        let responses = &cell.responses;
        fields.push(amount(responses.input, number));
        fields.push(amount(responses.output, number));
        fields.push(amount(responses.cost, dollars));
        (head, fields)
    })
}

/// The name of each row, above a bar as long as its share of the largest.
fn barred<'a>(groups: &'a Groups, nothing: &'static str) -> impl Iterator<Item = (Markup, &'a Group)> {
    let measure = groups.measure;
    let most = groups.rows.iter().map(|group| measure.of(&group.cell)).fold(0.0, f64::max);
    groups.rows.iter().map(move |group| {
        let name = if group.key.is_empty() { nothing.into() } else { escaped(&group.key, Layout::OneLine) };
        let share = if most > 0.0 { measure.of(&group.cell) / most * 100.0 } else { 0.0 };
        let head = html! {
            span class="what" dir="auto" { (name) }
            svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" { rect class="spent" width=(format!("{share:.1}")) height="4" {} }
        };
        (head, group)
    })
}

/// A sum; of a part of which nothing is known it is the least.
fn amount<T: std::ops::AddAssign + Copy>(amount: Amount<T>, words: fn(T) -> String) -> String {
    match amount.sum() {
        None => "unknown".to_owned(),
        Some(known) if amount.unknown > 0 => format!("≥ {}", words(known)),
        Some(known) => words(known),
    }
}
