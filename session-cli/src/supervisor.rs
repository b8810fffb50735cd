//! This program as the supervisor of a background process: a verb that no help shows and nobody types.

use crate::exit::Exit;
use crate::failure::Failure;
use session_proc::{Registry, Supervisor};
use std::env;

/// The verb.
const VERB: &str = "__supervise";

/// Serves as a supervisor if this process was started as one. It needs none of the other flags, and must have one
/// thread only, so it is asked first.
pub(crate) fn serve() -> Option<Exit> {
    let mut args = env::args_os().skip(1);
    (args.next()? == VERB).then(|| match session_proc::supervise(args) {
        Ok(()) => Exit::Done,
        // Whoever started it reads the answer on standard output; a person who typed the verb reads this.
        Err(error) => crate::tell(&error.into()),
    })
}

/// A registry whose processes are supervised by this program.
pub(crate) fn supervised(registry: Registry) -> Result<Registry, Failure> {
    let program = env::current_exe().map_err(|error| Failure::input("where this program is", &error))?;
    Ok(registry.with_supervisor(Supervisor::new(program, [VERB])))
}
