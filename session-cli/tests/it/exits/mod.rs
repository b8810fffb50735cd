//! Exit statuses: every verb, on a terminal, in a pipe and with `--json`, in every state that a store can be in.

mod heavy;
mod scene;
mod snapshots;
mod table;
mod verbs;
