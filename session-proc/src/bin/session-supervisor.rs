//! A supervisor for programs that use the library and have no executable of their own to name.

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    match session_proc::supervise(env::args_os().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
