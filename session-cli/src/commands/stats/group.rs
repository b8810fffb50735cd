//! Cells of statistics, added up.

use super::By;
use session_core::{Cell, CellKey, Responses, Statistics};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a session beside its history.
#[derive(Debug, Default)]
pub(super) struct About {
    pub(super) name: String,
    pub(super) workspace: String,
    pub(super) bytes: Option<u64>,
}

/// A row.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) key: String,
    pub(super) sessions: BTreeSet<usize>,
    pub(super) cell: Cell,
    /// The room that its sessions take, where each is in one row alone.
    pub(super) bytes: Option<u64>,
}

impl Group {
    fn add(&mut self, session: usize, cell: &Cell) {
        self.sessions.insert(session);
        self.cell += cell;
    }
}

/// The rows, in order, and the sum of everything.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) rows: Vec<Group>,
    pub(super) total: Group,
}

impl Groups {
    /// Days in their order, sessions in that of the store, everything else the largest first.
    pub(super) fn of(by: By, statistics: &Statistics, sessions: &[About]) -> Self {
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
        Groups { rows, total }
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
