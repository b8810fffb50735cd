//! A stable id for the requests of one session.

use sha2::{Digest as _, Sha256};

/// The environment variable that carries a run id.
#[doc(alias = "RunIDVar")]
pub const RUN_ID_VAR: &str = "KVIT_RUN_ID";

/// The run id of a session: 12 hex digits that depend on its name alone, so that every turn of the session reaches the
/// endpoint's backend that holds its prompt cache.
///
/// It is the start of the SHA-256 of `kvit-coder-session:` and the name.
///
/// ```
/// assert_eq!(session_core::run_id("demo"), "dc3dce63286d");
/// ```
#[doc(alias = "RunIDFor")]
pub fn run_id(name: &str) -> String {
    let digest = Sha256::new().chain_update("kvit-coder-session:").chain_update(name).finalize();
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
