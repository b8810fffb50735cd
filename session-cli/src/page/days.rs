//! What was spent when, drawn: a bar a day, or a bar a month where the days are many.

use super::timeline::breadth;
use super::words::{dollars, number};
use crate::tally::{Group, Groups, Measure};
use chrono::{Datelike as _, Days, Months, NaiveDate};
use maud::{Markup, html};
use session_core::Cell;
use std::collections::BTreeMap;

/// How wide a bar with its gap is drawn, and of that the bar; how high the highest is.
const PITCH: usize = 10;
const BAR: usize = 8;
const HEIGHT: f64 = 100.0;
/// How many bars of days there are at most.
const DAYS: i64 = 366;

/// The drawing; nothing where fewer than two days are known.
pub(super) fn plot(days: &Groups) -> Markup {
    let known: Vec<(NaiveDate, &Group)> =
        days.rows.iter().filter_map(|group| Some((group.key.parse().ok()?, group))).collect();
    let (Some((first, _)), Some((last, _))) = (known.first(), known.last()) else { return html! {} };
    if first == last {
        return html! {};
    }
    let step = if (*last - *first).num_days() < DAYS { Step::Day } else { Step::Month };
    let bars = step.bars(*first, *last, &known);
    let measure = days.measure;
    let most = bars.values().map(|cell| measure.of(cell)).fold(0.0, f64::max);
    if most <= 0.0 {
        return html! {};
    }
    let label = format!("{} a {}, up to {}", measure.name(), step.name(), told(measure, most));
    let size = breadth(bars.len());
    html! {
        p class="label" { (label) }
        svg class={ "bars " (size) } viewBox={ "0 0 " (bars.len() * PITCH) " 100" } preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (index, (day, cell)) in bars.iter().enumerate() {
                @let value = measure.of(cell);
                @let height = value / most * HEIGHT;
                g {
                    title { (step.label(*day)) ": " (told(measure, value)) }
                    rect class="back" x=(index * PITCH) y="0" width=(PITCH) height="100" {}
                    rect class="spent" x=(index * PITCH + 1) y=(format!("{:.2}", HEIGHT - height)) width=(BAR) height=(format!("{height:.2}")) {}
                }
            }
        }
        p class={ "ends " (size) } { span { (step.label(*first)) } " " span { (step.label(*last)) } }
    }
}

/// What a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Day,
    Month,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Step::Day => "day",
            Step::Month => "month",
        }
    }

    fn label(self, day: NaiveDate) -> String {
        let format = match self {
            Step::Day => "%-d %B %Y",
            Step::Month => "%B %Y",
        };
        day.format(format).to_string()
    }

    fn begin(self, day: NaiveDate) -> NaiveDate {
        match self {
            Step::Day => day,
            Step::Month => day.with_day(1).unwrap_or(day),
        }
    }

    fn next(self, day: NaiveDate) -> Option<NaiveDate> {
        match self {
            Step::Day => day.checked_add_days(Days::new(1)),
            Step::Month => day.checked_add_months(Months::new(1)),
        }
    }

    /// A bar for each step from the first to the last, also where nothing happened.
    fn bars(self, first: NaiveDate, last: NaiveDate, known: &[(NaiveDate, &Group)]) -> BTreeMap<NaiveDate, Cell> {
        let mut bars = BTreeMap::new();
        let mut day = Some(self.begin(first));
        while let Some(begin) = day.filter(|day| *day <= last) {
            bars.insert(begin, Cell::default());
            day = self.next(begin);
        }
        for (day, group) in known {
            *bars.entry(self.begin(*day)).or_default() += &group.cell;
        }
        bars
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of whole numbers, made a fraction to be drawn"
)]
fn told(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Cost => dollars(value),
        Measure::Tokens | Measure::Calls | Measure::Messages => number(value as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(keys: &[&str]) -> Groups {
        let group = |key: &&str| {
            let cell = Cell { messages: 3, ..Cell::default() };
            Group { key: (*key).to_owned(), cell, ..Group::default() }
        };
        let rows: Vec<Group> = keys.iter().map(group).collect();
        let mut groups = Groups { rows, ..Groups::default() };
        for row in &groups.rows {
            groups.total.cell += &row.cell;
        }
        groups
    }

    #[test]
    fn a_day_on_which_nothing_happened_has_its_place() {
        let plot = plot(&days(&["", "2026-02-27", "2026-03-01"])).into_string();
        assert!(plot.contains("viewBox=\"0 0 30 100\"") && plot.contains("Messages a day, up to 3"), "{plot}");
        assert!(plot.contains("28 February 2026: 0"), "{plot}");
    }

    #[test]
    fn years_are_drawn_in_months() {
        let plot = plot(&days(&["2024-11-30", "2026-01-02", "2026-01-03"])).into_string();
        assert!(plot.contains("viewBox=\"0 0 150 100\"") && plot.contains("Messages a month, up to 6"), "{plot}");
    }

    #[test]
    fn one_day_is_no_drawing() {
        assert_eq!(plot(&days(&["", "2026-03-01"])).into_string(), "");
    }
}
