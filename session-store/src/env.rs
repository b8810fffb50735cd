//! What the library takes from its surroundings, when asked to. Beside it, the holder of a lock says its own command line
//! (`lock::holder`), and a place of copies may name the variables that hold its keys (`remote::place`).

use crate::{Result, StoreError};
use std::path::PathBuf;

/// The variable by which the reference's user interface marks what it spawned.
#[doc(alias = "FromUIVar")]
pub const FROM_UI_VAR: &str = "KVIT_CODER_FROM_UI";

/// The directory that sessions live in unless a caller says otherwise: `~/.kvit-coder/sessions`. Reads the environment
/// (`HOME`) and the user database; touches no disk.
///
/// # Errors
/// [`StoreError::NoHome`] where no home directory is known.
pub fn default_dir() -> Result<PathBuf> {
    dirs::home_dir().map(|home| home.join(".kvit-coder").join("sessions")).ok_or(StoreError::NoHome)
}

/// Whether this process was spawned by the reference's user interface. Reads the environment ([`FROM_UI_VAR`]).
#[doc(alias = "FromUI")]
pub fn from_ui() -> bool {
    std::env::var_os(FROM_UI_VAR).is_some_and(|value| !value.is_empty())
}
