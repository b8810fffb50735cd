//! What the store promises, on real files and between real processes.

mod doctor;
mod flat_golden;
mod flat_migration;
mod flat_race;
mod list_golden;
mod list_hostile;
mod list_order;
mod list_readonly;
mod names;
mod scratch;
mod trash;
