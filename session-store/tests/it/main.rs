//! What the store promises, on real files and between real processes.

mod lock_exclusion;
mod lock_lost;
mod names;
mod parts;
mod process;
