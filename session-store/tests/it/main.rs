//! The store, from outside.

mod support;

mod history_append;
mod history_cut;
