//! What the store promises, on real files and between real processes.

mod support;

mod history_append;
mod history_cut;
mod names;
