//! The turns drawn beside each other: how long the model, the tools and waiting took, what it cost, and what happened; and
//! the same numbers as a table.

use super::table::table;
use super::words::{clock, dollars, number, or_unknown, span};
use maud::{Markup, html};
use session_core::interop::export::{Chapter, Figures, Story};

/// How wide a turn is drawn, and of that, how wide its bar is.
const PITCH: usize = 10;
const BAR: usize = 8;
/// How high the bars may be.
const HEIGHT: f64 = 100.0;

/// The drawing and the table; nothing where there is no turn.
pub(super) fn timeline(story: &Story) -> Markup {
    let turns: Vec<(u64, &Chapter)> =
        story.chapters.iter().filter_map(|chapter| Some((chapter.number?, chapter))).collect();
    if turns.is_empty() {
        return html! {};
    }
    html! {
        section class="timeline" id="timeline" aria-labelledby="timeline-head" tabindex="-1" {
            h2 id="timeline-head" { "Timeline" }
            div class="strips" { (bars(&turns)) (spent(&turns)) (ticks(&turns)) }
            details { summary { "The same in numbers" } (numbers(&turns)) }
        }
    }
}

fn width(turns: &[(u64, &Chapter)]) -> usize {
    turns.len() * PITCH
}

/// How broad a drawing of so many bars is: few are not drawn as walls.
pub(super) fn breadth(bars: usize) -> &'static str {
    match bars {
        ..4 => "few",
        4..12 => "some",
        _ => "many",
    }
}

fn drawing(turns: &[(u64, &Chapter)], class: &str, label: &str, height: usize, content: &Markup) -> Markup {
    html! {
        svg class={ (class) " " (breadth(turns.len())) } viewBox={ "0 0 " (width(turns)) " " (height) } preserveAspectRatio="none" role="img" aria-label=(label) {
            (content)
        }
    }
}

fn bars(turns: &[(u64, &Chapter)]) -> Markup {
    let longest = turns.iter().filter_map(|(_, chapter)| chapter.figures.worked_ms()).max().unwrap_or(0);
    if longest == 0 {
        return html! {};
    }
    let parts =
        |figures: &Figures| [("model", figures.model_ms), ("tools", figures.tools_ms), ("wait", figures.waiting_ms)];
    let content = html! {
        @for (index, (turn, chapter)) in turns.iter().enumerate() {
            g data-turn=(turn) {
                title { "Turn " (turn) ": " (told(&chapter.figures)) }
                rect class="back" x=(index * PITCH) y="0" width=(PITCH) height="100" {}
                @for (class, y, height) in stacked(parts(&chapter.figures), longest) {
                    rect class=(class) x=(index * PITCH + 1) y=(format!("{y:.2}")) width=(BAR) height=(format!("{height:.2}")) {}
                }
            }
        }
    };
    html! {
        p class="label" {
            "Time a turn, up to " (span(longest)) ": "
            span class="key model" { "model" } " " span class="key tools" { "tools" } " " span class="key wait" { "waiting" }
        }
        (drawing(turns, "bars", "How long each turn took; the table below has the numbers", 100, &content))
    }
}

