//! The command line, as people and scripts use it: the program itself, started for each test.

mod answers;
mod browser;
mod bundle;
mod checkpoint;
mod doctor;
mod elsewhere;
mod events;
mod examples;
mod exits;
mod export;
mod follow;
mod gates;
mod here;
mod import;
mod interrupts;
mod life;
mod nested;
mod pages;
mod processes;
#[cfg(feature = "remote")]
mod remote;
mod safety;
mod schemas;
mod search;
mod secrets;
mod show;
mod shown;
mod stats;
mod steer;
mod support;
mod terminal;
mod trash;
mod turns;
mod upkeep;
mod verbs;
