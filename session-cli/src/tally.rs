//! Cells of statistics, added up by what a person asks for.

use session_core::{Cell, CellKey, Defect, Limits, Period, Responses, SessionName, Statistics};
use session_store::{Store, StoreError};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;

/// Counts the history of a session, which is told by its number, and gives what is wrong with its lines.
pub(crate) fn read(
    store: &Store,
    name: &SessionName,
    number: usize,
    statistics: &mut Statistics,
    period: &Period<'_>,
) -> Result<Vec<Defect>, StoreError> {
    let view = store.history(name)?;
    let reader = BufReader::with_capacity(1 << 18, view.reader());
    let read = statistics.read(number, reader, Limits::default(), period);
    read.map_err(|source| StoreError::Read { path: view.path().to_owned(), source })
}

/// What there is a row for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    Session,
    Day,
    Model,
    Tool,
    Workspace,
}

impl By {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            By::Session => "session",
            By::Day => "day",
            By::Model => "model",
            By::Tool => "tool",
            By::Workspace => "workspace",
        }
    }
}

/// What is known of a session beside its history.
#[derive(Debug, Default)]
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) workspace: String,
    pub(crate) bytes: Option<u64>,
}

/// A row.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) key: String,
    pub(crate) sessions: BTreeSet<usize>,
    pub(crate) cell: Cell,
    /// The room that its sessions take, where each is in one row alone.
    pub(crate) bytes: Option<u64>,
}

impl Group {
    fn add(&mut self, session: usize, cell: &Cell) {
        self.sessions.insert(session);
        self.cell += cell;
    }
}

/// The rows, in order, and the sum of everything.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) rows: Vec<Group>,
    pub(crate) total: Group,
    /// What rows are compared by.
    pub(crate) measure: Measure,
}

/// What rows are compared by, and bars are drawn of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Measure {
    Cost,
    Tokens,
    Calls,
    #[default]
    Messages,
}

impl Measure {
    /// Calls of tools; else the cost, where all of it is known; else tokens, where any are.
    fn choose(by: By, total: &Cell) -> Self {
        let is_known = |measure: &Measure| measure.of(total) > 0.0;
        let cost = Some(Measure::Cost).filter(|_| total.responses.cost.is_whole());
        match by {
            By::Tool => Measure::Calls,
            By::Session | By::Day | By::Model | By::Workspace => {
                cost.into_iter().chain([Measure::Tokens, Measure::Calls]).find(is_known).unwrap_or_default()
            }
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Measure::Cost => "Cost",
            Measure::Tokens => "Tokens",
            Measure::Calls => "Calls",
            Measure::Messages => "Messages",
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a drawing needs no more than the digits of a double")]
    pub(crate) fn of(self, cell: &Cell) -> f64 {
        match self {
            Measure::Cost => cell.responses.cost.known,
            Measure::Tokens => (cell.responses.input.known + cell.responses.output.known) as f64,
            Measure::Calls => cell.calls as f64,
            Measure::Messages => cell.messages as f64,
        }
    }
}

impl Groups {
    /// Days in their order, sessions in that of the store, everything else the largest first.
    pub(crate) fn of(by: By, statistics: &Statistics, sessions: &[About]) -> Self {
        let mut rows: BTreeMap<(usize, String), Group> = BTreeMap::new();
        let mut total = Group::default();
        for (key, cell) in statistics.cells() {
            total.add(key.session, cell);
            // What is no call is no tool's.
            if by != By::Tool || key.tool.is_some() {
                let place = place(by, key, &sessions[key.session]);
                rows.entry(place).or_default().add(key.session, cell);
            }
        }
        for ((_, key), group) in &mut rows {
            group.key.clone_from(key);
            if matches!(by, By::Session | By::Workspace) {
                group.bytes = bytes(group, sessions);
            }
        }
        total.bytes = bytes(&total, sessions);
        let mut rows: Vec<Group> = rows.into_values().collect();
        if matches!(by, By::Model | By::Tool | By::Workspace) {
            // Equal ones stay in the order of their names.
            rows.sort_by(|a, b| weight(b).partial_cmp(&weight(a)).unwrap_or(Ordering::Equal));
        }
        let measure = Measure::choose(by, &total.cell);
        Groups { rows, total, measure }
    }
}

fn place(by: By, key: &CellKey, about: &About) -> (usize, String) {
    match by {
        By::Session => (key.session, about.name.clone()),
        By::Day => (0, key.day.map(|day| day.to_string()).unwrap_or_default()),
        By::Model => (0, key.model.clone()),
        By::Tool => (0, key.tool.clone().unwrap_or_default()),
        By::Workspace => (0, about.workspace.clone()),
    }
}

/// What rows are sorted by.
fn weight(group: &Group) -> (f64, u64, u64, u64) {
    let cell = &group.cell;
    let Responses { cost, input, output, .. } = &cell.responses;
    (cost.known, input.known + output.known, cell.calls, cell.messages)
}

fn bytes(group: &Group, sessions: &[About]) -> Option<u64> {
    group.sessions.iter().map(|session| sessions[*session].bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_of_the_cost_only_where_all_of_it_is_known() {
        let mut total = Cell { calls: 2, messages: 7, ..Cell::default() };
        assert_eq!(Measure::choose(By::Day, &total), Measure::Calls);
        total.responses.input.add(Some(12));
        total.responses.cost.add(Some(0.5));
        assert_eq!(Measure::choose(By::Day, &total), Measure::Cost);
        total.responses.cost.add(None);
        assert_eq!(Measure::choose(By::Day, &total), Measure::Tokens);
        assert_eq!(Measure::choose(By::Tool, &total), Measure::Calls);
    }
}
