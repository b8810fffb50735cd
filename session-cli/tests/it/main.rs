//! The command line, as people and scripts use it: the program itself, started for each test.

mod pages;
mod processes;
mod support;
mod turns;
mod verbs;
