//! Flags that every verb takes.

use crate::output::Colour;
use clap::Args;
use std::path::PathBuf;

/// Flags that every verb takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The directory that holds the sessions [default: ~/.kvit-coder/sessions]
    #[arg(long, global = true, value_name = "DIR", env = "KVIT_CODER_SESSIONS_DIR", hide_env_values = true)]
    #[arg(value_hint = clap::ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
    /// Print one JSON document, times in UTC
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    pub(crate) color: Colour,
    /// Print long texts directly, not through $PAGER
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more on stderr
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}
