//! The command line, as people and scripts use it: the program itself, started for each test.

mod checkpoint;
mod pages;
mod support;
mod verbs;
