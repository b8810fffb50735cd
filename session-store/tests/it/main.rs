//! The store, from outside.
//!
//! Some claims need another process: one that is killed, that races, or that has a limit of its own. Such a test starts
//! this very executable again, with `--exact NAME` so that it runs only the test of that name, and with a task in its
//! environment. Such a test, a child's part, does its task, and without one nothing. See [`child`] and [`process`].

mod cache_file;
mod child;
mod garden;
mod parts;
mod price;
mod process;
mod redaction;
mod reference;
mod scratch;
mod sick;
mod support;

mod bundle;
mod compaction;
mod disk_usage;
mod doctor;
mod doctor_checkpoints;
mod doctor_crash;
mod doctor_fix;
mod examples;
mod flat_golden;
mod flat_migration;
mod flat_race;
mod forks;
mod history_append;
mod history_cut;
mod history_faults;
mod history_full;
mod history_race;
mod import;
mod inbox_claim;
mod inbox_deliver;
mod inbox_faults;
mod inbox_left_behind;
mod inbox_race;
mod inbox_steer;
mod inbox_storm;
mod inbox_turn;
mod large;
mod lineage;
mod linked_dirs;
mod list_cache;
mod list_golden;
mod list_hostile;
mod list_order;
mod list_readonly;
mod lock_exclusion;
mod lock_lost;
mod meanwhile;
mod meta_damage;
mod meta_faults;
mod meta_golden;
mod meta_merge;
mod meta_race;
mod names;
mod open_modes;
mod open_session;
mod pin;
mod prune;
mod prune_parts;
mod refused;
mod relocate;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
mod remote_refusals;
mod rename;
mod rewind;
mod rewind_crash;
mod search;
mod secrets;
mod secrets_unexamined;
mod session_turn;
mod session_turn_crash;
mod spill;
mod titles;
mod told;
mod trash;
mod trash_processes;
mod whole_life;
