//! The command line, as people and scripts use it: the program itself, started for each test.

mod checkpoint;
mod follow;
mod pages;
mod steer;
mod support;
mod verbs;