/// The parts of a bar from the bottom up: class, upper edge, height.
fn stacked(parts: [(&'static str, Option<u64>); 3], longest: u64) -> Vec<(&'static str, f64, f64)> {
    let mut top = HEIGHT;
    let known = parts.into_iter().filter_map(|(class, ms)| Some((class, ms.filter(|ms| *ms > 0)?)));
    known
        .map(|(class, ms)| {
            let height = share(ms, longest) * HEIGHT;
            top -= height;
            (class, top.max(0.0), height)
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "a drawing needs no more than the digits of a double")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Cost where it is known, else tokens.
fn spent(turns: &[(u64, &Chapter)]) -> Markup {
    let costs: Vec<f64> = turns.iter().map(|(_, chapter)| chapter.figures.cost.unwrap_or(0.0)).collect();
    let tokens: Vec<u64> = turns.iter().map(|(_, chapter)| chapter.figures.tokens().unwrap_or(0)).collect();
    let dearest = costs.iter().copied().fold(0.0, f64::max);
    let most = tokens.iter().copied().max().unwrap_or(0);
    let (label, shares): (String, Vec<f64>) = if dearest > 0.0 {
        (format!("Cost a turn, up to {}", dollars(dearest)), costs.iter().map(|cost| cost / dearest).collect())
    } else if most > 0 {
        (format!("Tokens a turn, up to {}", number(most)), tokens.iter().map(|tokens| share(*tokens, most)).collect())
    } else {
        return html! {};
    };
    let content = html! {
        @for ((index, (turn, chapter)), share) in turns.iter().enumerate().zip(shares) {
            g data-turn=(turn) {
                title { "Turn " (turn) ": " (told(&chapter.figures)) }
                rect class="spent" x=(index * PITCH + 1) y=(format!("{:.2}", 30.0 * (1.0 - share))) width=(BAR) height=(format!("{:.2}", 30.0 * share)) {}
            }
        }
    };
    html! { p class="label" { (label) } (drawing(turns, "spend", &label, 30, &content)) }
}

/// What a row of marks is called, its class, and what it counts.
type Tick = (&'static str, &'static str, fn(&Figures) -> u64);

/// A row of marks for each thing that happened at all.
fn ticks(turns: &[(u64, &Chapter)]) -> Markup {
    let rows: [Tick; 4] = [
        ("Failed calls", "failure", |figures| figures.failures),
        ("Taken back", "rollback", |figures| figures.rollbacks),
        ("Steered", "steered", |figures| figures.steered),
        ("Checkpoints", "checkpoint", |figures| figures.checkpoints),
    ];
    html! {
        @for (label, class, count) in rows {
            @let total: u64 = turns.iter().map(|(_, chapter)| count(&chapter.figures)).sum();
            @if total > 0 {
                @let content = html! {
                    rect class="back" x="0" y="0" width=(width(turns)) height="10" {}
                    @for (index, (turn, chapter)) in turns.iter().enumerate().filter(|(_, (_, chapter))| count(&chapter.figures) > 0) {
                        g data-turn=(turn) {
                            title { "Turn " (turn) ": " (label) " " (count(&chapter.figures)) }
                            rect class=(class) x=(index * PITCH + 1) y="1" width=(BAR) height="8" {}
                        }
                    }
                };
                p class="label" { (label) ": " (number(total)) }
                (drawing(turns, "ticks", label, 10, &content))
            }
        }
    }
}

fn told(figures: &Figures) -> String {
    let mut parts = Vec::new();
    let mut time =
        |name: &str, ms: Option<u64>| parts.extend(ms.filter(|ms| *ms > 0).map(|ms| format!("{name} {}", span(ms))));
    time("model", figures.model_ms);
    time("tools", figures.tools_ms);
    time("waiting", figures.waiting_ms);
    parts.extend(figures.tokens().map(|tokens| format!("{} tokens", number(tokens))));
    parts.extend(figures.cost.map(dollars));
    if parts.is_empty() { "nothing is known".to_owned() } else { parts.join(", ") }
}

/// The columns of the table.
const COLUMNS: [&str; 12] = [
    "Turn",
    "Start",
    "Model",
    "Tools",
    "Waiting",
    "Tokens",
    "Cost",
    "Calls",
    "Failed",
    "Taken back",
    "Steered",
    "Checkpoints",
];

fn numbers(turns: &[(u64, &Chapter)]) -> Markup {
    let rows = turns
        .iter()
        .map(|(turn, chapter)| (html! { a href={ "#turn-" (turn) } { (turn) } }, fields(&chapter.figures).to_vec()));
    table(COLUMNS, rows)
}

/// What stands in the columns behind the first.
fn fields(figures: &Figures) -> [String; 11] {
    let time = |ms: Option<u64>| or_unknown(ms.map(span));
    [
        or_unknown(figures.first.as_ref().map(clock)),
        time(figures.model_ms),
        time(figures.tools_ms),
        time(figures.waiting_ms),
        or_unknown(figures.tokens().map(number)),
        or_unknown(figures.cost.map(dollars)),
        number(figures.calls),
        number(figures.failures),
        number(figures.rollbacks),
        number(figures.steered),
        number(figures.checkpoints),
    ]
}
