//! The core against what the reference recorded, and against itself.

mod defects;
mod golden;
mod golden_values;
