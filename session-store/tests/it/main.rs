//! The store, from outside.
//!
//! Some claims need another process: one that is killed, that races, or that has a limit of its own. Such a test starts
//! this very executable again, with `--exact NAME` so that it runs only the test of that name, and with a task in its
//! environment. Such a test, a child's part, does its task, and without one nothing. See [`child`].

mod child;
mod support;

mod history_append;
mod history_cut;
mod history_faults;
mod history_full;
mod history_race;
mod inbox_claim;
mod inbox_deliver;
mod inbox_faults;
mod spill;
